import {
  lstatSync,
  realpathSync,
  statSync,
  closeSync,
  openSync,
  readSync,
  readdirSync,
} from "node:fs";
import { posix } from "node:path";
import { CliError, codeOf, fileProblem } from "../../errors.ts";
import { relativeTo } from "../files/root.ts";
import { type SiteSettings, siteOf } from "../site/sites.ts";
import { partAnywhere, type Parts } from "./parts.ts";
import { sourceFile } from "../files/source-file.ts";
import { readContent } from "../files/bytes/content.ts";
import { decodeText } from "../files/bytes/decode.ts";
import { openFlags, pointerHint, isPointer, pointerProblem } from "../files/bytes/file-bytes.ts";
import { mostNotes, notesOf, filesOf, type FilesByName } from "./notes-by-name.ts";
import { outside } from "../formats/markdown/included.ts";
import type { Included, Includes, SiteEntry, SiteNames } from "../formats/format.ts";
import { aliasesIn, componentIn } from "../formats/adoc/antora.ts";
import { quartoEntries } from "../formats/myst/quarto-references.ts";
import { sourcesOf } from "../formats/notebook-sources.ts";
import { labelsIn } from "../formats/rst/rst-labels.ts";

/** What the pages of a site call each other and their places. */
interface SiteIndex {
  /** What has a name in the files below `folder` (root-relative, with "/" at its end, or ""). */
  find(kind: SiteNames, folder: string, name: string): SiteEntry | undefined;
}

type Entries = Iterable<readonly [name: string, entry: SiteEntry]>;

/** The files that can have names of a kind, by their own names, and what they have. */
interface Source {
  files: RegExp;
  entriesIn(text: string, path: string, folder: string): Entries;
}

const labelFiles = /\.(?:rst|rest|txt|inc|md)$/i;

function* labelEntries(text: string, path: string): Entries {
  for (const { name, title } of labelsIn(text)) yield [name, { path, title }];
}

/** Each section by its title, and by page and title, as sphinx.ext.autosectionlabel names it. */
function* sectionEntries(text: string, path: string, folder: string): Entries {
  const page = path
    .slice(folder.length)
    .replace(/\.\w+$/, "")
    .toLowerCase();
  for (const { name, title } of labelsIn(text, true)) {
    yield [name, { path, title }];
    yield [`${page}:${name}`, { path, title }];
  }
}

const placeEntries = (text: string, path: string, folder: string): Entries =>
  quartoEntries(path.endsWith(".ipynb") ? sourcesOf(text) : text, path, folder);

const sources: Readonly<Record<SiteNames, Source>> = {
  label: { files: labelFiles, entriesIn: labelEntries },
  section: { files: labelFiles, entriesIn: sectionEntries },
  alias: { files: /\.adoc$/, entriesIn: aliasesIn },
  // Names that begin with "_" are parts of pages.
  place: { files: /(?:^|\/)[^_/][^/]*\.(?:qmd|rmd|md|ipynb)$/i, entriesIn: placeEntries },
  component: { files: /^antora\.ya?ml$/, entriesIn: componentIn },
};

// More is no site that a person keeps. What is beyond has no names.
const mostFiles = 50_000;
const mostChars = 64 * 1024 * 1024;
const mostNames = 500_000;

/** The files below a folder in the order of their paths, without hidden folders and links. */
function listFiles(root: string, folder: string, files: RegExp): string[] {
  const found: string[] = [];
  const open = [folder];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    let entries;
    try {
      entries = readdirSync(`${root}/${next}`, { withFileTypes: true });
    } catch {
      continue;
    }
    for (const entry of entries) {
      const { name } = entry;
      if (name.startsWith(".") || name === "node_modules") continue;
      if (entry.isDirectory()) open.push(`${next}${name}/`);
      else if (entry.isFile() && files.test(name)) found.push(next + name);
      if (found.length >= mostFiles) return found;
    }
  }
  return found.sort();
}

/**
 * Creates the index of a project. Reads the files below a folder once, when the first name of a kind
 * is asked for. `read` returns the text of a file by its root-relative path. Of names that occur
 * twice, the last one counts, as in Sphinx.
 */
function createSiteIndex(root: string, read: (path: string) => string | undefined): SiteIndex {
  const known = new Map<string, Map<string, SiteEntry>>();
  const build = (kind: SiteNames, folder: string): Map<string, SiteEntry> => {
    const { files, entriesIn } = sources[kind];
    const names = new Map<string, SiteEntry>();
    let chars = 0;
    for (const path of listFiles(root, folder, files)) {
      const text = read(path) ?? "";
      chars += text.length;
      if (chars > mostChars) break;
      for (const [name, entry] of entriesIn(text, path, folder)) {
        if (names.size >= mostNames) return names;
        names.set(name, entry);
      }
    }
    return names;
  };
  return {
    find(kind, folder, name) {
      const key = `${kind} ${folder}`;
      let names = known.get(key);
      if (!names) known.set(key, (names = build(kind, folder)));
      return names.get(name);
    },
  };
}

