import * as z from "zod/mini";
import { ApiError } from "../errors.ts";
import { chatBody, type ChatParameters } from "./chat-body.ts";
import type { Call, Client } from "./client.ts";
import { readFault } from "./faults.ts";
import { StreamTooLargeError } from "./lines.ts";
import { parseStreamLine } from "./packets.ts";
import { deepResearchIdleMs, streamLineBytes } from "./policy.ts";
import { ChatReply, type ChatEvent } from "./chat-schemas.ts";
import { decodeChunks } from "./stream.ts";

export type { ChatParameters } from "./chat-body.ts";

function chatCall(client: Client, parameters: ChatParameters, stream: boolean): Call {
  const body = chatBody(parameters, client.dialect, stream);
  return {
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

/** How much of an answer has come: enough for it to be complete, and what names it. */
interface Progress {
  expected: number;
  ended: number;
  sessionId: string | undefined;
}

function isOfOneModel(details: unknown): boolean {
  if (typeof details !== "object" || details === null || !("model_index" in details)) return false;
  return typeof details.model_index === "number";
}

function follow(progress: Progress, event: ChatEvent): void {
  if (event.kind === "session") progress.sessionId = event.sessionId;
  else if (event.kind === "models") progress.expected = Math.max(1, event.responses.length);
  const isStop = event.kind === "packet" && event.packet.type === "stop";
  if (!isStop && event.kind !== "failure") return;
  // With several models the end of one does not end the others (observed-service.md 2.2).
  const place = event.kind === "packet" ? event.placement : event.failure.details;
  progress.ended = isOfOneModel(place) ? progress.ended + 1 : progress.expected;
}

function cutError(client: Client, progress: Progress, cause: unknown): ApiError {
  const path = client.dialect.paths.chat;
  const known = cause instanceof Error ? readFault(cause, false) : undefined;
  const reason =
    cause instanceof StreamTooLargeError
      ? cause.message
      : (known?.words ?? "the stream ended before its end packet");
  const session = progress.sessionId;
  const may = `the question may have been delivered${session === undefined ? "" : `; session ${session}`}`;
  return new ApiError(
    "incomplete",
    `chat: POST ${client.url(path)}: the answer is cut: ${reason}; ${may}`,
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

function eventsOf(messages: readonly string[], progress: Progress): ChatEvent[] {
  const events: ChatEvent[] = [];
  for (const message of messages) {
    // An end mark of other streaming interfaces, which a gateway may add.
    if (message === "[DONE]") continue;
    const event = parseStreamLine(message);
    follow(progress, event);
    events.push(event);
    if (progress.ended >= progress.expected) break;
  }
  return events;
}

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
): AsyncGenerator<ChatEvent[]> {
  const body = await client
    .open(chatCall(client, parameters, true), streamTypes)
    .catch((error: unknown) => {
      throw explain(error);
    });
  const progress: Progress = { expected: 1, ended: 0, sessionId: parameters.sessionId };
  try {
    for await (const messages of decodeChunks(body, { lineBytes: streamLineBytes })) {
      const events = eventsOf(messages, progress);
      if (events.length > 0) yield events;
      if (progress.ended >= progress.expected) return;
    }
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
export async function askWhole(client: Client, parameters: ChatParameters): Promise<ChatReply> {
  try {
    return await client.call(chatCall(client, parameters, false), ChatReply);
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
