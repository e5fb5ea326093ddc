import { ApiError } from "../../errors.ts";
import type { ChatEvent } from "../chat-schemas.ts";
import {
  followMessages,
  foreignWords,
  isEnded,
  startProgress,
  type Progress,
} from "./chat-stream.ts";
import type { Gate } from "../retry/gate.ts";
import type { Call, Client } from "../client.ts";
import { readFault } from "../transport/faults.ts";
import { StreamTooLargeError } from "./lines.ts";
import { streamLineBytes } from "../retry/policy.ts";
import { redactMessages } from "./redact-messages.ts";
import { decodeChunks } from "./stream.ts";

/** Size limits of an answer (defaults in policy.ts), and the gate for its question. */
export interface AnswerLimits {
  /** The gate that all questions of one run share. */
  gate?: Gate | undefined;
  /** Maximum length of a stream line, in bytes; the whole stream may have four times as many. */
  lineBytes?: number | undefined;
}

/** Content types of a chat stream. */
export const streamTypes =
  /^(?:text\/event-stream|application\/(?:[\w.-]+\+)?(?:x-)?(?:json|ndjson|jsonl|jsonlines))\b/i;

function reasonOfCut(cause: unknown): { words: string; code?: string | undefined } {
  const known = cause instanceof Error ? readFault(cause, false) : undefined;
  const isTooLarge = cause instanceof StreamTooLargeError || known?.code === "ANSWER_TOO_LARGE";
  const reason =
    cause instanceof StreamTooLargeError
      ? cause.message
      : (known?.words ?? "the stream ended before its end packet");
  return {
    words: reason + (isTooLarge ? " (raise the limit with --max-packet)" : ""),
    code: known?.code,
  };
}

function cutError(client: Client, call: Call, progress: Progress, cause: unknown): ApiError {
  const { words, code } = reasonOfCut(cause);
  const { method } = call;
  const session = progress.sessionId;
  // Only POST asks; resuming an answer does not.
  const asks = method === "POST";
  const may = `; the question may have been delivered${session === undefined ? "" : `; session ${session}`}`;
  const url = client.url(call.path);
  const message = `${call.what}: ${method} ${url}: the answer is cut: ${words}${asks ? may : ""}`;
  const hint = "the service may have continued: check the session before you ask again";
  return new ApiError("incomplete", message, {
    method,
    url,
    code,
    cause,
    hints: asks ? [hint] : [],
  });
}

/** The error of a body that is no chat stream; undefined if it may be a cut stream. */
function foreignError(client: Client, call: Call, progress: Progress): ApiError | undefined {
  const words = foreignWords(progress);
  if (words === undefined) return undefined;
  const { method } = call;
  const url = client.url(call.path);
  return new ApiError("server-error", `${call.what}: ${method} ${url}: 200: ${words}`, {
    method,
    url,
    status: 200,
    hints: ["check the base URL, and any proxy between this machine and the service"],
  });
}

/**
 * The events of one turn from the body that `call` opened, one batch per network chunk.
 * Returns after the end packet, an error line or a whole reply. Throws ApiError
 * `incomplete` if the body ends before that, `server-error` if it holds no line of a chat
 * stream, and the reason of an abort. `sessionId` is the session that the call names.
 */
export async function* followTurn(
  client: Client,
  call: Call,
  body: AsyncGenerator<Uint8Array>,
  { sessionId, lineBytes = streamLineBytes }: AnswerLimits & { sessionId: string | undefined },
): AsyncGenerator<ChatEvent[]> {
  const progress = startProgress(sessionId);
  try {
    yield* followMessages(
      redactMessages(decodeChunks(body, { lineBytes }), client.secrets),
      progress,
    );
    if (isEnded(progress)) return;
  } catch (error) {
    const isCut = error instanceof StreamTooLargeError || readFault(error, false) !== undefined;
    throw isCut ? cutError(client, call, progress, error) : error;
  }
  throw foreignError(client, call, progress) ?? cutError(client, call, progress, undefined);
}
