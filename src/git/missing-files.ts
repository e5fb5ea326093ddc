import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { openRepository, type Repository } from "./repository.ts";
import { streamGit, type RunOptions } from "./run.ts";

/** A tracked file that the work tree lacks. */
export interface MissingFile {
  /** Path below the project root. */
  name: string;
  /** `left-out`: a sparse checkout or skip-worktree; `assumed`: git does not look (assume-unchanged). */
  why: "left-out" | "submodule" | "assumed" | "deleted";
}

// `git ls-files -s -v`: a tag (S: left out, lower case: assumed unchanged), mode, object, stage, name.
const listedEntry = /^(\S) (\d+) \S+ \d\t([^]*)$/;
const submoduleMode = "160000";

function isEmptyFolder(path: string): boolean {
  try {
    return readdirSync(path).length === 0;
  } catch {
    return true;
  }
}

function isGone(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return true;
  }
}

/** The first missing file of a submodule that was fetched. */
async function findInSubmodule(
  { root, git }: Repository,
  name: string,
  options: RunOptions,
): Promise<MissingFile | undefined> {
  const inner = await openRepository(join(root, name), git.env, options);
  // A folder with files but without a repository belongs to the one around it.
  if (inner === undefined || inner.prefix !== "") return undefined;
  const missing = await findMissingFile(inner, options);
  return missing && { ...missing, name: `${name}/${missing.name}` };
}

/**
 * The first tracked file below the project root that the work tree lacks although nobody removed it: a
 * sparse checkout leaves it out, git was told not to look at it, or its submodule was not fetched. With
 * `deletions` also a file that was deleted without a commit. Looks into submodules. Undefined for a
 * complete checkout. Throws CliError `usage` when git fails.
 */
export async function findMissingFile(
  repository: Repository,
  options: RunOptions & { deletions?: boolean } = {},
): Promise<MissingFile | undefined> {
  const { root, git } = repository;
  for await (const entries of streamGit(git, ["ls-files", "-s", "-v", "-z"], options)) {
    for (const entry of entries) {
      const [, tag = "", mode, name = ""] = listedEntry.exec(entry) ?? [];
      const place = join(root, name);
      if (mode === submoduleMode) {
        if (isEmptyFolder(place)) return { name, why: "submodule" };
        const inner = await findInSubmodule(repository, name, options);
        if (inner) return inner;
      } else if (tag.toUpperCase() === "S" && isGone(place)) return { name, why: "left-out" };
      else if (tag !== tag.toUpperCase() && isGone(place)) return { name, why: "assumed" };
    }
  }
  if (options.deletions !== true) return undefined;
  for await (const [name = ""] of streamGit(git, ["ls-files", "-d", "-z"], options)) {
    return { name, why: "deleted" };
  }
  return undefined;
}
