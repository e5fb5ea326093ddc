/** Look-ups that show what the service did with a document: observed-service.md 11. */
import * as z from "zod/mini";
import { ApiError, CliError } from "../errors.ts";
import type { Shape } from "./answers/words.ts";
import { callTo, type Call } from "./call.ts";
import type { Client } from "./client.ts";

type LookUpOptions = Pick<Call, "gate" | "onHeld" | "attempts">;

/** A path of the dialect. Throws CliError `not-found` where the dialect has none. */
function required(client: Client, path: string | undefined, what: string): string {
  if (path !== undefined) return path;
  throw new CliError("not-found", `the ${client.dialect.name} dialect cannot ${what}`);
}

/** The service's words for a document that the caller cannot see; a missing endpoint has others. */
const unseen = /\b(?:Document|Chunk) not found\b/i;

async function lookUp<T>(
  client: Client,
  what: string,
  path: string,
  shape: Shape<T>,
  options: LookUpOptions,
): Promise<T | undefined> {
  try {
    const call: Call = { ...callTo(what, "GET", path), policy: "lookUp", ...options };
    return await client.call(call, shape);
  } catch (error) {
    const isUnseen =
      error instanceof ApiError && error.status === 404 && unseen.test(error.message);
    if (isUnseen) return undefined;
    throw error;
  }
}

// The service counts at most 10,000 chunks (observed-service.md 11.2). Each one costs a request.
const DocumentSize = z.looseObject({
  num_chunks: z.int().check(z.minimum(0), z.maximum(10_000)),
  num_tokens: z.int(),
});
export type DocumentSize = z.infer<typeof DocumentSize>;

/**
 * Number of chunks and tokens of a document, by its stored id. Undefined if the index holds no
 * chunk that the caller may see: not indexed, not yet visible, hidden or not the caller's.
 * Throws ApiError, and CliError `not-found` where the dialect has no such endpoint.
 */
export function findDocumentSize(
  client: Client,
  storedId: string,
  options: LookUpOptions = {},
): Promise<DocumentSize | undefined> {
  const what = "look up a document in the index";
  const path = required(client, client.dialect.paths.documentSize?.(storedId), what);
  return lookUp(client, what, path, DocumentSize, options);
}

const Chunk = z.looseObject({ content: z.string(), num_tokens: z.int() });
export type Chunk = z.infer<typeof Chunk>;

/**
 * One chunk of a document, numbered from 0: its text without title, metadata and added context.
 * Undefined beyond the last chunk, and as for findDocumentSize(). Throws as that.
 */
export function findChunk(
  client: Client,
  storedId: string,
  number: number,
  options: LookUpOptions = {},
): Promise<Chunk | undefined> {
  const what = "read a chunk of the index";
  const path = required(client, client.dialect.paths.documentChunk?.(storedId, number), what);
  return lookUp(client, what, path, Chunk, options);
}
