import type { RetrievedDocument } from "../../../checks/eval/result.ts";
import type { Context } from "../../../context.ts";
import type { Output } from "../../../output/terminal/output.ts";
import type { Connected } from "../../connect.ts";
import { filesInState, type StateFlag } from "../../files-in-state.ts";
import type { Project } from "./folder.ts";

/** Adds the local file to each document where the state or the suite knows it. */
export type AddPaths = (documents: readonly RetrievedDocument[]) => Promise<RetrievedDocument[]>;

/**
 * Creates the look-up of local files. `known` has the files of documents that the suite names, by
 * the id that the service stores; other ids are looked up in the state, each once.
 */
export function createAddPaths(
  context: Context,
  connected: Connected & { output: Output },
  { root, known, state }: Pick<Project, "root" | "known"> & StateFlag,
): AddPaths {
  const paths = new Map<string, string | null>(known);
  return async (documents) => {
    const ids = documents.flatMap(({ id }) => (id === null || paths.has(id) ? [] : [id]));
    if (ids.length > 0) {
      const found = await filesInState(context, { root, state }, connected, ids);
      for (const id of ids) paths.set(id, found.get(id) ?? null);
    }
    return documents.map((each) => ({
      ...each,
      path: each.path ?? (each.id === null ? null : (paths.get(each.id) ?? null)),
    }));
  };
}
