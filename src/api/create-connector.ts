import * as z from "zod/mini";
import { ApiError, CliError } from "../errors.ts";
import { callTo } from "./call.ts";
import type { Client } from "./client.ts";
import { shorten } from "./answers/words.ts";
import type { IdentifiedConnector } from "./schemas.ts";

/** The source type of connectors that only ingestion fills. */
export const ingestionSource = "ingestion_api";

export interface NewConnector {
  name: string;
  accessType: "public" | "private";
  /** Ids of the groups that may see its documents. */
  groups: readonly number[];
}

// If the pair exists already, `success` is false and `data` is the id of the connector.
const CreatedPair = z.looseObject({
  success: z.boolean(),
  message: z.optional(z.nullable(z.string())),
  data: z.optional(z.nullable(z.int())),
});

/** Whether the interface can create connectors. */
export function canCreateConnectors({ dialect }: Client): boolean {
  return dialect.paths.createConnector !== undefined;
}

/**
 * Creates a connector for ingestion with an empty credential, and returns the
 * cc_pair_id of both. One request creates everything (observed-service.md 4.3): with
 * three requests, a failure would leave a connector without a pair, which no listing
 * shows and whose name is taken. Throws ApiError, also if the service reports no success.
 */
export async function createConnector(
  client: Client,
  { name, accessType, groups }: NewConnector,
): Promise<number> {
  const path = client.dialect.paths.createConnector;
  if (path === undefined) throw new CliError("not-found", "this dialect cannot create connectors");
  const body = {
    name,
    source: ingestionSource,
    input_type: "load_state",
    connector_specific_config: {},
    refresh_freq: null,
    prune_freq: null,
    indexing_start: null,
    access_type: accessType,
    groups,
  };
  const call = callTo("create connector", "POST", path, body);
  const created = await client.call({ ...call, policy: "create" }, CreatedPair);
  if (created.success && typeof created.data === "number") return created.data;
  const url = client.url(path);
  const words = shorten(created.message?.trim() || "no reason given", 300);
  throw new ApiError("server-error", `create connector: POST ${url}: not created: ${words}`, {
    method: "POST",
    url,
    status: 200,
  });
}

/**
 * Removes a pair that was just created, with its connector: the service removes only a paused one, and
 * in the background. Throws ApiError, and CliError `not-found` if the interface cannot.
 */
export async function removePair(
  client: Client,
  { cc_pair_id: id, connector, credential }: IdentifiedConnector,
): Promise<void> {
  const { pairState, removePair: path } = client.dialect.paths;
  if (!pairState || path === undefined || !connector || !credential) {
    throw new CliError("not-found", "this dialect cannot remove connectors");
  }
  const send = (what: string, method: "PUT" | "POST", to: string, body: object) =>
    client.call({ ...callTo(what, method, to, body), policy: "remove" }, z.unknown());
  await send("pause the pair", "PUT", pairState(id), { status: "PAUSED" });
  const ids = { connector_id: connector.id, credential_id: credential.id };
  await send("remove the pair", "POST", path, ids);
}
