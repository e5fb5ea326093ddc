import * as z from "zod/mini";
import type { PairRecord } from "../../api/schemas.ts";
import type { Clock } from "../clock.ts";
import type { App, Call } from "../http/call.ts";
import {
  bodyOf,
  detail,
  laxInteger,
  maybe,
  pathInteger,
  problem,
  sourceName,
} from "../http/validation.ts";
import type { Service } from "../service.ts";
import { adminCaller } from "../store/access.ts";

const object = z.record(z.string(), z.unknown());
const accessTypes = z.enum(["public", "private", "sync"]);
const frequency = maybe(laxInteger);
const groups = z.optional(z.array(laxInteger));

const NewConnector = z.object({
  name: z.string(),
  source: sourceName,
  input_type: z.enum(["load_state", "poll", "event", "slim_retrieval"]),
  connector_specific_config: object,
  refresh_freq: frequency,
  prune_freq: frequency,
  indexing_start: maybe(z.string()),
  access_type: accessTypes,
  groups,
});
const NewCredential = z.object({
  credential_json: object,
  admin_public: z.boolean(),
  source: z.string(),
  name: maybe(z.string()),
  curator_public: z.optional(z.boolean()),
});
const NewPair = z.object({ name: z.string(), access_type: accessTypes, groups });

const owner = { user_id: adminCaller.id, user_email: adminCaller.email };

function times(clock: Clock): { time_created: string; time_updated: string } {
  const now = new Date(clock.now()).toISOString();
  return { time_created: now, time_updated: now };
}

function createConnector({ pairs, clock }: Service, body: z.infer<typeof NewConnector>) {
  if (pairs.hasConnector(body.name, body.source)) {
    throw detail(400, "A connector of this name and source exists already");
  }
  const { name, source, input_type, connector_specific_config } = body;
  return pairs.addConnector({
    name,
    source,
    input_type,
    connector_specific_config,
    credential_ids: [],
    ...times(clock),
    refresh_freq: body.refresh_freq ?? null,
    prune_freq: body.prune_freq ?? null,
    indexing_start: body.indexing_start ?? null,
  });
}

function createCredential({ pairs, clock }: Service, body: z.infer<typeof NewCredential>) {
  return pairs.addCredential({
    name: body.name ?? null,
    source: body.source,
    credential_json: body.credential_json,
    admin_public: body.admin_public,
    curator_public: body.curator_public ?? false,
    ...owner,
    groups: [],
    ...times(clock),
  });
}

function linkNewPair(
  { pairs, groups }: Service,
  c: Call,
  { name, access_type, groups: ids = [] }: z.infer<typeof NewPair>,
  { connector, credential }: Pick<PairRecord, "connector" | "credential">,
): Response {
  // The connector stays: its name is taken, and no listing shows it (observed-service.md 12.7).
  const refused = groups.problemWith(c.env.caller, ids);
  if (refused !== undefined) throw problem("onyx", 400, "INVALID_INPUT", refused);
  if (pairs.records.some((pair) => pair.name === name)) {
    pairs.dropConnector(connector.id);
    throw problem("onyx", 400, "INVALID_INPUT", "A pair of this name exists already");
  }
  const pair = pairs.link({ name, connector, credential, access_type, groups: ids });
  return c.json({ success: true, message: "Pair created", data: pair.cc_pair_id });
}

function link(service: Service, c: Call): Response {
  const { pairs } = service;
  const connector = pairs.connector(pathInteger(c, "connector"));
  const credential = pairs.credential(pathInteger(c, "credential"));
  const body = bodyOf(c, NewPair);
  // The service's catch-all hides which of the two is missing: observed-service.md 4.3.
  if (!connector || !credential) throw problem("onyx", 500, "INTERNAL_ERROR", "Unexpected error");
  const isLinked = pairs.records.some(
    (pair) => pair.connector.id === connector.id && pair.credential.id === credential.id,
  );
  if (!isLinked) return linkNewPair(service, c, body, { connector, credential });
  return c.json({ success: false, message: "Linked already", data: connector.id });
}

function createAll(service: Service, c: Call): Response {
  const body = bodyOf(c, NewConnector);
  const connector = createConnector(service, body);
  const shared = { credential_json: {}, admin_public: true, source: body.source };
  const credential = createCredential(service, shared);
  return linkNewPair(service, c, body, { connector, credential });
}

/** Creation of an ingestion connector, with three requests or one: observed-service.md 4.3. */
export function connectorRoutes(app: App, service: Service): void {
  app.post("/api/manage/admin/connector", (c) => {
    const { id } = createConnector(service, bodyOf(c, NewConnector));
    return c.json({ id, credential: null });
  });
  app.post("/api/manage/credential", (c) => {
    const credential = createCredential(service, bodyOf(c, NewCredential));
    return c.json({ id: credential.id, credential });
  });
  app.put("/api/manage/connector/:connector/credential/:credential", (c) => link(service, c));
  app.post("/api/manage/admin/connector-with-mock-credential", (c) => createAll(service, c));
}
