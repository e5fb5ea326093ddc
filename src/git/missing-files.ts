import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Repository } from "./repository.ts";
import { streamGit, type RunOptions } from "./run.ts";

// `git ls-files -s -t`: a tag (S: left out by a sparse checkout), mode, object, stage and name.
const listedEntry = /^(\S) (\d+) \S+ \d\t([^]*)$/;
const submoduleMode = "160000";

function isEmptyFolder(path: string): boolean {
  try {
    return readdirSync(path).length === 0;
  } catch {
    return true;
  }
}

/**
 * The first tracked file below the project root that the work tree lacks: it was deleted without a
 * commit, a sparse checkout leaves it out, or it is a submodule that was not fetched. Undefined
 * for a complete checkout. Throws CliError `usage` when git fails.
 */
export async function findMissingFile(
  { root, git }: Repository,
  options: RunOptions = {},
): Promise<string | undefined> {
  for await (const entries of streamGit(git, ["ls-files", "-s", "-t", "-z"], options)) {
    for (const entry of entries) {
      const [, tag, mode, name = ""] = listedEntry.exec(entry) ?? [];
      if (tag === "S") return name;
      if (mode === submoduleMode && isEmptyFolder(join(root, name))) return name;
    }
  }
  for await (const [name] of streamGit(git, ["ls-files", "-d", "-z"], options)) return name;
  return undefined;
}
