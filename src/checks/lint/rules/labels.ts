import { shownAddress } from "../../../documents/map/links/rewrite-links.ts";
import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";
import { bytesAt } from "../../../documents/site/sites.ts";
import { nearest } from "../../../nearest.ts";
import type { FolderFound, LintPage, PageFact, Span } from "../rule.ts";
import { keyOf, labelsIn, rolesOf, sphinxOf, type NamesOfSite } from "../page/roles.ts";

/** The labels of a page of Sphinx, and those that it names. */
export interface LabelFact {
  site: NamesOfSite;
  /** One a line. */
  labels: string;
  wanted: { name: string; span: Span }[];
}

const mostWanted = 1000;

export function collectLabels(page: LintPage): LabelFact | undefined {
  const site = sphinxOf(page);
  if (!site || page.part !== 0) return undefined;
  const labels = new Set(labelsIn(page.source ?? ""));
  if (site.hasSections) {
    for (const { text } of page.parsed.headings ?? []) labels.add(keyOf(text));
  }
  const roles = page.skipped === undefined ? rolesOf(page) : [];
  const wanted = roles.filter(({ isPage }) => !isPage).slice(0, mostWanted);
  return {
    site,
    labels: [...labels].join("\n"),
    wanted: wanted.map(({ name, span }) => ({ name, span })),
  };
}

const [mostFiles, mostFolders, mostBytes] = [5000, 2000, 300_000];
const foreign = /^(?:\..*|node_modules|_?build|dist)$/;
// Documents are read already; others have labels in the comments of programs, and in parts of pages.
const text = /\.(?:py|pyx|inc|txt|[ch](?:pp)?|rst_?\w*|ipynb|ya?ml|in|jinja2?|tmpl)$/;

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // What nobody may read has no labels.
    return [];
  }
}

/** The labels that files of the project have which are no pages. */
function labelsOfFiles(root: string): Set<string> {
  const found = new Set<string>();
  const folders = [root];
  let count = 0;
  for (const folder of folders) {
    for (const entry of entriesOf(folder)) {
      if (foreign.test(entry.name)) continue;
      const path = join(folder, entry.name);
      if (entry.isDirectory() && folders.length < mostFolders) folders.push(path);
      else if (entry.isFile() && text.test(entry.name) && count++ < mostFiles) {
        // A program may have them in a text with `\n`.
        const source = Buffer.from(bytesAt(path, mostBytes))
          .toString()
          .replaceAll(String.raw`\n`, "\n");
        if (source.includes(".. _") || source.includes(")=")) {
          for (const each of labelsIn(source)) found.add(each);
        }
      }
    }
  }
  return found;
}

// sphinx-doc.org, "Cross-referencing anything"; sphinx-gallery, and nbsphinx, whose labels are paths.
const made = /^(?:genindex|modindex|py-modindex|search|sphx_glr_.*|.*\/.*|.*[{}|$].*)$/;

// Each of them is compared with all labels.
const mostSuggestions = 300;

const similarTo = (name: string, all: ReadonlySet<string>): string | undefined =>
  nearest(
    name,
    [...all].filter((each) => Math.abs(each.length - name.length) < 3),
  );

const longEnough = 8;
/** Whether a name is another one with a slip: the first letters of both, or the last ones, are the same. */
function isSlipOf(name: string, other: string | undefined): boolean {
  if (other === undefined || name.length < longEnough || name.includes(":")) return false;
  let [start, end] = [0, 0];
  while (name[start] !== undefined && name[start] === other[start]) start++;
  while (name.at(-1 - end) !== undefined && name.at(-1 - end) === other.at(-1 - end)) end++;
  return Math.max(name.length, other.length) - start - end < 3;
}

/** References of Sphinx to labels that nothing in the project has. */
export function* missingLabels(
  facts: readonly PageFact<{ labels?: LabelFact | undefined }>[],
): Generator<FolderFound> {
  const known = new Set<string>();
  for (const { fact } of facts)
    for (const each of fact.labels?.labels.split("\n") ?? []) known.add(each);
  let ofFiles: Set<string> | undefined;
  let suggestions = 0;
  for (const { path, part, row, fact } of facts) {
    const { site, wanted = [] } = fact.labels ?? {};
    for (const { name, span } of site ? wanted : []) {
      const key = keyOf(name);
      // sphinx-doc.org, "sphinx.ext.autosectionlabel": the page may stand before the title.
      const title = site?.hasSections === true ? key.replace(/^[^:]*:/, "") : key;
      if (made.test(key) || known.has(key) || known.has(title)) continue;
      ofFiles ??= labelsOfFiles(site?.root ?? "");
      if (ofFiles.has(key)) continue;
      const mayResemble = key.length >= 5 && suggestions++ < mostSuggestions;
      const similar = mayResemble ? similarTo(key, known) : undefined;
      if (site?.hasOthers === true && !isSlipOf(key, similar)) continue;
      const hint = similar === undefined ? "" : `; similar: ${similar}`;
      const message = `no page has the label ${shownAddress(name)}${hint}`;
      yield {
        path,
        part,
        row,
        span,
        message,
        cause: { key: message, least: 0, what: "places name it" },
      };
    }
  }
}
