import { lstatSync, readdirSync, type Dirent } from "node:fs";
import { sep } from "node:path";
import { codeOf, isOutOfFiles } from "../errors.ts";
import type { LeftOut, Listed } from "./find.ts";
import { ignoreRulesAbove } from "./ignore-rules.ts";
import { createLinks, type Links } from "./links.ts";
import { extensionOf } from "./file-name.ts";
import { formatOf } from "./readers.ts";
import {
  asksForFile,
  createDirectReach,
  enterFolder,
  isNamed,
  pathIn,
  rootFolder,
  takesFile,
  withOwnRules,
  type DirectReach,
  type Folder,
  type Job,
  type RefuseFolder,
} from "./folder.ts";
import { absoluteOf } from "./recorded.ts";
import type { DocumentSettings } from "./settings.ts";
import { createRawNames } from "./raw-names.ts";
import { sortByKey } from "./entry-order.ts";
import { normalise } from "./stamp.ts";
import { refuseTwins } from "./twins.ts";

/** `key` orders the entries of one folder. */
type Entry =
  | { kind: "file"; key: string; path: string; at: Place | typeof asNamed }
  | { kind: "folder"; key: string; folder: Folder }
  | { kind: "found"; key: string; found: LeftOut };

/** What one walk carries along. */
interface Walk {
  settings: DocumentSettings;
  links: Links;
  refuseFolder: RefuseFolder | undefined;
}

/** The entries of one folder, the number of the next one, and why no file in it may be taken. */
interface Level {
  entries: Entry[];
  next: number;
  refused: Error | undefined;
}

function note(kind: "skipped" | "failed", path: string, reason: string): Entry {
  const key = path.slice(path.lastIndexOf("/") + 1);
  return { kind: "found", key, found: { kind, path, reason } };
}

/** `isTaken`: known to be taken, not to be asked again. */
function listFile(
  { settings }: Walk,
  folder: Folder,
  name: string,
  at: Place | typeof asNamed,
  isTaken = takesFile(folder, name, settings),
): Entry | undefined {
  if (!isTaken) return undefined;
  const path = pathIn(folder, name);
  const isOut =
    (settings.only && !settings.only.matches(path)) || settings.exclude?.matches(path) === true;
  if (isOut)
    return isNamed(folder, name) ? note("skipped", path, "excluded by a pattern") : undefined;
  const format = formatOf(path, settings.format);
  if (!format) return note("skipped", path, `format not supported: ${extensionOf(path)}`);
  if (format.gives === "rows" && !asksForFile(folder, name, settings)) {
    return note("skipped", path, `${extensionOf(path)}: rows are taken only when named or globbed`);
  }
  return { kind: "file", key: name, path, at };
}

/** Where an entry really is; `real` only when a link led there. */
interface Place {
  absolute: string;
  real?: string;
}

/** The place of a file whose path below the root tells it. */
const asNamed = { absolute: undefined, real: undefined };

function listFolder(walk: Walk, folder: Folder, name: string, at: Place): Entry | undefined {
  const { absolute, real } = at;
  const target = real === undefined ? { absolute } : { absolute, real };
  const entered = enterFolder(folder, name, target, walk.settings);
  return entered && { kind: "folder", key: `${name}/`, folder: entered };
}

function listLink(walk: Walk, folder: Folder, name: string, at: Place): Entry | undefined {
  // Asked as a file first: git, too, sees a link as a file, whatever it points to.
  const isTaken = takesFile(folder, name, walk.settings);
  const entered = enterFolder(folder, name, at, walk.settings);
  if (!isTaken && !entered) return undefined;
  const target = walk.links.resolve(at.absolute);
  if (target.kind === "skipped") {
    // A link that only a folder glob reaches is of interest when it could hold documents.
    return note("skipped", pathIn(folder, name), target.reason);
  }
  if (target.kind === "folder") return listFolder(walk, folder, name, target);
  return isTaken ? listFile(walk, folder, name, target, isTaken) : undefined;
}

function absoluteIn({ absolute }: Folder, name: string): string {
  return absolute.endsWith(sep) ? absolute + name : absolute + sep + name;
}

/** Whether the files of a folder are where their paths below the root say. */
function isAsNamed({ path, absolute, real }: Folder, { root }: DocumentSettings): boolean {
  return real === undefined && absolute === (path === "" ? root : absoluteOf(root, path));
}

