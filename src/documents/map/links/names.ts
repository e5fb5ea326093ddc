import { readdirSync } from "node:fs";
import { join, posix } from "node:path";
import type { DocumentSettings } from "../settings/settings.ts";

/** The names in a folder, by their lower case. */
type Names = ReadonlyMap<string, string>;

// Bounded: cleared when full.
const mostNames = 20_000;

interface Folders {
  byPath: Map<string, Names>;
  /** Number of names and folders in it. */
  size: number;
}

const foldersOfRun = new WeakMap<DocumentSettings, Folders>();

function readNames(absolutePath: string): Names {
  try {
    const entries = readdirSync(absolutePath, { withFileTypes: true });
    // A symbolic link may lead out of the project, and hidden files are no documents.
    const own = entries.filter((entry) => !entry.isSymbolicLink() && !entry.name.startsWith("."));
    const names = own.map(({ name }) => name).sort();
    return new Map(names.map((name) => [name.toLowerCase(), name]));
  } catch {
    return new Map();
  }
}

function namesIn(settings: DocumentSettings, folder: string): Names {
  let known = foldersOfRun.get(settings);
  let names = known?.byPath.get(folder);
  if (!names) {
    if (!known || known.size >= mostNames) {
      foldersOfRun.set(settings, (known = { byPath: new Map(), size: 0 }));
    }
    known.byPath.set(folder, (names = readNames(join(settings.root, folder))));
    known.size += names.size + 1;
  }
  return names;
}

/** The file or folder that a path names but for capital letters. Both are root-relative. */
export function inOtherCase(path: string, settings: DocumentSettings): string | undefined {
  let found = "";
  for (const name of path.split("/")) {
    const actual = namesIn(settings, found).get(name.toLowerCase());
    if (actual === undefined) return undefined;
    found = posix.join(found, actual);
  }
  return found === path ? undefined : found;
}
