import * as z from "zod/mini";
import type { PairRecord } from "../../api/schemas.ts";
import type { App } from "../http/call.ts";
import {
  bodyOf,
  laxBoolean,
  laxInteger,
  laxUuid,
  pathInteger,
  problem,
  queryOf,
} from "../http/validation.ts";
import type { Service } from "../service.ts";
import type { DocumentSet } from "../store/pairs/document-sets.ts";

const Selection = z.object({ get_editable: z.optional(laxBoolean) });
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
  const { name, description, cc_pair_ids: pairs, is_public: isPublic } = body;
  // The service also accepts a set of federated connectors alone; the sandbox has none.
  if (pairs.length === 0) {
    throw problem("onyx", 400, "VALIDATION_ERROR", "A document set needs a pair");
  }
  return { name, description, pairs, isPublic, users: body.users ?? [], groups: body.groups ?? [] };
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

/** Document sets: observed-service.md 11.5. */
export function documentSetRoutes(app: App, { documentSets: sets, pairs }: Service): void {
  const path = "/api/manage/admin/document-set";
  const checkKnown = (id: number): void => {
    if (sets.has(id)) return;
    throw problem("onyx", 404, "DOCUMENT_SET_NOT_FOUND", `Document set ${id} not found`);
  };
  app.get("/api/manage/document-set", (c) => {
    const { caller } = c.env;
    const { get_editable } = queryOf(c, Selection);
    const listed = get_editable && !caller.admin ? [] : sets.list(caller);
    return c.json(listed.map((set) => toListed(set, pairs.records, caller.admin)));
  });
  app.post(path, (c) => c.json(sets.add(toSet(bodyOf(c, NewSet)))));
  app.patch(path, (c) => {
    const body = bodyOf(c, ChangedSet);
    checkKnown(body.id);
    sets.replace({ id: body.id, ...toSet(body) });
    return c.json(null);
  });
  app.delete(`${path}/:id`, (c) => {
    const id = pathInteger(c, "id");
    checkKnown(id);
    sets.remove(id);
    return c.json(null);
  });
}
