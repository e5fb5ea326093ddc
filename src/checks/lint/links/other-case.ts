import { readdirSync } from "node:fs";
import { join, posix } from "node:path";
import type { LintPage } from "../rule.ts";
import type { DocumentSettings } from "../../../documents/map/settings.ts";

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
    return new Map(own.map(({ name }) => [name.toLowerCase(), name]));
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

/**
 * The file that a dead link names but for capital letters, root-relative: a link that works on
 * Windows and macOS alone. `path` is relative to the page, without query and fragment.
 */
export function fileInOtherCase(
  { path: from, settings }: LintPage,
  path: string,
): string | undefined {
  const wanted = posix.normalize(posix.join(posix.dirname(from), path));
  if (wanted.startsWith("../")) return undefined;
  let found = "";
  for (const name of wanted.split("/")) {
    const actual = namesIn(settings, found).get(name.toLowerCase());
    if (actual === undefined) return undefined;
    found = posix.join(found, actual);
  }
  return found === wanted ? undefined : found;
}
