import { closeSync, constants, existsSync, openSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import ignore from "ignore";
import { codeOf, fileProblem } from "../../errors.ts";
import { relativeTo, withSlashes } from "../files/root.ts";
import { formatOf } from "../formats/formats.ts";
import type { DocumentSettings } from "../map/settings.ts";
import { partialReason } from "../site/sites.ts";

const ignoreFiles = [".gitignore", ".knowctlignore"] as const;

/** The ignore rules in effect in one folder: its own first, then those of the folders above. */
interface IgnoreRules {
  /** Path of the folder they belong to, root-relative, with a trailing "/"; "" for the root. */
  readonly prefix: string;
  /** For a folder above the root: the path from it to the root, with a trailing "/"; else "". */
  readonly above: string;
  readonly matcher: Matcher;
  readonly parent: IgnoreRules | undefined;
}

interface Matcher {
  /** False only when no rule can match a path that ends in this name. */
  mayMatch(name: string): boolean;
  test(path: string): { ignored: boolean; unignored: boolean };
}

// The library caches every path it tests. A new matcher from time to time keeps the memory of a
// long walk flat.
const testsBeforeReset = 1024;

/**
 * Checks the last segment of a path. The folders above were checked before, so a rule can only
 * match through its own last segment. Most rules end in a name or `*.ending`. This check avoids
 * most library calls, which cost more than a stat.
 */
function createNameCheck(text: string): (name: string) => boolean {
  const names = new Set<string>();
  const endings: string[] = [];
  for (const line of text.split("\n")) {
    const rule = line.trimEnd().replace(/^!/, "").replace(/\/$/, "");
    if (rule === "" || rule.startsWith("#")) continue;
    const last = rule.slice(rule.lastIndexOf("/") + 1);
    const ending = last.startsWith("*") ? last.slice(1) : last;
    if (/[*?[\]\\]/.test(ending) || ending === "") return () => true;
    if (last === ending) names.add(last);
    else endings.push(ending);
  }
  return (name) => names.has(name) || endings.some((ending) => name.endsWith(ending));
}

function createMatcher(text: string): Matcher {
  const create = (): ignore.Ignore => ignore({ ignorecase: false }).add(text);
  let matcher = create();
  let tests = 0;
  return {
    mayMatch: createNameCheck(text),
    test(path) {
      if (++tests > testsBeforeReset) {
        matcher = create();
        tests = 0;
      }
      return matcher.test(path);
    },
  };
}

function readIgnoreFile(folder: string, name: string, root: string): string | undefined {
  const path = join(folder, name);
  let descriptor: number;
  try {
    // A link could apply the rules of a file outside the root. A link within the root is fine.
    const real = realpathSync.native(path);
    if (relativeTo(root, real) === undefined && real !== join(realpathSync.native(folder), name)) {
      throw Object.assign(new Error("outside"), { code: "a link that leaves the project root" });
    }
    descriptor = openSync(real, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
  try {
    return readFileSync(descriptor, "utf8");
  } finally {
    closeSync(descriptor);
  }
}

/** An ignore file that cannot be read. */
interface IgnoreProblem {
  name: string;
  reason: string;
}

/**
 * Adds the ignore files of a folder to the rules above it. `hasEntry`, if known, answers whether
 * the folder contains a name; it avoids opening missing files. Reports problems instead of
 * throwing: one bad file does not end a walk.
 */
function extendIgnoreRules(
  parent: IgnoreRules | undefined,
  folder: { absolute: string; prefix: string; above?: string },
  root: string,
  report: (problem: IgnoreProblem) => void,
  hasEntry?: (name: string) => boolean,
): IgnoreRules | undefined {
  let text = "";
  for (const name of ignoreFiles) {
    if (hasEntry?.(name) === false) continue;
    try {
      // Later rules win, so .knowctlignore can override .gitignore.
      text += `${readIgnoreFile(folder.absolute, name, root) ?? ""}\n`;
    } catch (error) {
      report({ name, reason: `cannot be read: ${fileProblem(codeOf(error))}` });
    }
  }
  if (text.trim() === "") return parent;
  const { prefix, above = "" } = folder;
  return { prefix, above, matcher: createMatcher(text), parent };
}

/** The ignore rules of the folders above the project root, up to the git root. */
export function ignoreRulesAbove(
  root: string,
  report: (problem: IgnoreProblem) => void,
): IgnoreRules | undefined {
  const folders: string[] = [];
  for (let at = root; !existsSync(join(at, ".git")); at = dirname(at)) {
    if (dirname(at) === at) return undefined;
    folders.unshift(dirname(at));
  }
  let rules: IgnoreRules | undefined;
  for (const absolute of folders) {
    const above = `${withSlashes(relativeTo(absolute, root) ?? "")}/`;
    rules = extendIgnoreRules(rules, { absolute, prefix: "", above }, absolute, report);
  }
  return rules;
}

/** False only when no rule can match a path that ends in this name. */
function mayBeIgnored(name: string, rules: IgnoreRules | undefined): boolean {
  for (let at = rules; at; at = at.parent) if (at.matcher.mayMatch(name)) return true;
  return false;
}

/**
 * Whether a path is ignored. Expects that the folders above it are not ignored. The innermost
 * ignore file with a matching rule decides, as in git.
 */
function isIgnored(path: string, isFolder: boolean, rules: IgnoreRules | undefined): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (!mayBeIgnored(name, rules)) return false;
  for (let at: IgnoreRules | undefined = rules; at; at = at.parent) {
    if (!at.matcher.mayMatch(name)) continue;
    const below = at.above + path.slice(at.prefix.length) + (isFolder ? "/" : "");
    const { ignored, unignored } = at.matcher.test(below);
    if (ignored) return true;
    if (unignored) return false;
  }
  return false;
}

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

/** Whether the name is that of a file with ignore rules. */
export function isIgnoreFile(name: string): boolean {
  return ignoreFiles.some((each) => each === name);
}

/** Prevents a second document when a link leads to a file that the walk selects anyway. */
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
      if (!isNamed(parent, name) && partialReason(path, settings) !== undefined) return false;
      const isOfRows = formatOf(path, settings.format)?.gives === "rows";
      return !isOfRows || asksForFile(parent, name, settings);
    },
    folder: (path) => !settings.only && (reach(path)?.jobs.some((job) => !job.matches) ?? false),
    enters: (path) => reach(path) !== undefined,
    concerns(path) {
      const parent = reach(parentOf(path));
      const name = nameOf(path);
      if (!parent) return false;
      if (isIgnoreFile(name) || parent.pending.has(name)) return true;
      return reachingJobs(parent, name, false, settings).length > 0;
    },
  };
}
