import { lstatSync, realpathSync, statSync } from "node:fs";
import { dirname, join, parse, relative, resolve, sep } from "node:path";
import { CliError, codeOf } from "../../errors.ts";
import { checkPattern, isGlob, splitGlob } from "./patterns.ts";

/** Windows writes paths with "\"; globs and ids always use "/". */
export function withSlashes(path: string): string {
  return sep === "\\" ? path.replaceAll("\\", "/") : path;
}

/** Root-relative path with "/"; "" for the root; undefined if outside. Expects real paths. */
export function relativeTo(root: string, path: string): string | undefined {
  if (path === root) return "";
  const prefix = root.endsWith(sep) ? root : root + sep;
  return path.startsWith(prefix) ? withSlashes(path.slice(prefix.length)) : undefined;
}

/** Real path; undefined when it does not exist. Throws CliError `usage` if resolving fails. */
export function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch (error) {
    const code = codeOf(error);
    // A glob may be longer than any name.
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ENAMETOOLONG") return undefined;
    throw new CliError("usage", `cannot resolve ${path}: ${code ?? "unknown error"}`, {
      cause: error,
    });
  }
}

/** What makes a folder the project root. */
export type RootMark = "configuration" | "state" | "git";

export interface RootRequest {
  /** Paths and globs as typed; none stands for the working directory. */
  paths: readonly string[];
  cwd: string;
  /** `--root`. */
  explicitRoot?: string | undefined;
  /** Accept paths that do not exist: they may have been removed. */
  mayBeRemoved?: boolean | undefined;
  /** The nearest marked folder at or above a real folder. */
  markOf(folder: string): { folder: string; kind: RootMark } | undefined;
}

export interface ProjectRoot {
  /** Absolute, real path. */
  folder: string;
  /** Why this folder is the root. Undefined without a mark: another run may find another root. */
  mark: RootMark | "flag" | undefined;
  /** Where the search for the project configuration starts. */
  start: string;
}

/** The error of a path that does not exist. */
export function noSuchPath(argument: string, cwd: string): CliError {
  return new CliError("usage", `no such file or folder: ${argument}`, {
    hints: [
      // Editors and chat programs make it of two hyphens.
      /^[\u2010-\u2015]/.test(argument)
        ? "it begins with a long dash: type two hyphens for a flag"
        : /^[\u2018-\u201f\u00ab\u00bb]/.test(argument)
          ? `the shell does not know the quotation mark ${argument.slice(0, 1)}: type " or ' instead`
          : /^[a-z][a-z\d+.-]*:\/\//i.test(argument)
            ? "an upload reads files of this machine: get the pages first, for example with git clone, and name their folder"
            : / --[a-z]/.test(argument)
              ? "its quotes hold a flag as well: close them after the path"
              : `paths are relative to ${cwd}`,
    ],
  });
}

/**
 * The absolute path of an argument. For a glob: the existing folders where its search starts. Does
 * not resolve links.
 */
function pathsOf(argument: string, { cwd, mayBeRemoved }: RootRequest): string[] {
  const path = resolve(cwd, argument);
  if (realPath(path) !== undefined) return [path];
  const glob = withSlashes(argument);
  if (isGlob(glob)) {
    // Checked before the split, because the split expands the glob.
    checkPattern(glob, "path");
    const bases = splitGlob(glob).map(({ base }) => resolve(cwd, base));
    const present = [...new Set(bases)].filter((base) => realPath(base) !== undefined);
    if (present.length > 0) return present;
  } else if (mayBeRemoved) return [path];
  throw noSuchPath(argument, cwd);
}

/**
 * The real folder where the search upward from a path starts. A link in the working directory or
 * in a project is not followed; the search starts in the folder of the link. Otherwise a link in
 * a checkout could select another project and upload its files.
 */
