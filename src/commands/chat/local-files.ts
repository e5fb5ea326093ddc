import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import type { Connected } from "../connect.ts";
import { filesInProject, type StateFlag } from "../files-in-state.ts";

/** Paths below the working directory are relative to it. */
function filesOfTrial(
  cwd: string,
  files: ReadonlyMap<string, string>,
  ids: readonly string[],
): Map<string, string> {
  const found = new Map<string, string>();
  for (const id of ids) {
    const path = files.get(id);
    if (path === undefined) continue;
    const shown = relative(cwd, path);
    found.set(id, shown.startsWith("..") ? path : shown);
  }
  return found;
}

/**
 * Finds the local files of documents, by document id, in the state of the current
 * project, or among those of a trial. Paths are relative to the working directory. Without a project or state the
 * result is empty; a file that no longer exists is left out.
 */
export async function findFiles(
  context: Pick<Context, "cwd" | "env" | "uid" | "trialFiles">,
  flags: GlobalFlags & StateFlag,
  connected: Connected,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { cwd, trialFiles } = context;
  if (trialFiles !== undefined) return filesOfTrial(cwd, trialFiles, ids);
  const { files, root, start } = await filesInProject(context, flags, connected, ids);
  const found = new Map<string, string>();
  for (const [id, path] of files) {
    const full = join(root, path);
    if (existsSync(full)) found.set(id, relative(start, full));
  }
  return found;
}
