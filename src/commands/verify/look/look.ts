import type { Client } from "../../../api/client.ts";
import { findChunk, findDocumentSize } from "../../../api/evidence.ts";
import type { Gate } from "../../../api/retry/gate.ts";
import {
  compareText,
  type Comparison,
  type SentText,
} from "../../../checks/verify/compare-text.ts";
import type { Facts } from "../../../checks/verify/decide.ts";
import type { Evidence } from "../../../checks/verify/evidence.ts";
import { ApiError, CliError, messageOf } from "../../../errors.ts";
import { countOf } from "../../../output/terminal/progress.ts";

/** What the index shows of one document. */
export interface Look {
  facts: Pick<Facts, "chunks" | "text">;
  evidence: Evidence[];
  /** Only with a compared text. */
  comparison?: Comparison | undefined;
  /** Why a request failed, or why the text was not compared. */
  problem?: string | undefined;
}

export interface Reader {
  client: Client;
  gate: Gate;
  /** Whether the service has answered a look-up: a refusal then concerns one document. */
  hasAnswered?: boolean;
  /** Searches for versions that the service lacks or the key may not use. */
  refusedSearches?: Set<string>;
}

/** Whether an error concerns all documents: a missing endpoint, or a run that was stopped. */
function isFatal(error: unknown, { gate, hasAnswered }: Reader): boolean {
  if (!(error instanceof ApiError) || gate.state().stopped !== undefined) return true;
  if (error.status === 403 && !hasAnswered) return true;
  return error.status === 404 || error.status === 501 || error.status === 401;
}

/** The error of a look-up, as `not-found` where the service has no index to look into. */
export function unableError(error: unknown, more = ""): unknown {
  if (!(error instanceof ApiError) || (error.status !== 404 && error.status !== 501)) return error;
  const message = `the service cannot show what is indexed: ${error.message}${more}`;
  return new CliError("not-found", message, { hints: error.hints, cause: error });
}

const statusOf = (error: unknown): number | null =>
  error instanceof ApiError ? (error.status ?? null) : null;

/** The service counts no further: observed-service.md 11.2. */
const mostCounted = 10_000;

const lengthOf = ({ sections }: SentText): number =>
  sections.reduce((sum, each) => sum + each.length, 0);

/** Of all chunks of one document: a service may answer each of ten thousand slowly. */
const mostMs = 300_000;

async function readChunks(
  { client, gate }: Reader,
  storedId: string,
  sent: SentText,
  count: number,
): Promise<string[] | "slow" | undefined> {
  const chunks: string[] = [];
  const begun = performance.now();
  // A service may have an answer for every number: more chunks than characters prove nothing.
  const end = count >= mostCounted ? lengthOf(sent) : count;
  for (let number = 0; number < end; number++) {
    if (performance.now() - begun > mostMs) return "slow";
    const chunk = await findChunk(client, storedId, number, { gate });
    if (!chunk && number >= count) break;
    if (!chunk) return undefined;
    chunks.push(chunk.content);
  }
  return chunks;
}

const chunksAsked = (count: number): string =>
  `GET /document/chunk-info, chunk ${count === 1 ? "0" : `0 to ${count - 1}`}`;

function provedBy({ verdict, needs, firstLacking, foreign }: Comparison): string {
  const isPlain = Object.keys(needs).length === 0;
  return {
    same: isPlain
      ? "the index holds the text that was sent"
      : "the index holds the text that was sent, if the service cuts its texts so",
    other:
      firstLacking === ""
        ? "the index holds text that was not sent"
        : `the index lacks "${firstLacking}"`,
    more: `the index holds the text that was sent and ${foreign} letters and digits more`,
    unsure: "the index holds this text or one that resembles it",
  }[verdict];
}

/** Compares the chunks of a document that the index has. */
async function lookAtText(
  reader: Reader,
  storedId: string,
  sent: SentText,
  count: number,
): Promise<Look> {
  const request = chunksAsked(count);
  if (count >= mostCounted && lengthOf(sent) < count) {
    const problem = "the index counts more chunks than the text has characters";
    return { facts: { chunks: "some", text: "unread" }, evidence: [], problem };
  }
  try {
    const chunks = await readChunks(reader, storedId, sent, count);
    if (!chunks) {
      const proves = "the document changed while it was read";
      const facts: Look["facts"] = { chunks: "some", text: "unread" };
      return { facts, evidence: [{ request, status: 404, proves }], problem: proves };
    }
    if (chunks === "slow") {
      const problem = `its chunks did not come within ${mostMs / 60_000} minutes`;
      const proves = "nothing: it took too long";
      const facts: Look["facts"] = { chunks: "some", text: "unread" };
      return { facts, evidence: [{ request, status: 200, proves }], problem };
    }
    const comparison = compareText(sent, chunks);
    const evidence = [{ request, status: 200, proves: provedBy(comparison) }];
    return { facts: { chunks: "some", text: comparison.verdict }, evidence, comparison };
  } catch (error) {
    if (isFatal(error, reader) && statusOf(error) !== 404) throw error;
    const problem = messageOf(error);
    const evidence = [{ request, status: statusOf(error), proves: "nothing: it failed" }];
    return { facts: { chunks: "some", text: "unread" }, evidence, problem };
  }
}

const sizeAsked = "GET /document/document-size-info";

/**
 * Asks for the chunks of a document, and compares their text with `sent` if it is given. Throws
 * ApiError when the endpoint is missing, the key is refused, or the run was stopped.
 */
export async function lookAt(
  reader: Reader,
  storedId: string,
  sent: SentText | undefined,
): Promise<Look> {
  let size: { num_chunks: number } | undefined;
  try {
    size = await findDocumentSize(reader.client, storedId, { gate: reader.gate });
    reader.hasAnswered = true;
  } catch (error) {
    if (isFatal(error, reader)) throw unableError(error);
    const status = statusOf(error);
    const chunks = status === 403 ? "refused" : "failed";
    const proves = status === 403 ? "nothing: this key may not ask" : "nothing: it failed";
    const evidence = [{ request: sizeAsked, status, proves }];
    return { facts: { chunks }, evidence, problem: messageOf(error) };
  }
  if (!size || size.num_chunks === 0) {
    const proves = "this key sees no chunk of the document";
    const status = size ? 200 : 404;
    return { facts: { chunks: "none" }, evidence: [{ request: sizeAsked, status, proves }] };
  }
  const proves = `${countOf(size.num_chunks, "chunk")} in the index, for this key`;
  const evidence = [{ request: sizeAsked, status: 200, proves }];
  if (!sent) return { facts: { chunks: "some", text: "unasked" }, evidence };
  const text = await lookAtText(reader, storedId, sent, size.num_chunks);
  return { ...text, evidence: [...evidence, ...text.evidence] };
}
