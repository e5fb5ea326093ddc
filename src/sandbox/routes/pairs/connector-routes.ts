import * as z from "zod/mini";
import type { PairRecord } from "../../../api/schemas.ts";
import { adminCaller, type Caller } from "../../store/access.ts";
import type { Call } from "../../http/call.ts";
import type { Clock } from "../../clock.ts";
import type { Groups } from "../../store/groups.ts";
import type { Pairs } from "../../store/pairs/pairs.ts";
import { detail, json, problem, Refusal, type Reply } from "../../http/reply.ts";
import type { Route } from "../../http/routes.ts";
import { sourceNames } from "../../store/pairs/sources.ts";
import { laxInteger, parseBody } from "../../http/validation.ts";

const object = z.record(z.string(), z.unknown());
const accessTypes = z.enum(["public", "private", "sync"]);
const frequency = z.optional(z.nullable(laxInteger));
const groups = z.optional(z.array(laxInteger));

const NewConnector = z.object({
  name: z.string(),
  source: z.enum([...sourceNames]),
  input_type: z.enum(["load_state", "poll", "event", "slim_retrieval"]),
  connector_specific_config: object,
  refresh_freq: frequency,
  prune_freq: frequency,
  indexing_start: z.optional(z.nullable(z.string())),
  access_type: accessTypes,
  groups,
});
const NewCredential = z.object({
  credential_json: object,
  admin_public: z.boolean(),
  source: z.string(),
  name: z.optional(z.nullable(z.string())),
  curator_public: z.optional(z.boolean()),
});
const NewPair = z.object({ name: z.string(), access_type: accessTypes, groups });

const owner = { user_id: adminCaller.id, user_email: adminCaller.email };

interface CreateOptions {
  pairs: Pairs;
  groups: Groups;
  clock: Clock;
}

function times(clock: Clock): { time_created: string; time_updated: string } {
  const now = new Date(clock.now()).toISOString();
  return { time_created: now, time_updated: now };
}

function createConnector({ pairs, clock }: CreateOptions, body: z.infer<typeof NewConnector>) {
  if (pairs.hasConnector(body.name, body.source)) {
    throw new Refusal(detail(400, "A connector of this name and source exists already"));
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

function createCredential({ pairs, clock }: CreateOptions, body: z.infer<typeof NewCredential>) {
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
  { pairs, groups: known }: CreateOptions,
  { name, access_type, groups: of = [] }: z.infer<typeof NewPair>,
  parts: Pick<PairRecord, "connector" | "credential">,
  caller: Caller,
): Reply {
  const { connector, credential } = parts;
  // The connector stays: its name is taken, and no listing shows it (observed-service.md 12.7).
  const refused = known.problemWith(caller, of);
  if (refused !== undefined) return problem("onyx", 400, "INVALID_INPUT", refused);
  if (pairs.records.some((pair) => pair.name === name)) {
    pairs.dropConnector(connector.id);
    return problem("onyx", 400, "INVALID_INPUT", "A pair of this name exists already");
  }
  const accessType = access_type;
  const pair = pairs.link({ name, accessType, groups: of, connector, credential });
  return json(200, { success: true, message: "Pair created", data: pair.cc_pair_id });
}

function link(options: CreateOptions, call: Call): Reply {
  const body = parseBody(NewPair, call.json());
  const { pairs } = options;
  const connector = pairs.connector(Number(call.parameters["connector"]));
  const credential = pairs.credential(Number(call.parameters["credential"]));
  // The service's catch-all hides which of the two is missing: observed-service.md 4.3.
  if (!connector || !credential) return problem("onyx", 500, "INTERNAL_ERROR", "Unexpected error");
  const isLinked = pairs.records.some(
    (pair) => pair.connector.id === connector.id && pair.credential.id === credential.id,
  );
  if (!isLinked) return linkNewPair(options, body, { connector, credential }, call.caller);
  return json(200, { success: false, message: "Linked already", data: connector.id });
}

function createAll(options: CreateOptions, call: Call): Reply {
  const body = parseBody(NewConnector, call.json());
  const connector = createConnector(options, body);
  const credential = createCredential(options, {
    credential_json: {},
    admin_public: true,
    source: body.source,
  });
  return linkNewPair(options, body, { connector, credential }, call.caller);
}

/** Creation of an ingestion connector, with three requests or one: observed-service.md 4.3. */
export function connectorRoutes(options: CreateOptions): Route[] {
  const onyx = { dialect: "onyx", bodyLimit: 1024 * 1024 } as const;
  const post = { ...onyx, method: "POST" };
  return [
    {
      ...post,
      path: "/api/manage/admin/connector",
      handle(call) {
        const { id } = createConnector(options, parseBody(NewConnector, call.json()));
        return json(200, { id, credential: null });
      },
    },
    {
      ...post,
      path: "/api/manage/credential",
      handle(call) {
        const credential = createCredential(options, parseBody(NewCredential, call.json()));
        return json(200, { id: credential.id, credential });
      },
    },
    {
      ...onyx,
      method: "PUT",
      path: "/api/manage/connector/:connector/credential/:credential",
      handle: (call) => link(options, call),
    },
    {
      ...post,
      path: "/api/manage/admin/connector-with-mock-credential",
      handle: (call) => createAll(options, call),
    },
  ];
}
