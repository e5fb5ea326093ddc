import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Session } from "./session.ts";

function folderWithState(root: string): string | undefined {
  for (let folder = root; dirname(folder) !== folder;) {
    folder = dirname(folder);
    if (existsSync(join(folder, ".knowctl", "state.db"))) return folder;
  }
  return undefined;
}

/**
 * Warns at the first upload from a root below a folder with a state, as after `git init` in a
 * subfolder or with `--root`: files that were uploaded from there get a second document.
 */
export async function warnOfStateAbove({ output, source, state }: Session): Promise<void> {
  if (state.countFiles(1) > 0) return;
  const { root } = source.settings;
  const above = folderWithState(root);
  if (above === undefined) return;
  await output.warn(
    `the project root is ${root}, and ${above} above it holds a state: files that were uploaded from there get other ids here, so two documents; to keep their ids, give --root ${above}`,
  );
}
