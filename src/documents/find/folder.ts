import { folderOf, nameIn } from "../files/file-name.ts";
import { join } from "node:path";
import {
  extendIgnoreRules,
  type IgnoreRules,
  isIgnored,
  isIgnoreFile,
  mayBeIgnored,
} from "../files/ignore-rules.ts";
import { formatOf } from "../formats/formats.ts";
import type { DocumentSettings } from "../map/settings.ts";
import { partialReason } from "../site/sites.ts";

/** One input: a named file, a folder, or a glob split into folder and pattern. */
export interface Job {
  kind: "file" | "folder";
  /** Root-relative path of the file or of the folder where the search starts. */
  base: string;
  /** For a glob: whether a path below `base` matches. */
  matches?: (path: string) => boolean;
  /** The glob itself names something hidden. */
  hidden: boolean;
}

/** A folder of the walk, with its inputs and the ignore rules in effect. */
export interface Folder {
  /** Root-relative and NFC; "" for the root. */
  path: string;
  absolute: string;
  rules: IgnoreRules | undefined;
  /** Inputs that contain this folder. */
  jobs: readonly Job[];
  /** Inputs below this folder, by the next path segment. */
  pending: ReadonlyMap<string, readonly Job[]>;
}

/**
 * Called for each folder below the root with the names in it. Returns an error if its files cannot
 * belong to this root. The walk throws that error on reaching a file in the folder.
 */
export type RefuseFolder = (
  folder: { path: string; absolute: string },
  names: readonly { name: string }[],
) => Error | undefined;

/** The tool's own folder. It never contains documents. */
const stateFolder = ".knowctl";

export function pathIn(folder: Folder, name: string): string {
  return folder.path === "" ? name : `${folder.path}/${name}`;
}

function groupByNextSegment(path: string, jobs: readonly Job[]): Map<string, Job[]> {
  const groups = new Map<string, Job[]>();
  const start = path === "" ? 0 : path.length + 1;
  for (const job of jobs) {
    const end = job.base.indexOf("/", start);
    const name = job.base.slice(start, end === -1 ? undefined : end);
    const group = groups.get(name);
    if (group) group.push(job);
    else groups.set(name, [job]);
  }
  return groups;
}

/** The project root as the folder where every walk begins. */
export function rootFolder(
  settings: DocumentSettings,
  jobs: readonly Job[],
  rules: IgnoreRules | undefined,
): Folder {
  const isHere = (job: Job): boolean => job.base === "" && job.kind === "folder";
  return {
    path: "",
    absolute: settings.root,
    rules,
    jobs: jobs.filter(isHere),
    pending: groupByNextSegment(
      "",
      jobs.filter((job) => !isHere(job)),
    ),
  };
}

function isSkippedName(name: string, isFolder: boolean): boolean {
  return name.startsWith(".") || (isFolder && name === "node_modules");
}

/** The inputs that reach an entry without naming it: none when it is hidden or ignored. */
function reachingJobs(
  folder: Folder,
  name: string,
  isFolder: boolean,
  settings: DocumentSettings,
): readonly Job[] {
  if (folder.jobs.length === 0 || !settings.useIgnoreFiles) return folder.jobs;
  // Checks the name first, to avoid building a path for each of a hundred thousand files.
  const mayBe = mayBeIgnored(name, folder.rules);
  if (mayBe && isIgnored(pathIn(folder, name), isFolder, folder.rules)) return [];
  return isSkippedName(name, isFolder) ? folder.jobs.filter((job) => job.hidden) : folder.jobs;
}

/**
 * Returns the subfolder, or undefined when no input reaches it. An input that names a path below
 * keeps it reachable even if hidden or ignored; the ignore rules are then dropped.
 */
export function enterFolder(
  folder: Folder,
  name: string,
  absolute: string,
  settings: DocumentSettings,
): Folder | undefined {
  const path = pathIn(folder, name);
  if (name === stateFolder || settings.exclude?.covers(path)) return undefined;
  const named = folder.pending.get(name) ?? [];
  const reaching = reachingJobs(folder, name, true, settings);
  if (reaching.length === 0 && named.length === 0) return undefined;
  const dropsRules = named.length > 0 && isIgnored(path, true, folder.rules);
  const starting = named.filter((job) => job.kind === "folder" && job.base === path);
  return {
    path,
    absolute,
    rules: dropsRules ? undefined : folder.rules,
    jobs: starting.length === 0 ? reaching : [...reaching, ...starting],
    pending: groupByNextSegment(
      path,
      named.filter((job) => job.base.length > path.length),
    ),
  };
}

