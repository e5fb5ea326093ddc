import { ApiError } from "../../errors.ts";
import { chatBody, type ChatParameters } from "./chat-body.ts";
import type { Call, Client } from "../client.ts";
import { deepResearchIdleMs } from "../retry/policy.ts";
import type { ChatEvent, ChatReply } from "../chat-schemas.ts";
import { isStrange } from "./chat-stream.ts";
import { followTurn, streamTypes, type AnswerLimits } from "./follow-turn.ts";
import { anything } from "../answers/shape.ts";

export type { ChatParameters } from "./chat-body.ts";
export type { AnswerLimits } from "./follow-turn.ts";

const linesPerReply = 4;

function chatCall(
  client: Client,
  parameters: ChatParameters,
  stream: boolean,
  { lineBytes, gate }: AnswerLimits,
): Call {
  const body = chatBody(parameters, client.dialect, stream);
  const mostBytes = lineBytes === undefined ? undefined : lineBytes * (stream ? linesPerReply : 1);
  return {
    gate,
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
  const call = chatCall(client, parameters, true, limits);
  const body = await client.open(call, streamTypes).catch((error: unknown) => {
    throw explain(error);
  });
  yield* followTurn(client, call, body, { sessionId: parameters.sessionId, ...limits });
}

/**
 * Asks and waits for the whole reply. A reply whose `error_msg` is not null is a
 * turn that failed although the status was 200; its text may be partial. A service
 * that streams all the same gives the events of streamChat instead. Throws as
 * streamChat does.
 */
export async function askWhole(
  client: Client,
  parameters: ChatParameters,
  limits: AnswerLimits = {},
): Promise<ChatReply | AsyncGenerator<ChatEvent[]>> {
  const call = chatCall(client, parameters, false, limits);
  const body = await client.open(call, streamTypes).catch((error: unknown) => {
    throw explain(error);
  });
  const events = followTurn(client, call, body, { sessionId: parameters.sessionId, ...limits });
  let first = await events.next();
  // A body that holds nothing known fails behind its lines.
  while (!first.done && first.value.every(isStrange)) first = await events.next();
  const reply = first.done ? undefined : first.value.find((event) => event.kind === "reply");
  if (reply === undefined) return resumed(first, events);
  await events.return(undefined);
  return reply.reply;
}

/** Events of which the first batch has been read. */
async function* resumed<Batch>(
  first: IteratorResult<Batch>,
  rest: AsyncGenerator<Batch>,
): AsyncGenerator<Batch> {
  if (first.done) return;
  try {
    yield first.value;
    yield* rest;
  } finally {
    await rest.return(undefined);
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
  await client.call(call, anything).catch(() => undefined);
}
