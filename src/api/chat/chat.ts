import { ApiError, reworded } from "../../errors.ts";
import { chatBody, type ChatParameters } from "./chat-body.ts";
import { callTo, type Call } from "../call.ts";
import type { Client } from "../client.ts";
import { deepResearchIdleMs } from "../retry/policy.ts";
import type { ChatEvent, ChatReply } from "../chat-schemas.ts";
import { isStrange } from "./chat-stream.ts";
import { followTurn, streamTypes, type AnswerLimits } from "./follow-turn.ts";
import { withoutApi } from "../transport/without-api.ts";
import { anything } from "../answers/words.ts";

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
  const responseBytes =
    lineBytes === undefined ? undefined : lineBytes * (stream ? linesPerReply : 1);
  return {
    ...callTo("chat", "POST", client.dialect.paths.chat, body),
    gate,
    responseBytes,
    policy: stream ? "chatStream" : "chatWhole",
    idleMs: body["deep_research"] === true ? deepResearchIdleMs : undefined,
  };
}

function withExplanation(error: ApiError, words: string, hints: readonly string[]): ApiError {
  return reworded(error, `${error.message}: ${words}`, hints);
}

/** Adds an explanation to some refusals of a question. */
function explain(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.code === withoutApi) return error;
  if (error.status === 404 || error.status === 405) {
    return withExplanation(error, "this service has no such endpoint", [
      "chat needs POST /api/chat/send-chat-message; a service that only has /chat/send-message is too old",
      "check the base URL as well",
    ]);
  }
  if (error.status === 400 && error.message.includes("Message ID is required")) {
    return withExplanation(error, "the service could not begin the turn and gives no reason", [
      "check the session, parent message, agent, project, document sets and files of the question",
      "run without --no-stream to get the reason",
    ]);
  }
  if (error.status === 400 && /\bmodel (?:provider|version)\b/i.test(error.message)) {
    return reworded(error, error.message, [
      "check --model PROVIDER/VERSION, the names that the service's administrator gave",
      "without --model the agent's own model answers",
    ]);
  }
  if ((error.status ?? 0) >= 500) {
    return withExplanation(error, "the question may have been accepted nevertheless", [
      "the service may have continued: check the session before you ask again",
    ]);
  }
  return error;
}

/** Asks; returns the events of the answer once it begins. */
async function openTurn(
  client: Client,
  parameters: ChatParameters,
  isStreamed: boolean,
  limits: AnswerLimits,
): Promise<AsyncGenerator<ChatEvent[]>> {
  const call = chatCall(client, parameters, isStreamed, limits);
  const body = await client.open(call, streamTypes).catch((error: unknown) => {
    throw explain(error);
  });
  return followTurn(client, call, body, { sessionId: parameters.sessionId, ...limits });
}

/**
 * Asks and yields the events of the answer, one batch per network chunk. Returns after
 * the end packet or an error line (a `failure` event). Throws ApiError: `incomplete` if
 * the stream is cut, another exit if it fails before the stream begins; the reason of an
 * abort; CliError `usage`. A consumer that stops early ends the request. Never asks again
 * once anything was sent.
 */
export async function* streamChat(
  client: Client,
  parameters: ChatParameters,
  limits: AnswerLimits = {},
): AsyncGenerator<ChatEvent[]> {
  yield* await openTurn(client, parameters, true, limits);
}

/**
 * Asks and waits for the whole reply. If its `error_msg` is not null, the turn failed
 * despite status 200, and its text may be partial. A service that streams anyway gives the
 * events of streamChat instead. Throws as streamChat does.
 */
export async function askWhole(
  client: Client,
  parameters: ChatParameters,
  limits: AnswerLimits = {},
): Promise<ChatReply | AsyncGenerator<ChatEvent[]>> {
  const events = await openTurn(client, parameters, false, limits);
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
 * Asks the service to stop answering in a session, where the dialect can. Works after
 * the client's signal was aborted and waits at most `withinMs`. Best effort: never throws.
 */
export async function stopChat(client: Client, sessionId: string, withinMs = 2000): Promise<void> {
  const path = client.dialect.paths.stopChat?.(sessionId);
  if (path === undefined) return;
  const call = callTo("stop the answer", "POST", path);
  await client.call({ ...call, detachedMs: withinMs }, anything).catch(() => undefined);
}