function startOf(path: string, { cwd, markOf }: RootRequest): string {
  const isBelow = relativeTo(cwd, path) !== undefined;
  let at = isBelow ? cwd : parse(path).root;
  const segments = relative(at, path).split(sep);
  for (const segment of segments.filter((name) => name !== "")) {
    const next = join(at, segment);
    const stats = lstatSync(next, { throwIfNoEntry: false });
    if (!stats) return at;
    if (stats.isDirectory()) {
      at = next;
      continue;
    }
    if (!stats.isSymbolicLink()) return at;
    if (isBelow || markOf(at)) return at;
    const target = realPath(next);
    if (target === undefined) return at;
    at = statSync(target).isDirectory() ? target : dirname(target);
  }
  return at;
}

/** The deepest folder that contains all of these absolute folders. */
function commonFolder(folders: readonly string[]): string | undefined {
  let [common = ""] = folders;
  for (const folder of folders) {
    while (relativeTo(common, folder) === undefined) {
      if (dirname(common) === common) return undefined;
      common = dirname(common);
    }
  }
  return common;
}

function explicitFolder(path: string, cwd: string): string {
  const real = realPath(resolve(cwd, path));
  if (real !== undefined && statSync(real).isDirectory()) return real;
  throw new CliError("usage", `the project root is not a folder: ${path}`, {
    hints: ["name an existing folder with --root"],
  });
}

interface Start {
  argument: string;
  path: string;
  folder: string;
}

function listStarts(request: RootRequest): Start[] {
  const { paths } = request;
  const known = new Map<string, string>();
  return (paths.length > 0 ? paths : ["."]).flatMap((argument) =>
    pathsOf(argument, request).map((path) => {
      const folder = known.get(path) ?? startOf(path, request);
      known.set(path, folder);
      return { argument, path, folder };
    }),
  );
}

const rootsShown = 5;

function differentRoots(roots: ReadonlyMap<string | undefined, string>): CliError {
  const lines = [...roots].map(([root, argument]) =>
    root === undefined ? `${argument}: no project root found` : `${argument}: ${root}`,
  );
  return new CliError("usage", "the paths have different project roots", {
    details: lines.slice(0, rootsShown),
    hints: [
      "upload each path separately, with its own root: knowctl ingest PATH --root DIR",
      "or upload a common folder and exclude the other root: --exclude PATTERN",
    ],
  });
}

function unmarkedRoot(starts: readonly Start[], cwd: string): string {
  if (starts.every(({ path }) => relativeTo(cwd, path) !== undefined)) return cwd;
  const common = commonFolder(starts.map(({ folder }) => folder));
  if (common !== undefined) return common;
  throw new CliError("usage", "the paths have no common folder", {
    hints: ["upload each path separately"],
  });
}

/**
 * Finds the project root. Ids and the state are relative to it. The order is: `explicitRoot`; the
 * folder at or above every path that a project configuration, a state or git marks; the working
 * directory if it contains all paths; the deepest common folder of the paths. The decision is made
 * before links are resolved. Throws CliError `usage` when a path or the root does not exist, and
 * for paths with different roots.
 */
export function findRoot(request: RootRequest): ProjectRoot {
  const cwd = realPath(request.cwd);
  if (cwd === undefined) throw noSuchPath(".", request.cwd);
  const { explicitRoot } = request;
  const starts = listStarts({ ...request, cwd });
  const start = starts[0]?.folder ?? cwd;
  if (explicitRoot !== undefined) {
    return { folder: explicitFolder(explicitRoot, cwd), mark: "flag", start };
  }
  const roots = new Map<string | undefined, string>();
  for (const { argument, folder } of starts) {
    const root = request.markOf(folder)?.folder;
    if (!roots.has(root)) roots.set(root, argument);
  }
  if (roots.size > 1) throw differentRoots(roots);
  const mark = request.markOf(start);
  const folder = mark?.folder ?? unmarkedRoot(starts, cwd);
  return { folder: realPath(folder) ?? folder, mark: mark?.kind, start };
}
