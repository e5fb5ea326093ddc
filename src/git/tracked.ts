import { lstatSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { CliError, codeOf, fileProblem } from "../errors.ts";
import { namesInIndex } from "./index-file.ts";

/** A file that git tracks. */
export interface TrackedFile {
  /** Top folder of the repository. */
  top: string;
  /** Path from `top`, as git has it. */
  name: string;
}

/** The real path of a folder, of which the last parts may be missing. */
function realPlace(folder: string): string {
  try {
    return realpathSync.native(folder);
  } catch {
    const above = dirname(folder);
    return above === folder ? folder : join(realPlace(above), basename(folder));
  }
}

/** The git folder of the work tree with this top folder: `.git`, or where the file `.git` leads. */
function gitFolderOf(top: string): string | undefined {
  const path = join(top, ".git");
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined || stats.isDirectory()) return stats && path;
    if (!stats.isFile() || stats.size > 65_536) return undefined;
    const target = /^gitdir: (.+?)\r?\n?$/s.exec(readFileSync(path, "utf8"))?.[1];
    return target === undefined ? undefined : resolve(top, target);
  } catch {
    return undefined;
  }
}

// A file system may take both spellings for one file.
const fold = (name: string): string => name.normalize("NFC").toLowerCase();

function unreadable(index: string, error: unknown): CliError {
  const code = codeOf(error);
  const why = code === undefined ? "it is damaged, or of an unknown form" : fileProblem(code);
  return new CliError("local", `cannot tell whether git tracks the state: ${index}: ${why}`, {
    hints: [
      "run `git status` there to see what is wrong; `git update-index --no-split-index` writes the index anew",
    ],
    cause: error,
  });
}

/**
 * The first of the files `names` in `folder` that a repository around it tracks, whatever their
 * case. Looks into every repository upward: `.git` may be a file, as in submodules and worktrees,
 * and a folder `.git` may be empty. Throws CliError `local` for an index that cannot be read.
 */
export function findTracked(folder: string, names: readonly string[]): TrackedFile | undefined {
  const real = realPlace(folder);
  const lastBytes = new Set(
    names.flatMap((name) => [...Buffer.from(name.slice(-1) + name.slice(-1).toUpperCase())]),
  );
  for (let top = real; ; top = dirname(top)) {
    const git = gitFolderOf(top);
    const index = git === undefined ? undefined : join(git, "index");
    if (git !== undefined && index !== undefined && isThere(index)) {
      const prefix = relative(top, real).split(sep).filter(Boolean).join("/");
      const wanted = new Set(names.map((name) => fold(prefix === "" ? name : `${prefix}/${name}`)));
      const has = (name: string): boolean => wanted.has(fold(name));
      try {
        const [found] = namesInIndex(index, (id) => join(git, `sharedindex.${id}`), {
          lastBytes,
          has,
        });
        if (found !== undefined) return { top, name: found };
      } catch (error) {
        throw unreadable(index, error);
      }
    }
    if (dirname(top) === top) return undefined;
  }
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
