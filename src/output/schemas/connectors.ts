import * as z from "zod/mini";
import { jsonSchemaOf } from "./describe.ts";

const orNull = (schema: z.ZodMiniType, description: string) =>
  z.nullable(schema).check(z.describe(description));
const text = (description: string) => orNull(z.string(), description);
const count = (description: string) => orNull(z.int(), description);

const ConnectorStatus = z.strictObject({
  ccPairId: count("id of the connector/credential pair"),
  name: text("name of the connector"),
  source: text("source type, for example web; ingestion_api for uploads"),
  state: text(
    "indexing during a run, failing after several failed runs, else the service's own word in lower case: scheduled, initial_indexing, active, paused, deleting or invalid",
  ),
  accessType: text("public, private or sync"),
  documents: count("documents that were indexed at least once"),
  errors: count("documents that the runs could not index until now; uploads leave none"),
  lastSuccessAt: text("time of the last successful run; uploads are no runs"),
  lastAttemptAt: text("start of the last run"),
  queue: count("documents whose last change waits for the index; only of named connectors"),
  readers: z.string().check(z.describe("who can read the documents")),
});

const ConnectorError = z.strictObject({
  ccPairId: z.int().check(z.describe("id of the connector/credential pair")),
  id: text("id of the document, or of a larger unit that failed"),
  link: text("address of the document"),
  reason: text("the service's own words"),
  failedAt: text("time of the failure"),
  resolved: orNull(z.boolean(), "whether a later run has indexed the document"),
});

/**
 * JSON Schema (draft 2020-12) of `connectors status --output json`.
 * Saved as `schema/connectors-status.schema.json`.
 */
export function connectorsStatusJsonSchema(): Record<string, unknown> {
  return jsonSchemaOf(
    z.array(ConnectorStatus),
    "knowctl connector status",
    "Output of `knowctl connectors status --output json`; a line of --output ndjson is one item. " +
      "Null: the service does not report it, or there is none. With --watch, a line of ndjson also " +
      "has `event` (listed, added, changed or removed) and `event_time`.",
  );
}

/**
 * JSON Schema (draft 2020-12) of `connectors errors --output json`.
 * Saved as `schema/connectors-errors.schema.json`.
 */
export function connectorsErrorsJsonSchema(): Record<string, unknown> {
  return jsonSchemaOf(
    z.array(ConnectorError),
    "knowctl connector errors",
    "Output of `knowctl connectors errors --output json`; a line of --output ndjson is one item.",
  );
}