/** Whether a file of this folder is named by an input. */
export function isNamed(folder: Folder, name: string): boolean {
  const named = folder.pending.size === 0 ? undefined : folder.pending.get(name);
  if (!named) return false;
  const path = pathIn(folder, name);
  return named.some((job) => job.kind === "file" && job.base === path);
}

/** Whether the inputs select a file of this folder. Does not check filters and formats. */
export function takesFile(folder: Folder, name: string, settings: DocumentSettings): boolean {
  if (isNamed(folder, name)) return true;
  for (const { base, matches } of reachingJobs(folder, name, false, settings)) {
    if (!matches) return true;
    const path = pathIn(folder, name);
    if (matches(base === "" ? path : path.slice(base.length + 1))) return true;
  }
  return false;
}

/** Whether only its name, which begins with a dot, keeps a file of a named folder out. */
export function isLeftOutAsHidden(
  folder: Folder,
  name: string,
  settings: DocumentSettings,
): boolean {
  if (!name.startsWith(".") || !settings.useIgnoreFiles) return false;
  const isReached = folder.jobs.some(({ matches }) => !matches);
  return isReached && !isIgnored(pathIn(folder, name), false, folder.rules);
}

/** Whether an input or `only` matches the file itself, not merely its folder. */
export function asksForFile(folder: Folder, name: string, settings: DocumentSettings): boolean {
  if (isNamed(folder, name)) return true;
  const path = pathIn(folder, name);
  if (settings.only?.matches(path)) return true;
  return folder.jobs.some(({ base, matches }) =>
    matches?.(base === "" ? path : path.slice(base.length + 1)),
  );
}

/** Adds the rules of the folder's own ignore files. */
export function withOwnRules(
  folder: Folder,
  settings: DocumentSettings,
  hasEntry?: (name: string) => boolean,
  report: (path: string, reason: string) => void = () => {},
): Folder {
  if (!settings.useIgnoreFiles) return folder;
  const prefix = folder.path === "" ? "" : `${folder.path}/`;
  const rules = extendIgnoreRules(
    folder.rules,
    { absolute: folder.absolute, prefix },
    settings.root,
    ({ name, reason }) => report(prefix + name, reason),
    hasEntry,
  );
  return rules === folder.rules ? folder : { ...folder, rules };
}

/** Whether a walk selects a real path without following a link. */
export interface DirectReach {
  /** Checks only row formats: their files must be named or matched by a glob. */
  file(path: string): boolean;
  /** True only when the walk selects every file of the folder without a link. */
  folder(path: string): boolean;
  /** Whether the walk enters the folder, if only on its way to an input. */
  enters(path: string): boolean;
  /**
   * Whether a change of this file may change what the walk finds or what its files include: it is
   * neither hidden nor ignored, or its rules hide others. Does not check globs, filters and formats.
   */
  concerns(path: string): boolean;
}

/** Prevents a second document when a link leads to a file that the walk selects anyway. */
export function createDirectReach(root: Folder, settings: DocumentSettings): DirectReach {
  const known = new Map<string, Folder | undefined>([["", withOwnRules(root, settings)]]);
  const reach = (path: string): Folder | undefined => {
    if (known.has(path)) return known.get(path);
    const parent = reach(folderOf(path));
    const absolute = join(settings.root, path);
    const entered = parent && enterFolder(parent, nameIn(path), absolute, settings);
    const folder = entered && withOwnRules(entered, settings);
    known.set(path, folder);
    return folder;
  };
  return {
    file: (path) => {
      if (settings.only?.matches(path) === false || settings.exclude?.matches(path)) return false;
      const parent = reach(folderOf(path));
      const name = nameIn(path);
      if (!parent || !takesFile(parent, name, settings)) return false;
      if (!isNamed(parent, name) && partialReason(path, settings) !== undefined) return false;
      const isOfRows = formatOf(path, settings.format)?.gives === "rows";
      return !isOfRows || asksForFile(parent, name, settings);
    },
    folder: (path) => !settings.only && (reach(path)?.jobs.some((job) => !job.matches) ?? false),
    enters: (path) => reach(path) !== undefined,
    concerns(path) {
      const parent = reach(folderOf(path));
      const name = nameIn(path);
      if (!parent) return false;
      if (isIgnoreFile(name) || parent.pending.has(name)) return true;
      return reachingJobs(parent, name, false, settings).length > 0;
    },
  };
}
