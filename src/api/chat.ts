import * as z from "zod/mini";
import { ApiError } from "../errors.ts";
import { chatBody, type ChatParameters } from "./chat-body.ts";
import type { Call, Client } from "./client.ts";
import { readFault } from "./faults.ts";
import { StreamTooLargeError } from "./lines.ts";
import { deepResearchIdleMs, streamLineBytes } from "./policy.ts";
import { ChatReply, type ChatEvent } from "./chat-schemas.ts";
import { followMessages, isEnded, type Progress } from "./chat-stream.ts";
import { decodeChunks } from "./stream.ts";

export type { ChatParameters } from "./chat-body.ts";

/** How large an answer may become; what is absent is as policy.ts says. */
export interface AnswerLimits {
  /** Longest line of a stream, in bytes; the whole reply may have four times as many. */
  lineBytes?: number | undefined;
}

const linesPerReply = 4;

function chatCall(
  client: Client,
  parameters: ChatParameters,
  stream: boolean,
  { lineBytes }: AnswerLimits,
): Call {
  const body = chatBody(parameters, client.dialect, stream);
  const mostBytes = lineBytes === undefined ? undefined : lineBytes * (stream ? linesPerReply : 1);
  return {
    responseBytes: mostBytes,
    what: "chat",
    policy: stream ? "chatStream" : "chatWhole",
    method: "POST",
    path: client.dialect.paths.chat,
    key: "accessToken",
    body: Buffer.from(JSON.stringify(body)),
    contentType: "application/json",
    idleMs: body["deep_research"] === true ? deepResearchIdleMs : undefined,
  };
}

function retold(error: ApiError, words: string, hints: readonly string[]): ApiError {
  const { method, url, status, code } = error;
  return new ApiError(error.exit, `${error.message}: ${words}`, {
    method,
    url,
    status,
    code,
    hints,
    cause: error,
  });
}

/** Says what the service's own words for some refusals of a question mean. */
function explain(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  if (error.status === 404 || error.status === 405) {
    return retold(error, "this service has no such endpoint", [
      "chat needs POST /api/chat/send-chat-message; a service that only has /chat/send-message is too old",
      "check the base URL as well",
    ]);
  }
  if (error.status === 400 && error.message.includes("Message ID is required")) {
    return retold(error, "the service could not begin the turn, and does not say why", [
      "check the session, parent message, agent, project, document sets and files that are named",
      "without --no-stream the service tells the reason",
    ]);
  }
  if ((error.status ?? 0) >= 500) {
    return retold(error, "the question may have been taken all the same", [
      "the service may have gone on: look into the session before asking again",
    ]);
  }
  return error;
}

function cutError(client: Client, progress: Progress, cause: unknown): ApiError {
  const path = client.dialect.paths.chat;
  const known = cause instanceof Error ? readFault(cause, false) : undefined;
  const isTooLarge = cause instanceof StreamTooLargeError || known?.code === "ANSWER_TOO_LARGE";
  const reason =
    cause instanceof StreamTooLargeError
      ? cause.message
      : (known?.words ?? "the stream ended before its end packet");
  const remedy = isTooLarge ? " (--max-packet takes more)" : "";
  const session = progress.sessionId;
  const may = `the question may have been delivered${session === undefined ? "" : `; session ${session}`}`;
  return new ApiError(
    "incomplete",
    `chat: POST ${client.url(path)}: the answer is cut: ${reason}${remedy}; ${may}`,
    {
      method: "POST",
      url: client.url(path),
      code: known?.code,
      cause,
      hints: ["the service may have gone on: look into the session before asking again"],
    },
  );
}

const streamTypes =
  /^(?:text\/event-stream|application\/(?:[\w.-]+\+)?(?:x-)?(?:json|ndjson|jsonl|jsonlines))\b/i;

/**
 * Asks and yields the events of the answer, in one batch for each piece that the
 * network brings. Returns after the end packet or an error line (which comes as
 * a `failure` event). Throws ApiError: `incomplete` when the stream is cut, else
 * by kind before it began; the reason of an abort; CliError `usage`. A consumer
 * that stops early ends the request. Never asks twice once anything was sent.
 */
export async function* streamChat(
  client: Client,
  parameters: ChatParameters,
  limits: AnswerLimits = {},
): AsyncGenerator<ChatEvent[]> {
  const body = await client
    .open(chatCall(client, parameters, true, limits), streamTypes)
    .catch((error: unknown) => {
      throw explain(error);
    });
  const progress: Progress = { expected: 1, ended: 0, sessionId: parameters.sessionId };
  try {
    const { lineBytes = streamLineBytes } = limits;
    yield* followMessages(decodeChunks(body, { lineBytes }), progress);
    if (isEnded(progress)) return;
  } catch (error) {
    const isCut = error instanceof StreamTooLargeError || readFault(error, false) !== undefined;
    throw isCut ? cutError(client, progress, error) : error;
  }
  throw cutError(client, progress, undefined);
}

/**
 * Asks and waits for the whole reply. A reply whose `error_msg` is not null is a
 * turn that failed although the status was 200; its text may be partial. Throws
 * as streamChat does.
 */
export async function askWhole(
  client: Client,
  parameters: ChatParameters,
  limits: AnswerLimits = {},
): Promise<ChatReply> {
  try {
    return await client.call(chatCall(client, parameters, false, limits), ChatReply);
  } catch (error) {
    throw explain(error);
  }
}

/**
 * Tells the service to stop answering in a session, where the dialect can. Works
 * after the client's signal was aborted, waits at most `withinMs`, and never
 * throws: it is a courtesy.
 */
export async function stopChat(client: Client, sessionId: string, withinMs = 2000): Promise<void> {
  const path = client.dialect.paths.stopChat?.(sessionId);
  if (path === undefined) return;
  const call: Call = {
    what: "stop the answer",
    policy: "list",
    method: "POST",
    path,
    key: "accessToken",
    detachedMs: withinMs,
  };
  await client.call(call, z.unknown()).catch(() => undefined);
}
