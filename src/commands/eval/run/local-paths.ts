import { join } from "node:path";
import type { RetrievedDocument } from "../../../checks/eval/result.ts";
import { stateName } from "../../../config/find/project-mark.ts";
import { ownerRules } from "../../../config/values/given.ts";
import type { Context } from "../../../context.ts";
import { findLocalFiles } from "../../../sync/orphans/local-files.ts";
import type { Connected } from "../../connect.ts";
import type { Project } from "./folder.ts";

/** Adds the local file to each document where the state or the suite knows it. */
export type AddPaths = (documents: readonly RetrievedDocument[]) => Promise<RetrievedDocument[]>;

/**
 * Creates the look-up of local files. `known` has the files of documents that the suite names, by
 * the id that the service stores; other ids are looked up in the state below `root`, each once.
 */
export function createAddPaths(
  context: Context,
  { client, connection }: Connected,
  { root, known }: Pick<Project, "root" | "known">,
): AddPaths {
  const paths = new Map<string, string | null>(known);
  const owner = ownerRules(context);
  const { storedId } = client.dialect;
  return async (documents) => {
    const ids = documents.flatMap(({ id }) => (id === null || paths.has(id) ? [] : [id]));
    if (ids.length > 0) {
      const search = { baseUrl: connection.baseUrl, ids, storedId, owner };
      const found = await findLocalFiles(join(root, stateName), search);
      for (const id of ids) paths.set(id, found.get(id) ?? null);
    }
    return documents.map((each) => ({
      ...each,
      path: each.path ?? (each.id === null ? null : (paths.get(each.id) ?? null)),
    }));
  };
}
