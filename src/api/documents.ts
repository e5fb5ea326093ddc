import type { Client } from "./client.ts";
import type { Gate } from "./gate.ts";
import { IngestionResult } from "./schemas.ts";

/**
 * Adds or replaces one document. `body` is the JSON of an IngestionRequest whose
 * document has an id, which makes sending it again harmless. Throws ApiError, or
 * the gate's reason when the run has been stopped.
 */
export async function upsertDocument(
  client: Client,
  body: string,
  options: { gate?: Gate } = {},
): Promise<IngestionResult> {
  return client.call(
    {
      what: "upload",
      policy: "upsert",
      method: "POST",
      path: client.dialect.paths.ingestion,
      key: "apiKey",
      body: Buffer.from(body),
      contentType: "application/json",
      gate: options.gate,
    },
    IngestionResult,
  );
}