function listEntry(
  walk: Walk,
  folder: Folder,
  dirent: Dirent,
  areAsNamed: boolean,
): Entry | undefined {
  const name = normalise(dirent.name);
  if (areAsNamed && name === dirent.name && dirent.isFile()) {
    return listFile(walk, folder, name, asNamed);
  }
  const absolute = absoluteIn(folder, dirent.name);
  const at: Place =
    folder.real === undefined
      ? { absolute }
      : { absolute, real: folder.real === "" ? dirent.name : `${folder.real}/${dirent.name}` };
  if (dirent.isFile()) return listFile(walk, folder, name, at);
  if (dirent.isDirectory()) return listFolder(walk, folder, name, at);
  if (dirent.isSymbolicLink()) return listLink(walk, folder, name, at);
  if (!takesFile(folder, name, walk.settings) || !formatOf(name, walk.settings.format))
    return undefined;
  return note("skipped", pathIn(folder, name), "special file, not a regular one");
}

// Node decodes names as UTF-8 with U+FFFD for what is not; such a name cannot be opened.
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
  const at = { absolute: absoluteIn(folder, name) };
  const listed = dirent.isDirectory()
    ? listFolder(walk, folder, name, at)
    : listFile(walk, folder, name, at);
  if (!listed || listed.kind === "found") return listed;
  const reason = `the name is not valid UTF-8 (${rawName}): rename it`;
  return note("failed", pathIn(folder, name), reason);
}

function openLevel(walk: Walk, folder: Folder, refusedAbove?: Error): Level {
  let dirents: Dirent[];
  try {
    dirents = readdirSync(folder.absolute, { withFileTypes: true });
  } catch (error) {
    if (isOutOfFiles(error)) throw error;
    const reason = `the folder cannot be read: ${codeOf(error) ?? "unknown error"}`;
    const failed = note("failed", folder.path === "" ? "." : folder.path, reason);
    return { entries: [failed], next: 0, refused: undefined };
  }
  const isRoot = folder.path === "";
  const refused = refusedAbove ?? (isRoot ? undefined : walk.refuseFolder?.(folder, dirents));
  const entries: Entry[] = [];
  const isThere = (name: string): boolean => dirents.some((dirent) => dirent.name === name);
  const ruled = withOwnRules(folder, walk.settings, isThere, (path, reason) => {
    entries.push(note("failed", path, reason));
  });
  const isOutside = ruled.jobs.length === 0;
  const areAsNamed = isAsNamed(folder, walk.settings);
  const rawNameOf = createRawNames(folder.absolute);
  for (const dirent of dirents) {
    // Outside the inputs only the next step towards one is of interest.
    if (isOutside && !ruled.pending.has(normalise(dirent.name))) continue;
    const entry = isUndecodable(ruled, dirent)
      ? listUndecodable(walk, ruled, dirent, rawNameOf)
      : listEntry(walk, ruled, dirent, areAsNamed);
    if (entry) entries.push(entry);
  }
  // A folder sorts as what its files begin with: "a-b.md" < "a.md" < "a/b.md".
  const sorted = sortByKey(entries);
  refuseTwins(sorted, folder, dirents);
  return { entries: sorted, next: 0, refused };
}

/** The start of a walk, and the answer to what it comes to by itself. */
export function openWalk(
  inputs: readonly Job[],
  settings: DocumentSettings,
): { root: Folder; direct: DirectReach; problems: LeftOut[] } {
  const problems: LeftOut[] = [];
  const above = settings.useIgnoreFiles
    ? ignoreRulesAbove(settings.root, ({ name, reason }) => {
        problems.push({ kind: "failed", path: `../${name}`, reason });
      })
    : undefined;
  const root = rootFolder(settings, inputs, above);
  return { root, direct: createDirectReach(root, settings), problems };
}

/**
 * Walks from the root to the inputs and through them, depth first, so that the
 * paths come out in code-point order. Synchronous: a promise a file would cost
 * more than the file system. Holds one listing for each level of depth.
 */
export function* walkFolders(
  jobs: readonly Job[],
  settings: DocumentSettings,
  refuseFolder?: RefuseFolder,
): Generator<Listed> {
  const { root, direct, problems } = openWalk(jobs, settings);
  yield* problems;
  const walk: Walk = { settings, links: createLinks(settings.root, direct), refuseFolder };
  const stack = [openLevel(walk, root)];
  for (let top = stack.at(-1); top; top = stack.at(-1)) {
    const entry = top.entries[top.next++];
    if (!entry) stack.pop();
    else if (entry.kind === "found") yield entry.found;
    else {
      const isFile = entry.kind === "file";
      const { absolute, real } = isFile ? entry.at : entry.folder;
      // Asked now, not on listing: of two links to one file the first by path counts.
      const repeated = real === undefined ? undefined : walk.links.refuse(entry.kind, real);
      const path = isFile ? entry.path : entry.folder.path;
      if (repeated !== undefined) yield { kind: "skipped", path, reason: repeated };
      else if (!isFile) stack.push(openLevel(walk, entry.folder, top.refused));
      else if (top.refused) throw top.refused;
      else yield { kind: "file", path, absolutePath: absolute };
    }
  }
}
