import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import { CliError, codeOf } from "../errors.ts";
import { checkPattern, isGlob, splitGlob } from "./patterns.ts";

/** Windows writes paths with "\"; globs and ids always use "/". */
export function withSlashes(path: string): string {
  return sep === "\\" ? path.replaceAll("\\", "/") : path;
}

/** Root-relative path with "/", "" for the root itself; undefined when outside. Both real paths. */
export function relativeTo(root: string, path: string): string | undefined {
  if (path === root) return "";
  const prefix = root.endsWith(sep) ? root : root + sep;
  return path.startsWith(prefix) ? withSlashes(path.slice(prefix.length)) : undefined;
}

/** Real path; undefined when nothing is there. Throws CliError `usage` for what cannot be resolved. */
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

function folderOf(argument: string, cwd: string): string {
  const path = resolve(cwd, argument);
  const real = realPath(path);
  if (real !== undefined) {
    return statSync(real).isDirectory() ? real : (realPath(dirname(path)) ?? dirname(real));
  }
  const glob = withSlashes(argument);
  if (isGlob(glob)) {
    // Before it is split, which expands it.
    checkPattern(glob, "path");
    const base = realPath(resolve(cwd, splitGlob(glob)[0]?.base ?? "."));
    if (base !== undefined) return base;
  }
  throw new CliError("usage", `no such file or folder: ${argument}`, {
    hints: [`paths are taken relative to ${cwd}`],
  });
}

function gitRootAbove(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    // A file in worktrees and submodules.
    if (existsSync(join(at, ".git"))) return at;
    if (dirname(at) === at) return undefined;
  }
}

/**
 * Project root as an absolute real path: `explicitRoot` (`--root`), else
 * `projectFolder` (where the project configuration was found, upward from the
 * argument), else the git root above the argument, else the argument's folder.
 * `argument` is the first path or glob; undefined stands for `cwd`.
 * Throws CliError `usage` when the argument or the root is not there.
 */
export function findRoot(
  argument: string | undefined,
  cwd: string,
  explicitRoot?: string,
  projectFolder?: string,
): string {
  const named = explicitRoot === undefined ? projectFolder : resolve(cwd, explicitRoot);
  if (named !== undefined) {
    const real = realPath(named);
    if (real === undefined || !statSync(real).isDirectory()) {
      throw new CliError("usage", `the project root is not a folder: ${explicitRoot ?? named}`, {
        hints: ["give an existing folder with --root"],
      });
    }
    return real;
  }
  const folder = folderOf(argument ?? ".", cwd);
  return gitRootAbove(folder) ?? folder;
}

/** Folder where the upward search for the project configuration starts. Throws as findRoot(). */
export function searchFolder(argument: string | undefined, cwd: string): string {
  return folderOf(argument ?? ".", cwd);
}
