import * as z from "zod/mini";
import type { PairRecord } from "../../../api/schemas.ts";
import type { Call } from "../../http/call.ts";
import { pathInteger, queryBoolean } from "../../http/query.ts";
import { json, problem, Refusal } from "../../http/reply.ts";
import type { Route } from "../../http/routes.ts";
import { laxBoolean, laxInteger, laxUuid, parseBody } from "../../http/validation.ts";
import type { DocumentSet, DocumentSets } from "../../store/pairs/document-sets.ts";

const users = z.array(laxUuid);
const groups = z.array(laxInteger);
const members = {
  name: z.string(),
  description: z.string(),
  cc_pair_ids: z.array(laxInteger),
  is_public: laxBoolean,
};
const NewSet = z.object({ ...members, users: z.optional(users), groups: z.optional(groups) });
const ChangedSet = z.object({ ...members, id: laxInteger, users, groups });

function toSet(body: z.infer<typeof NewSet>): Omit<DocumentSet, "id"> {
  // The service also accepts a set of federated connectors alone; the sandbox has none.
  if (body.cc_pair_ids.length === 0) {
    throw new Refusal(problem("onyx", 400, "VALIDATION_ERROR", "A document set needs a pair"));
  }
  return {
    name: body.name,
    description: body.description,
    pairs: body.cc_pair_ids,
    isPublic: body.is_public,
    users: body.users ?? [],
    groups: body.groups ?? [],
  };
}

function checkKnown(sets: DocumentSets, id: number): void {
  if (sets.has(id)) return;
  const text = `Document set ${id} not found`;
  throw new Refusal(problem("onyx", 404, "DOCUMENT_SET_NOT_FOUND", text));
}

/** The record of a set in the listing. A change has its effect at once, so every set is up to date. */
function toListed(set: DocumentSet, pairs: readonly PairRecord[], isEditable: boolean) {
  return {
    id: set.id,
    name: set.name,
    description: set.description,
    cc_pair_summaries: pairs
      .filter((pair) => set.pairs.includes(pair.cc_pair_id))
      .map((pair) => ({
        id: pair.cc_pair_id,
        name: pair.name ?? "",
        source: pair.connector.source,
        access_type: pair.access_type,
      })),
    is_up_to_date: true,
    is_public: set.isPublic,
    users: set.users,
    groups: set.groups,
    permissions: isEditable ? { edit: true, delete: true, publish: true } : {},
    federated_connector_summaries: [],
  };
}

function list(sets: DocumentSets, pairs: readonly PairRecord[], call: Call): unknown[] {
  const { caller } = call;
  if (queryBoolean(call, "get_editable") && !caller.admin) return [];
  return sets.list(caller).map((set) => toListed(set, pairs, caller.admin));
}

/** Document sets: observed-service.md 11.5. */
export function documentSetRoutes(sets: DocumentSets, pairs: readonly PairRecord[]): Route[] {
  const path = "/api/manage/admin/document-set";
  const onyx = { dialect: "onyx", bodyLimit: 1024 * 1024 } as const;
  return [
    {
      ...onyx,
      method: "GET",
      path: "/api/manage/document-set",
      handle: (call) => json(200, list(sets, pairs, call)),
    },
    {
      ...onyx,
      method: "POST",
      path,
      handle: (call) => json(200, sets.add(toSet(parseBody(NewSet, call.json())))),
    },
    {
      ...onyx,
      method: "PATCH",
      path,
      handle(call) {
        const body = parseBody(ChangedSet, call.json());
        checkKnown(sets, body.id);
        sets.replace({ id: body.id, ...toSet(body) });
        return json(200, null);
      },
    },
    {
      ...onyx,
      method: "DELETE",
      path: `${path}/:id`,
      handle(call) {
        const id = pathInteger(call, "id");
        checkKnown(sets, id);
        sets.remove(id);
        return json(200, null);
      },
    },
  ];
}