/** A page by its `uid`: root-relative path, and its title if it has one near its top. */
interface PageWithUid {
  path: string;
  title: string | undefined;
}

const headBytes = 4096;

function headOf(path: string): string {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, openFlags);
    const bytes = Buffer.alloc(headBytes);
    return bytes.subarray(0, readSync(descriptor, bytes, 0, headBytes, 0)).toString("utf8");
  } catch {
    return "";
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function readPages(files: FilesByName | undefined, root: string): Map<string, PageWithUid[]> {
  const pages = new Map<string, PageWithUid[]>();
  for (const path of [...(files?.values() ?? [])].flat()) {
    const head = /\.md$/i.test(path) ? headOf(`${root}/${path}`) : "";
    const [block = ""] = /^\uFEFF?---[^]*?\n---/.exec(head) ?? [];
    const [, uid] = /^uid:[ \t]*["']?([^\s"']+)/m.exec(block) ?? [];
    if (uid === undefined) continue;
    const [, heading] = /^#[ \t]+([^\n]+)/m.exec(head.slice(block.length)) ?? [];
    const [, written] = /^title:[ \t]*["']?([^\n"']+)/m.exec(block) ?? [];
    const page = { path, title: (heading ?? written)?.trim() };
    pages.set(uid, [...(pages.get(uid) ?? []), page]);
  }
  return pages;
}

const pagesOfRun = new WeakMap<SiteSettings, Map<string, PageWithUid[]>>();

/**
 * The page with a uid in the site of the page `from` (dotnet.github.io/docfx, "Links and Cross
 * References"); undefined without one. Reads the start of each Markdown file of the project once in a run.
 */
function pageWithUid(uid: string, from: string, settings: SiteSettings): PageWithUid | undefined {
  let pages = pagesOfRun.get(settings);
  if (!pages) pagesOfRun.set(settings, (pages = readPages(filesOf(settings), settings.root)));
  const prefix = siteOf(from, settings)?.prefix ?? "";
  return pages.get(uid)?.find(({ path }) => path.startsWith(prefix));
}

/** How deep includes nest, and how much they add to a document. */
const mostDepth = 16;
const mostFileBytes = 4 * 1024 * 1024;
const mostBytes = 16 * 1024 * 1024;
const tooManyNotes = `name its folder: the project has more than ${mostNotes} files`;
const tooMuch = "the included files are more than 16 MiB";
// Notes that embed each other twice would be read 65,536 times within 16 levels.
const mostIncluded = 10_000;
// Different paths that one document looks for, also in vain.
const mostPaths = 100_000;

/** The root-relative path that a target names; undefined outside the root. */
function pathOf(target: string, from: string): string | undefined {
  // A backslash, a NUL or a scheme is no path of a project.
  if (/[\\\0]|^[A-Za-z][A-Za-z\d+.-]*:/.test(target)) return undefined;
  const joined = target.startsWith("/") ? target : posix.join(posix.dirname(from), target);
  const path = posix.normalize(joined.replace(/^\/+/, ""));
  return path === ".." || path.startsWith("../") ? undefined : path.replace(/^\.\//, "");
}

// A person who uploads a folder does not expect its hidden files, for example `.env`, in a document.
// Programs keep keys in hidden folders (`.ssh/id_rsa`, `.aws/credentials`, `.docker/config.json`):
// only pages are taken from them, and everything from folders that people make for includes.
const forIncludes = /^\.(?:snippets?|includes?|partials?|github|gitlab|vitepress|vuepress)$/i;
const page = /\.(?:md|mdx|markdown|rst|rest|adoc|asciidoc)$/i;

function isHidden(path: string): boolean {
  const names = path.split("/");
  if (names.at(-1)?.startsWith(".") === true) return true;
  const hidden = names.filter((name) => name.startsWith(".") && !forIncludes.test(name));
  return hidden.some((name) => /^\.(?:git|knowctl)$/i.test(name) || !page.test(path));
}

const problemOfCode = (code: string): Included => ({ problem: fileProblem(code) });

function realPathOf(root: string, path: string): { real: string; problem?: string } {
  const real = realpathSync.native(`${root}/${path}`);
  const realPath = relativeTo(root, real);
  if (realPath === undefined) return { real, problem: outside };
  return isHidden(realPath) ? { real, problem: "it is a hidden file" } : { real };
}

const noParts = { note: () => {}, add: () => {} };

interface Found {
  included: Included;
  sizeBytes: number;
}

/** Reads a file, but only if it has at most `most` bytes. */
function readText(root: string, path: string, most: number): Found {
  // Most places where a name is looked for have no file. An error for each would be costly.
  if (!statSync(`${root}/${path}`, { throwIfNoEntry: false })) {
    return { included: problemOfCode("ENOENT"), sizeBytes: 0 };
  }
  const { real, problem } = realPathOf(root, path);
  if (problem !== undefined) return { included: { problem }, sizeBytes: 0 };
  const stats = lstatSync(real, { bigint: true });
  const sizeBytes = Number(stats.size);
  if (stats.isFile() && sizeBytes <= mostFileBytes && sizeBytes > most) {
    return { included: { problem: tooMuch }, sizeBytes };
  }
  const { bytes } = readContent(sourceFile(path, real, stats), mostFileBytes);
  if (isPointer(bytes)) {
    throw new CliError("usage", `${path}: ${pointerProblem}`, { hints: [pointerHint] });
  }
  return { included: { text: decodeText(bytes, path), path }, sizeBytes: bytes.length };
}

function find(root: string, path: string, most: number): Found {
  try {
    return readText(root, path, most);
  } catch (error) {
    if (error instanceof CliError) {
      if (error.hints.includes(pointerHint)) throw error;
      return { included: { problem: error.message.replace(`${path}: `, "") }, sizeBytes: 0 };
    }
    const code = codeOf(error);
    if (code === undefined) throw error;
    return { included: problemOfCode(code), sizeBytes: 0 };
  }
}

function readOfIndex(root: string, path: string): string | undefined {
  try {
    const { included } = find(root, path, mostFileBytes);
    return "text" in included ? included.text : undefined;
  } catch (error) {
    // A Git LFS pointer: that fails its own document.
    if (error instanceof CliError) return undefined;
    throw error;
  }
}

// One run has one object of settings.
const indexOfRun = new WeakMap<SiteSettings, SiteIndex>();

function indexOf(settings: SiteSettings): SiteIndex {
  const { root } = settings;
  let index = indexOfRun.get(settings);
  if (!index) {
    indexOfRun.set(settings, (index = createSiteIndex(root, (path) => readOfIndex(root, path))));
  }
  return index;
}

/**
 * Creates the reader of includes for one document. `root` is absolute and real. Notes each
 * root-relative path in `noted` before it reads the file. Reads each file once.
 */
export function createIncludes(
  root: string,
  noted: Pick<Parts, "note" | "add"> = noParts,
  settings: SiteSettings = { root, generator: undefined },
  notes = notesOf(settings),
): Includes {
  const known = new Map<string, Found>();
  const parts = new Set<string>();
  let left = mostBytes;
  let included = 0;
  const includes: Includes = {
    parts,
    pageWithUid: (uid, chain) => pageWithUid(uid, chain[0] ?? "", settings),
    readNote(target, chain) {
      noted.add(partAnywhere(target), undefined);
      const path = notes.find(target, chain[0] ?? "");
      if (path !== undefined) return includes.read(`/${path}`, chain);
      return notes.isTooMany() ? { problem: tooManyNotes } : undefined;
    },
    find(kind, folder, name) {
      const entry = indexOf(settings).find(kind, folder, name);
      if (entry) noted.note(entry.path);
      else if (kind === "component") noted.add(partAnywhere("antora.yml"), "");
      // A file that is added later may have the label: the document is read on each run.
      else if (kind !== "alias") noted.add(partAnywhere(name), undefined);
      return entry;
    },
    read(target, chain) {
      const path = pathOf(target, chain.at(-1) ?? "");
      if (path === undefined) return { problem: outside };
      if (chain.includes(path)) return { problem: `a cycle: ${[...chain, path].join(" → ")}` };
      if (chain.length > mostDepth) return { problem: `nested deeper than ${mostDepth} files` };
      if (isHidden(path)) return { problem: "it is a hidden file" };
      let found = known.get(path);
      if (!found) {
        if (known.size >= mostPaths) return { problem: `more than ${mostPaths} files` };
        parts.add(path);
        noted.note(path);
        known.set(path, (found = find(root, path, left)));
      }
      if (!("text" in found.included)) return found.included;
      if (found.sizeBytes > left) return { problem: tooMuch };
      if (++included > mostIncluded) return { problem: `more than ${mostIncluded} includes` };
      left -= found.sizeBytes;
      return found.included;
    },
  };
  return includes;
}

/** For a text without a file, for example from stdin: it has no folder to look in. */
export const noIncludes: Includes = {
  parts: new Set(),
  read: () => ({ problem: "a text without a file includes nothing" }),
  readNote: () => undefined,
  pageWithUid: () => undefined,
  find: () => undefined,
};
