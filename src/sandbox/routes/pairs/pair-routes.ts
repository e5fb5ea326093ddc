import * as z from "zod/mini";
import type { PairRecord } from "../../../api/schemas.ts";
import type { Call } from "../../http/call.ts";
import { detail, json, type Reply } from "../../http/reply.ts";
import { onyxGet, type Route } from "../../http/routes.ts";
import { laxInteger, parseBody } from "../../http/validation.ts";
import type { Commits } from "../../store/index/commits.ts";
import type { DocumentStore } from "../../store/documents.ts";
import type { Groups } from "../../store/groups.ts";
import type { Pairs } from "../../store/pairs/pairs.ts";

export interface PairOptions {
  pairs: Pairs;
  groups: Groups;
  documents: DocumentStore;
  commits: Commits;
  /** Statuses that a caller set, by pair. */
  statuses: ReadonlyMap<number, string>;
}

/** Connectors as their own listing shows them: none that only uploads fill. */
function listConnectors({ pairs }: PairOptions): Reply {
  const shown = pairs.records.filter(({ connector }) => connector.source !== "ingestion_api");
  return json(
    200,
    shown.map(({ connector }) => connector),
  );
}

function pairSummary({ cc_pair_id, name, connector, credential, access_type }: PairRecord) {
  return { id: cc_pair_id, name: name ?? "", connector, credential, access_type };
}

/** Members of the administrators' listing of groups: observed-service.md 11.5. */
function listGroups({ groups, pairs }: PairOptions): Reply {
  const listed = groups.all().map((group) => ({
    ...group,
    users: [],
    manager_ids: [],
    cc_pairs: pairs.records.filter((pair) => pair.groups?.includes(group.id)).map(pairSummary),
    document_sets: [],
    personas: [],
    is_up_to_date: true,
    is_up_for_deletion: false,
    incognito_enabled: false,
    permissions: { manage: true },
  }));
  return json(200, listed);
}

const Deletion = z.object({ connector_id: laxInteger, credential_id: laxInteger });

/** Removes a paused pair and its documents at once; the service does it in the background. */
async function deletePair(options: PairOptions, call: Call): Promise<Reply> {
  const { connector_id, credential_id } = parseBody(Deletion, call.json());
  const { pairs, documents, statuses, commits } = options;
  const named = `Connector with ID '${connector_id}' and credential ID '${credential_id}'`;
  const pair = pairs.records.find(
    ({ connector, credential }) => connector.id === connector_id && credential.id === credential_id,
  );
  if (!pair) return detail(404, `${named} does not exist. Has it already been deleted?`);
  const id = pair.cc_pair_id;
  if (statuses.get(id) !== "PAUSED") {
    return detail(400, `${named} is not deletable. Connector must be paused.`);
  }
  await commits.submit(() => {
    // A document that stands in other pairs as well stays.
    for (const { id: document, pairs: all } of documents.list({ pair: id })) {
      if (all.length === 1) documents.remove(document);
    }
    pairs.remove(id);
  });
  return json(200, null);
}

/** Listings of connectors and groups, and the removal of a pair: observed-service.md 4.3, 11.5, 12.16. */
export function pairRoutes(options: PairOptions): Route[] {
  return [
    onyxGet("/api/manage/connector", () => listConnectors(options)),
    onyxGet("/api/manage/admin/user-group", () => listGroups(options)),
    {
      dialect: "onyx",
      method: "POST",
      path: "/api/manage/admin/deletion-attempt",
      bodyLimit: 1024 * 1024,
      handle: (call) => deletePair(options, call),
    },
  ];
}
