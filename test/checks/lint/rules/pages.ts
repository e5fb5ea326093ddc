import type {
  FolderFound,
  FolderRule,
  LintPage,
  PageFact,
  PageRule,
} from "../../../../src/checks/lint/rule.ts";
import type { SourceFile } from "../../../../src/documents/files/source-file.ts";
import { mapDocument } from "../../../../src/documents/map/map-document.ts";
import { compileSettings, type DocumentSettings } from "../../../../src/documents/map/settings.ts";
import { createParts } from "../../../../src/documents/parts/parts.ts";
import { readDocument } from "../../../../src/documents/inspect/read.ts";
import { toPage } from "./page.ts";
import { createFolder, find, type Options } from "../../../documents/folder.ts";

/** A page of a text format, as the engine makes it. */
async function openPage(file: SourceFile, settings: DocumentSettings): Promise<LintPage> {
  const { path, mtimeMs, absolutePath } = file;
  const { source, parsed } = await readDocument(file, settings);
  if (!parsed || source === undefined) throw new Error(`${path} is no text`);
  const parts = createParts(settings.root);
  const mapped = mapDocument({ path, mtimeMs, absolutePath }, parsed, settings, undefined, parts);
  return toPage({ path, source, parsed, settings }, mapped);
}

/** The pages of a fresh folder of text files, ordered by path. */
export async function openPages(
  files: Record<string, string>,
  options: Options = {},
): Promise<LintPage[]> {
  const root = createFolder(files);
  const settings = compileSettings({ root, ...options });
  const pages: LintPage[] = [];
  for (const found of find(root, ["."], options)) {
    if (found.kind !== "file") continue;
    // oxlint-disable-next-line no-await-in-loop
    pages.push(await openPage(found.file, settings));
  }
  return pages.toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

/** What a rule finds in some pages; facts travel as JSON, as they do between threads. */
export function check<Fact>(
  rule: PageRule | FolderRule<Fact>,
  pages: readonly LintPage[],
  isWhole = true,
): FolderFound[] {
  if (rule.kind === "page") {
    return pages.flatMap((page) =>
      [...rule.check(page)].map((found) => ({ ...found, path: page.path, part: page.part })),
    );
  }
  const facts: PageFact<Fact>[] = [];
  for (const page of pages) {
    const fact = rule.collect(page);
    if (fact === undefined) continue;
    facts.push({
      path: page.path,
      part: page.part,
      fact: JSON.parse(JSON.stringify(fact)) as Fact,
    });
  }
  return [...rule.compare(facts, isWhole)];
}

/** One line for each finding: `path:line:column: message`, without a place `path: message`. */
export function lines(found: readonly FolderFound[], pages: readonly LintPage[]): string[] {
  return found.map(({ path, part, span, message }) => {
    const source = pages.find((page) => page.path === path && page.part === part)?.source;
    if (!span || source === undefined) return `${path}: ${message}`;
    const before = source.slice(0, span.start).split("\n");
    return `${path}:${before.length}:${(before.at(-1)?.length ?? 0) + 1}: ${message}`;
  });
}

/** The files of an example: `<!-- file: a.md -->` begins one; without such a line, it is page.md. */
export function filesOf(example: string): Record<string, string> {
  const [alone = "", ...named] = example.split(/^<!-- file: (.+) -->\n/m);
  if (named.length === 0) return { "page.md": alone };
  const files: Record<string, string> = {};
  for (let at = 0; at < named.length; at += 2) files[named[at] ?? ""] = named[at + 1] ?? "";
  return files;
}

/** What a rule finds in the files of a fresh folder, one line each. */
export async function lint<Fact>(
  rule: PageRule | FolderRule<Fact>,
  files: Record<string, string>,
  options: Options = {},
): Promise<string[]> {
  const pages = await openPages(files, options);
  return lines(check(rule, pages), pages);
}
