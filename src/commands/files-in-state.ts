import { ownerRules } from "../config/values/given.ts";
import type { GlobalFlags } from "../config/global-flags.ts";
import type { Context } from "../context.ts";
import { findTracked } from "../git/tracked.ts";
import { type StateRules, namedStateFolder } from "../sync/state/file/state-folder.ts";
import { join } from "node:path";
import { stateName } from "../config/find/places.ts";
import type { Output } from "../output/terminal/output.ts";
import { findLocalFiles, findSentIds, type RecordPlace } from "../sync/state/look-ups.ts";
import type { Connected } from "./connect.ts";
import { findProjectRoot } from "./project-root.ts";

/** Which states a command uses: those of this user that git does not track. */
export function stateRules(context: Pick<Context, "uid" | "env">): StateRules {
  const asked = new Map<string, ReturnType<typeof findTracked>>();
  return {
    ...ownerRules(context),
    findTracked(folder, names) {
      // A command opens its state in several steps; the index of a large repository is read once.
      if (!asked.has(folder)) asked.set(folder, findTracked(folder, names));
      return asked.get(folder);
    },
  };
}

const told = new WeakSet<Output>();

/** The flag of commands that name local files, see addStateOption(). */
export interface StateFlag {
  state?: string | undefined;
}

type Service = Pick<Connected, "client" | "connection" | "output">;

/** What `find` reads in the state of the project `root`, or that of `--state`; `refused`: why it can read nothing. */
async function fromState<Found>(
  context: Pick<Context, "uid" | "env" | "cwd">,
  { root, state }: StateFlag & { root: string },
  { connection }: Service,
  find: (place: RecordPlace) => Promise<Found>,
): Promise<{ found: Found; refused: string | undefined }> {
  let refused: string | undefined;
  const found = await find({
    folder: state === undefined ? join(root, stateName) : namedStateFolder(context.cwd, state),
    baseUrl: connection.baseUrl,
    rules: stateRules(context),
    onRefused: (reason) => void (refused = reason),
  });
  return { found, refused };
}

/**
 * The files of documents, by the ids that the service stores; paths are relative to the project root.
 * Empty without a state, and, with one warning, if it must not be used or cannot be read.
 */
export async function filesInState(
  context: Pick<Context, "uid" | "env" | "cwd">,
  place: StateFlag & { root: string },
  service: Service,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const { client, output } = service;
  const { storedId } = client.dialect;
  const { found, refused } = await fromState(context, place, service, (record) =>
    findLocalFiles(record, { ids, storedId }),
  );
  if (refused !== undefined && !told.has(output)) {
    told.add(output);
    await output.warn(`local files are not shown: ${refused}`);
  }
  return found;
}

/**
 * The ids of the documents that were sent of files, by path; empty without a state, and if it must not be
 * used or cannot be read: then `refused` says why.
 */
export async function idsInState(
  context: Pick<Context, "uid" | "env" | "cwd">,
  place: StateFlag & { root: string },
  service: Service,
  paths: readonly string[],
): Promise<{ found: Map<string, string[]>; refused: string | undefined }> {
  return await fromState(context, place, service, (record) => findSentIds(record, paths));
}

/** The recorded files of documents in the project of the working directory, from its root, by document id. */
export async function filesInProject(
  context: Pick<Context, "uid" | "env" | "cwd">,
  flags: Pick<GlobalFlags, "root"> & StateFlag,
  connected: Service,
  ids: readonly string[],
): Promise<{ files: ReadonlyMap<string, string>; root: string; start: string }> {
  try {
    const { folder: root, start } = findProjectRoot(context, [], flags);
    const place = { root, state: flags.state };
    return { files: await filesInState(context, place, connected, ids), root, start };
  } catch {
    // For example an invalid root: the documents are then shown without their files.
    return { files: new Map(), root: "", start: "" };
  }
}
