import { join } from "node:path";
import { stateName } from "../config/find/places.ts";
import { namedStateFolder } from "../sync/state/file/state-folder.ts";
import type { Context } from "../context.ts";
import type { Output } from "../output/terminal/output.ts";
import { findLocalFiles } from "../sync/orphans/local-files.ts";
import type { Connected } from "./connect.ts";
import { stateRules } from "./state-rules.ts";

const told = new WeakSet<Output>();

/** The flag of commands that name local files, see addStateOption(). */
export interface StateFlag {
  state?: string | undefined;
}

/**
 * The files of documents, by the ids that the service stores, from the state of the project `root`, or that of `--state`;
 * paths are relative to it. Empty without a state. Warns once of a state that must not be used.
 */
export async function filesInState(
  context: Pick<Context, "uid" | "env" | "cwd">,
  { root, state }: StateFlag & { root: string },
  { client, connection, output }: Pick<Connected, "client" | "connection"> & { output: Output },
  ids: readonly string[],
): Promise<Map<string, string>> {
  let refused: string | undefined;
  const folder = state === undefined ? join(root, stateName) : namedStateFolder(context.cwd, state);
  const files = await findLocalFiles(folder, {
    baseUrl: connection.baseUrl,
    ids,
    storedId: client.dialect.storedId,
    rules: stateRules(context),
    onRefused: (reason) => void (refused = reason),
  });
  if (refused !== undefined && !told.has(output)) {
    told.add(output);
    await output.warn(`local files are not shown: ${refused}`);
  }
  return files;
}
