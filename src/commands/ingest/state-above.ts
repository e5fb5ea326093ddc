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
 * Warns at the first upload from a root below a folder with a state, e.g. after `git init` in a
 * subfolder or with `--root`. Files uploaded from the upper folder would get a second document.
 */
export async function warnOfStateAbove({ output, source, state }: Session): Promise<void> {
  if (state.countFiles(1) > 0) return;
  const { root } = source.settings;
  const above = folderWithState(root);
  if (above === undefined) return;
  await output.warn(
    `the project root is ${root}, but the folder ${above} above it contains a state: files uploaded from there get other ids here, so the service stores them twice; to keep their ids, use --root ${above}`,
  );
}
