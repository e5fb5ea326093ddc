import * as z from "zod/mini";
import { ApiError, CliError } from "../errors.ts";
import type { Client } from "./client.ts";
import { shorten } from "./answers/words.ts";

/** The source of connectors that are only filled through ingestion. */
export const ingestionSource = "ingestion_api";

export interface NewConnector {
  name: string;
  accessType: "public" | "private";
  /** Ids of the groups that may see its documents. */
  groups: readonly number[];
}

// When the pair exists already, `success` is false and `data` the id of the connector.
const MadePair = z.looseObject({
  success: z.boolean(),
  message: z.optional(z.nullable(z.string())),
  data: z.optional(z.nullable(z.int())),
});

/** Whether connectors can be made through the interface. */
export function canCreateConnectors({ dialect }: Client): boolean {
  return dialect.paths.createConnector !== undefined;
}

/**
 * Makes a connector for ingestion with an empty credential, and gives the
 * cc_pair_id of the two. One request makes all (observed-service.md 4.3): in three
 * steps a failure would leave a connector without a pair, which no listing shows
 * and whose name is taken. Throws ApiError, also when the service says that it made none.
 */
export async function createConnector(
  client: Client,
  { name, accessType, groups }: NewConnector,
): Promise<number> {
  const path = client.dialect.paths.createConnector;
  if (path === undefined) throw new CliError("not-found", "this interface makes no connectors");
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
  const made = await client.call(
    {
      what: "create connector",
      policy: "create",
      method: "POST",
      path,
      key: "accessToken",
      body: Buffer.from(JSON.stringify(body)),
      contentType: "application/json",
    },
    MadePair,
  );
  if (made.success && typeof made.data === "number") return made.data;
  const url = client.url(path);
  const words = shorten(made.message?.trim() || "no reason given", 300);
  throw new ApiError("server-error", `create connector: POST ${url}: not created: ${words}`, {
    method: "POST",
    url,
    status: 200,
  });
}
