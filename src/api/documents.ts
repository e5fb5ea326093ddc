import { anything } from "./answers/words.ts";
import { ApiError, CliError } from "../errors.ts";
import type { Call } from "./call.ts";
import type { Client } from "./client.ts";
import type { Gate } from "./retry/gate.ts";
import { parseHttpDate } from "./retry/timing.ts";
import { IngestionResult } from "./schemas.ts";
import { header } from "./transport/headers.ts";

/** An accepted document. */
export type Accepted = IngestionResult & {
  /** Time of the response by its `Date`; undefined without one. */
  answeredAtMs: number | undefined;
};

/**
 * Adds or replaces one document. `body` is the JSON of an IngestionRequest, as text or as
 * UTF-8 bytes, which must not change before the promise settles. The document has an id,
 * so a retry is harmless. Throws ApiError, or the gate's reason if the run was stopped.
 */
export function upsertDocument(
  client: Client,
  body: string | Uint8Array,
  options: Pick<Call, "gate" | "onHeld" | "onFailure" | "spentMs"> = {},
): Promise<Accepted> {
  let answeredAtMs: number | undefined;
  const answer = client.call(
    {
      what: "upload",
      policy: "upsert",
      method: "POST",
      path: client.dialect.paths.ingestion,
      key: "apiKey",
      body: typeof body === "string" ? Buffer.from(body) : body,
      contentType: "application/json",
      gate: options.gate,
      onHeld: options.onHeld,
      onFailure: options.onFailure,
      spentMs: options.spentMs,
      onHeaders: (headers) => {
        answeredAtMs = parseHttpDate(header(headers, "date") ?? "");
      },
    },
    IngestionResult,
  );
  return answer.then((result) => ({ ...result, answeredAtMs }));
}

/**
 * Deletes one ingested document. `storedId` is the id under which the service stores it.
 * Returns false if the service reports that it has no such document. Any other 404 is an
 * error: a missing endpoint proves nothing about the document. Throws ApiError, CliError
 * `usage` where the dialect cannot delete.
 */
export async function deleteDocument(
  client: Client,
  storedId: string,
  options: { gate?: Gate } = {},
): Promise<boolean> {
  const path = client.dialect.paths.ingestedDocument?.(storedId);
  if (path === undefined) throw new CliError("usage", "this service cannot delete documents");
  try {
    await client.call(
      {
        what: "delete",
        policy: "remove",
        method: "DELETE",
        path,
        key: "apiKey",
        gate: options.gate,
      },
      anything,
    );
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.code === "DOCUMENT_NOT_FOUND") return false;
    throw error;
  }
}
