import { join } from "node:path";
import { extendIgnoreRules, isIgnored, mayBeIgnored, type IgnoreRules } from "./ignore-rules.ts";
import { formatOf } from "../read/readers.ts";
import type { DocumentSettings } from "../map/settings.ts";

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

/** A folder on the way: which inputs it belongs to and which ignore rules hold. */
export interface Folder {
  /** Root-relative and NFC; "" for the root. */
  path: string;
  absolute: string;
  rules: IgnoreRules | undefined;
  /** Inputs that this folder lies in. */
  jobs: readonly Job[];
  /** Inputs that lie deeper, by the name of the next step. */
  pending: ReadonlyMap<string, readonly Job[]>;
}

/**
 * Asked of each folder below the root, with the names in it: why its files cannot belong to this
 * root. It is thrown when the walk comes to a file in the folder.
 */
export type RefuseFolder = (
  folder: { path: string; absolute: string },
  names: readonly { name: string }[],
) => Error | undefined;

/** The tool's own folder: never a source of documents. */
const stateFolder = ".knowctl";

export function pathIn(folder: Folder, name: string): string {
  return folder.path === "" ? name : `${folder.path}/${name}`;
}

function groupByNextStep(path: string, jobs: readonly Job[]): Map<string, Job[]> {
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
    pending: groupByNextStep(
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
  // Asked by the name first: the path of each of a hundred thousand files would be made for nothing.
  const mayBe = mayBeIgnored(name, folder.rules);
  if (mayBe && isIgnored(pathIn(folder, name), isFolder, folder.rules)) return [];
  return isSkippedName(name, isFolder) ? folder.jobs.filter((job) => job.hidden) : folder.jobs;
}

/**
 * The folder below, or undefined when no input reaches it. What is named stays
 * reachable though hidden or ignored; the rules that ignore it are dropped then.
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
  const isDropped = named.length > 0 && isIgnored(path, true, folder.rules);
  const starting = named.filter((job) => job.kind === "folder" && job.base === path);
  return {
    path,
    absolute,
    rules: isDropped ? undefined : folder.rules,
    jobs: starting.length === 0 ? reaching : [...reaching, ...starting],
    pending: groupByNextStep(
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

/** Whether the inputs take a file of this folder; filters and formats are not asked. */
export function takesFile(folder: Folder, name: string, settings: DocumentSettings): boolean {
  if (isNamed(folder, name)) return true;
  for (const { base, matches } of reachingJobs(folder, name, false, settings)) {
    if (!matches) return true;
    const path = pathIn(folder, name);
    if (matches(base === "" ? path : path.slice(base.length + 1))) return true;
  }
  return false;
}

/** Whether an input names a file, or reaches it by a pattern, and not only by its folder. */
export function asksForFile(folder: Folder, name: string, settings: DocumentSettings): boolean {
  if (isNamed(folder, name)) return true;
  const path = pathIn(folder, name);
  if (settings.only?.matches(path)) return true;
  return folder.jobs.some(({ base, matches }) =>
    matches?.(base === "" ? path : path.slice(base.length + 1)),
  );
}

/** A folder with the ignore rules of its own ignore files added. */
export function withOwnRules(
  folder: Folder,
  settings: DocumentSettings,
  isThere?: (name: string) => boolean,
  report: (path: string, reason: string) => void = () => {},
): Folder {
  if (!settings.useIgnoreFiles) return folder;
  const prefix = folder.path === "" ? "" : `${folder.path}/`;
  const rules = extendIgnoreRules(
    folder.rules,
    { absolute: folder.absolute, prefix },
    settings.root,
    ({ name, reason }) => report(prefix + name, reason),
    isThere,
  );
  return rules === folder.rules ? folder : { ...folder, rules };
}

/** Answers whether a walk comes to a real path by itself, without a link, and takes it. */
export interface DirectReach {
  /** Of formats only those of rows are asked: these are taken only when named or globbed. */
  file(path: string): boolean;
  /** True only when every file of the folder is taken that way. */
  folder(path: string): boolean;
}

/** So that a link to something the walk takes anyway does not make a second document of it. */
export function createDirectReach(root: Folder, settings: DocumentSettings): DirectReach {
  const known = new Map<string, Folder | undefined>([["", withOwnRules(root, settings)]]);
  const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));
  const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
  const reach = (path: string): Folder | undefined => {
    if (known.has(path)) return known.get(path);
    const parent = reach(parentOf(path));
    const absolute = join(settings.root, path);
    const entered = parent && enterFolder(parent, nameOf(path), absolute, settings);
    const folder = entered && withOwnRules(entered, settings);
    known.set(path, folder);
    return folder;
  };
  return {
    file: (path) => {
      if (settings.only?.matches(path) === false || settings.exclude?.matches(path)) return false;
      const parent = reach(parentOf(path));
      const name = nameOf(path);
      if (!parent || !takesFile(parent, name, settings)) return false;
      const isOfRows = formatOf(path, settings.format)?.gives === "rows";
      return !isOfRows || asksForFile(parent, name, settings);
    },
    folder: (path) => !settings.only && (reach(path)?.jobs.some((job) => !job.matches) ?? false),
  };
}
