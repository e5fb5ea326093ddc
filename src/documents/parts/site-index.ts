import { readdirSync } from "node:fs";
import { aliasesIn, componentIn } from "../formats/adoc/antora.ts";
import type { SiteEntry, SiteNames } from "../formats/format.ts";
import { quartoEntries } from "../formats/myst/quarto-references.ts";
import { sourcesOf } from "../formats/notebook-sources.ts";
import { labelsIn } from "../formats/rst/rst-labels.ts";

/** What the pages of a site call each other and their places. */
export interface SiteIndex {
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
export function createSiteIndex(
  root: string,
  read: (path: string) => string | undefined,
): SiteIndex {
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
