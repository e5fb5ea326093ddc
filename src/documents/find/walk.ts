import {
  type LeftOut,
  type Listed,
  absoluteOf,
  normalise,
  comparePaths,
} from "../files/source-file.ts";
import { escapeBytes, undecodable } from "../files/real-place.ts";
import { partialReason, siteOfFolder } from "../site/sites.ts";
import { lstatSync, readdirSync, type Dirent } from "node:fs";
import { sep } from "node:path";
import { codeOf, fileProblem, isOutOfFiles, CliError } from "../../errors.ts";
import { jobsBehind, resolveLink, type Link, type Links } from "./links.ts";
import { extensionOf } from "../files/file-name.ts";
import { formatOf, wayOn } from "../formats/formats.ts";
import {
  asksForFile,
  enterFolder,
  isLeftOutAsHidden,
  isNamed,
  pathIn,
  takesFile,
  withOwnRules,
  type Folder,
  type Job,
  type RefuseFolder,
} from "./folder.ts";
import type { DocumentSettings } from "../map/settings.ts";

/** Shows combining marks as code points: otherwise the names look equal on a screen. */
function spelledOut(name: string): string {
  return name.replace(/\p{M}/gu, (mark) => `\\u{${mark.codePointAt(0)?.toString(16)}}`);
}

/**
 * Throws CliError `usage` when two files or two folders in one folder have the same NFC path:
 * neither the state nor a document id could distinguish them. `entries` are sorted by their
 * normalised names.
 */
function refuseNormalisationCollisions(
  entries: readonly { kind: "file" | "folder" | "link" | "found"; key: string }[],
  folder: Folder,
  dirents: readonly { name: string }[],
): void {
  let previousKey: string | undefined;
  for (const { kind, key } of entries) {
    // A link is no document: its target has its own path.
    if (kind === "found" || kind === "link") continue;
    if (key === previousKey) {
      const name = key.replace(/\/$/, "");
      const colliding = dirents.filter((each) => normalise(each.name) === name);
      throw new CliError("usage", "two names differ only in their Unicode normalisation", {
        details: colliding.map((each) => pathIn(folder, spelledOut(each.name))),
        hints: ["rename one of them: otherwise one document overwrites the other"],
      });
    }
    previousKey = key;
  }
}

/**
 * Returns a function that shows the bytes of a name that is not UTF-8. Node decodes every invalid
 * byte to U+FFFD, so several names can look equal. Call the function once for each such name, with
 * the name as Node decoded it: each call uses up one name of the folder.
 */
function createRawNames(folder: string): (name: string) => string {
  let remaining: Buffer[] | undefined;
  return (name) => {
    remaining ??= readdirSync(folder, { encoding: "buffer" });
    const at = remaining.findIndex((bytes) => bytes.toString() === name);
    const [bytes] = at < 0 ? [] : remaining.splice(at, 1);
    return bytes ? escapeBytes(bytes) : name;
  };
}

// From U+D800 on, code-unit order (fast to compare) can differ from code-point order.
const mayDifferInOrder = /[\ud800-\uffff]/;

/** Sorts the entries of one folder in place by key, in code-point order. */
function sortByKey<Entry extends { key: string }>(entries: Entry[]): Entry[] {
  if (entries.some(({ key }) => mayDifferInOrder.test(key))) {
    return entries.sort((a, b) => comparePaths(a.key, b.key));
  }
  return entries.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

/** `key` orders the entries of one folder. */
type Entry =
  | { kind: "file"; key: string; path: string; absolute: string | undefined }
  | { kind: "folder"; key: string; folder: Folder }
  | { kind: "link"; key: string; link: Link }
  | { kind: "found"; key: string; found: LeftOut };

/** The context of one walk. */
export interface Walk {
  settings: DocumentSettings;
  links: Links;
  refuseFolder: RefuseFolder | undefined;
  /** Whether a path was already yielded. Undefined in the first walk, where every path is new. */
  isListed: ((found: Listed) => boolean) | undefined;
}

/** The entries of one folder, the index of the next entry, and the error that refuses its files. */
interface Level {
  entries: Entry[];
  next: number;
  refused: Error | undefined;
}

function leftOutEntry(kind: "skipped" | "failed", path: string, reason: string): Entry {
  const key = path.slice(path.lastIndexOf("/") + 1);
  return { kind: "found", key, found: { kind, path, reason } };
}

/** Why a file cannot be a document, judged by its real path. `name` is its name in the folder. */
function problemOf(
  folder: Folder,
  name: string,
  real: string,
  settings: DocumentSettings,
): string | undefined {
  const format = formatOf(real, settings.format);
  if (!format) return `format not supported: ${extensionOf(real)}`;
  if (name.startsWith("~$") && format.gives === "binary") return "a lock file of an office program";
  if (format.gives !== "rows" || asksForFile(folder, name, settings)) return undefined;
  return `${extensionOf(real)}: row files are included only when named or matched by a glob`;
}

const hiddenReason = "hidden (a run includes it with --no-ignore, or if you name it)";

/** `absolute` is undefined if the path below the root is enough to find the file. */
function listFile(
  { settings }: Walk,
  folder: Folder,
  name: string,
  absolute: string | undefined,
): Entry | undefined {
  const path = pathIn(folder, name);
  if (!takesFile(folder, name, settings)) {
    const isDocument = (formatOf(name, settings.format)?.gives ?? "rows") !== "rows";
    return isDocument && isLeftOutAsHidden(folder, name, settings)
      ? leftOutEntry("skipped", path, hiddenReason)
      : undefined;
  }
  const isOut =
    (settings.only && !settings.only.matches(path)) || settings.exclude?.matches(path) === true;
  if (isOut)
    return isNamed(folder, name)
      ? leftOutEntry("skipped", path, "excluded by a pattern")
      : undefined;
  const problem = problemOf(folder, name, path, settings);
  if (problem !== undefined) {
    // Who names a file wants it: the run fails, and says how it could be read.
    const way = isNamed(folder, name) ? wayOn(path) : undefined;
    return way === undefined
      ? leftOutEntry("skipped", path, problem)
      : leftOutEntry("failed", path, `${problem}; ${way}`);
  }
  const partial = isNamed(folder, name) ? undefined : partialReason(path, settings);
  if (partial !== undefined) return leftOutEntry("skipped", path, partial);
  return { kind: "file", key: name, path, absolute };
}

function listFolder(walk: Walk, folder: Folder, name: string, absolute: string): Entry | undefined {
  const entered = enterFolder(folder, name, absolute, walk.settings);
  return entered && { kind: "folder", key: `${name}/`, folder: entered };
}

/** A link to a file names that file. The format is that of the target. */
function listFileLink(
  { settings }: Walk,
  folder: Folder,
  name: string,
  real: string,
): Entry | undefined {
  const { only, exclude } = settings;
  const path = pathIn(folder, name);
  if (only && !only.matches(path) && !only.matches(real)) return undefined;
  if (exclude?.matches(path) || exclude?.matches(real)) return undefined;
  const problem = problemOf(folder, name, real, settings);
  if (problem !== undefined) return leftOutEntry("skipped", path, problem);
  const jobs: Job[] = [{ kind: "file", base: real, hidden: false }];
  return { kind: "link", key: name, link: { kind: "file", path, real, jobs } };
}

function listLink(walk: Walk, folder: Folder, name: string, absolute: string): Entry | undefined {
  // Checked as a file first: git also treats a link as a file, whatever its target.
  const isTaken = takesFile(folder, name, walk.settings);
  const entered = enterFolder(folder, name, absolute, walk.settings);
  if (!isTaken && !entered) return undefined;
  const target = resolveLink(absolute, walk.settings.root);
  const path = pathIn(folder, name);
  // Also reported if only a folder glob reaches the link: the target could contain documents.
  if (target.kind === "skipped") return leftOutEntry("skipped", path, target.reason);
  const { kind, real } = target;
  if (kind === "file") return isTaken ? listFileLink(walk, folder, name, real) : undefined;
  if (!entered || entered.jobs.length === 0) return undefined;
  const jobs = jobsBehind(path, real, entered.jobs);
  return { kind: "link", key: `${name}/`, link: { kind, path, real, jobs } };
}

function absoluteIn({ absolute }: Folder, name: string): string {
  return absolute.endsWith(sep) ? absolute + name : absolute + sep + name;
}

/** Whether the absolute path of a folder follows from its path below the root. */
function isAtOwnPath({ path, absolute }: Folder, { root }: DocumentSettings): boolean {
  return absolute === (path === "" ? root : absoluteOf(root, path));
}

function listEntry(
  walk: Walk,
  folder: Folder,
  dirent: Dirent,
  atOwnPath: boolean,
): Entry | undefined {
  const name = normalise(dirent.name);
  if (atOwnPath && name === dirent.name && dirent.isFile()) {
    return listFile(walk, folder, name, undefined);
  }
  const absolute = absoluteIn(folder, dirent.name);
  if (dirent.isFile()) return listFile(walk, folder, name, absolute);
  if (dirent.isDirectory()) return listFolder(walk, folder, name, absolute);
  if (dirent.isSymbolicLink()) return listLink(walk, folder, name, absolute);
  if (!takesFile(folder, name, walk.settings) || !formatOf(name, walk.settings.format))
    return undefined;
  return leftOutEntry("skipped", pathIn(folder, name), "special file, not a regular file");
}

// Node decodes names as UTF-8 and replaces invalid bytes by U+FFFD; such a name cannot be opened.
function isUndecodable(folder: Folder, dirent: Dirent): boolean {
  if (!dirent.name.includes("\ufffd")) return false;
  return !lstatSync(absoluteIn(folder, dirent.name), { throwIfNoEntry: false });
}

function listUndecodable(
  walk: Walk,
  folder: Folder,
  dirent: Dirent,
  rawNameOf: (name: string) => string,
): Entry | undefined {
  const rawName = rawNameOf(dirent.name);
  const { name } = dirent;
  const absolute = absoluteIn(folder, name);
  const listed = dirent.isDirectory()
    ? listFolder(walk, folder, name, absolute)
    : listFile(walk, folder, name, absolute);
  if (!listed || listed.kind === "found") return listed;
  // The raw name: as Node decodes them, several names would be one path, and one failure.
  return leftOutEntry("failed", pathIn(folder, rawName), undecodable);
}

function openLevel(walk: Walk, folder: Folder, refusedAbove?: Error): Level {
  let dirents: Dirent[];
  try {
    dirents = readdirSync(folder.absolute, { withFileTypes: true });
  } catch (error) {
    if (isOutOfFiles(error)) throw error;
    const code = codeOf(error);
    const why = code === "ENOENT" || code === "ENOTDIR" ? "it is gone" : fileProblem(code);
    const reason = `the folder cannot be read: ${why}`;
    const failed = leftOutEntry("failed", folder.path === "" ? "." : folder.path, reason);
    return { entries: [failed], next: 0, refused: undefined };
  }
  const isRoot = folder.path === "";
  const refused = refusedAbove ?? (isRoot ? undefined : walk.refuseFolder?.(folder, dirents));
  const entries: Entry[] = [];
  const hasEntry = (name: string): boolean => dirents.some((dirent) => dirent.name === name);
  const ruled = withOwnRules(folder, walk.settings, hasEntry, (path, reason) => {
    entries.push(leftOutEntry("failed", path, reason));
  });
  // The names are at hand here: no other listing of the folder is needed.
  siteOfFolder(folder.path, walk.settings, dirents);
  const isOutside = ruled.jobs.length === 0;
  const atOwnPath = isAtOwnPath(folder, walk.settings);
  const rawNameOf = createRawNames(folder.absolute);
  for (const dirent of dirents) {
    // Outside the inputs, only the next path segment towards an input matters.
    if (isOutside && !ruled.pending.has(normalise(dirent.name))) continue;
    const entry = isUndecodable(ruled, dirent)
      ? listUndecodable(walk, ruled, dirent, rawNameOf)
      : listEntry(walk, ruled, dirent, atOwnPath);
    if (entry) entries.push(entry);
  }
  // A folder sorts by the prefix of its files: "a-b.md" < "a.md" < "a/b.md".
  const sorted = sortByKey(entries);
  refuseNormalisationCollisions(sorted, folder, dirents);
  return { entries: sorted, next: 0, refused };
}

/** Yields the results of one walk, depth first. Keeps one listing in memory for each level. */
export function* walkFrom(root: Folder, walk: Walk): Generator<Listed> {
  const stack = [openLevel(walk, root)];
  for (let top = stack.at(-1); top; top = stack.at(-1)) {
    const entry = top.entries[top.next++];
    if (!entry) stack.pop();
    else if (entry.kind === "folder") stack.push(openLevel(walk, entry.folder, top.refused));
    else if (entry.kind === "link") {
      // Followed now, not on listing: if two links lead to one file, the first by path counts.
      const reason = walk.links.follow(entry.link);
      if (reason !== undefined) yield { kind: "skipped", path: entry.link.path, reason };
    } else {
      const { path, absolute } = entry.kind === "file" ? entry : { ...entry.found, absolute: "" };
      const found: Listed =
        entry.kind === "file" ? { kind: "file", path, absolutePath: absolute } : entry.found;
      if (walk.isListed?.(found)) continue;
      if (entry.kind === "file" && top.refused) throw top.refused;
      yield found;
    }
  }
}
