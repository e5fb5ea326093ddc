import type { ChatParameters } from "../../../api/chat/chat.ts";
import type { FileDescriptor } from "../../../api/schemas.ts";
import type { StoredMessage, StoredSession } from "../../../api/session-schemas.ts";
import { CliError } from "../../../errors.ts";
import { answerState, branchesOf, turnOfAnswers } from "../../../output/chat/stored/stored.ts";
import { createTurn, hasAnswer, turnsOf, type Turn } from "../../../output/chat/turn/answer.ts";
import type { Piece } from "../../../output/chat/turn/reply.ts";
import { cannotTell } from "../../../output/chat/warnings.ts";
import { writeError } from "../../../output/terminal/errors.ts";
import { dim } from "../../../output/terminal/text.ts";
import { addLocalFiles, ask, rendererOf } from "../ask.ts";
import { createSaver } from "../save.ts";
import { mayStillAnswer, runTurn, type Ending } from "../turn.ts";
import { hint, type Exchange, type Talk, type Work } from "./talk.ts";

/** The place of a question in the session's message tree. */
export interface Place {
  sessionId: string | undefined;
  /** The assistant message to follow; default: the last one that the service knows. */
  parentMessageId?: number | undefined;
  fromRoot?: boolean | undefined;
  /** As `Exchange.after`. */
  after: number | null | undefined;
}

/** The place after the last answer of the session. */
export function nextPlace({ sessionId, parent, last }: Talk): Place {
  return { sessionId, parentMessageId: parent, after: parent ?? last };
}

// The user must know that the service may continue: two questions at once race in a session.
function stoppedNote({ client, sessionId }: Talk, { turn }: Ending): string {
  const kept = turnsOf(turn).some(hasAnswer)
    ? "stopped; the part of the answer that arrived is kept"
    : "stopped before the answer began";
  if (client.dialect.paths.stopChat !== undefined || sessionId === undefined) return kept;
  return `${kept} (this service has no stop request and may continue the answer for a while)`;
}

// One-shot chat hints at command lines; here the next step is a slash command.
export async function writeFailure(talk: Talk, ending: Ending): Promise<void> {
  const { outcome, failure } = ending;
  if (failure === undefined) return;
  if (outcome.status === "interrupted") await hint(talk, stoppedNote(talk, ending));
  else if (outcome.status === "incomplete" || mayStillAnswer(failure)) {
    const { exit, message, details } = failure as CliError;
    const hints = ["/retry looks into the session first, and asks again only if it must"];
    await writeError(talk.output, new CliError(exit, message, { hints, details }));
  } else await writeError(talk.output, failure);
}

const maxExchanges = 500;

function addExchange(talk: Talk, exchange: Exchange, replaces: boolean): void {
  const { turn } = exchange.ending;
  talk.sessionId = turn.sessionId ?? talk.sessionId;
  talk.parent = undefined;
  talk.mayRepeat = false;
  if (turn.messageId !== null) talk.last = turn.messageId;
  if (replaces) talk.exchanges.pop();
  talk.exchanges.push(exchange);
  // Bounds memory: each exchange holds the documents of its answer.
  if (talk.exchanges.length > maxExchanges) talk.exchanges.shift();
}

/**
 * Asks one question and adds its answer to the conversation, also a stopped or failed one.
 * Reports failures. Throws only if the output fails.
 */
export async function askNext(
  talk: Talk,
  { client, signal }: Work,
  question: Pick<ChatParameters, "message" | "fileDescriptors">,
  place: Place,
  replaces = false,
): Promise<void> {
  const { output, settings, memory, save, whole, limits, view } = talk;
  const { after, ...where } = place;
  const parameters = Object.fromEntries(
    Object.entries({ ...settings, ...question, ...where }).filter(([, each]) => each !== undefined),
  ) as unknown as ChatParameters;
  const context = { ...talk.context, signal };
  const saver = save === undefined ? undefined : createSaver(save, output, view.fileUrl);
  const asked = { parameters, whole, limits };
  const ending = await ask(context, { output, client, memory }, asked, view, saver);
  addExchange(talk, { parameters, ending, after }, replaces);
  for (const warning of ending.outcome.warnings) {
    if (talk.warned.has(warning)) continue;
    if (warning.startsWith(cannotTell)) talk.warned.add(warning);
    await output.warn(warning);
  }
  await writeFailure(talk, ending);
  // An empty line separates the answer from the next prompt.
  await output.note();
}

/** Draws an answer to an earlier question of the session. */
export async function drawAnswer(
  talk: Talk,
  { client, signal }: Work,
  sessionId: string | null,
  pieces: AsyncIterable<Piece>,
): Promise<Ending> {
  const { output, view } = talk;
  const turn = { ...createTurn(), sessionId };
  const context = { ...talk.context, signal };
  const renderer = rendererOf(output, view, turn);
  const ending = await runTurn(context, client, pieces, { turn, renderer });
  await output.note();
  return ending;
}

/** Draws a stored answer. */
export async function showAnswer(talk: Talk, work: Work, { ending }: Exchange): Promise<void> {
  const { turn } = ending;
  await addLocalFiles(talk.view, turn);
  async function* stored(): AsyncGenerator<Piece> {
    yield turn;
  }
  await drawAnswer(talk, work, turn.sessionId, stored());
}

const maxQuestionLength = 500;

/** Shows a question and its answer of a continued session. */
export async function showExchange(talk: Talk, work: Work, exchange: Exchange): Promise<void> {
  const { message } = exchange.parameters;
  const question =
    message.length > maxQuestionLength ? `${message.slice(0, maxQuestionLength)}…` : message;
  for (const line of question.split("\n")) await talk.output.note(dim("> ", line));
  if (isAnswered(exchange)) return await showAnswer(talk, work, exchange);
  await hint(talk, "(no complete answer is stored: /retry looks again)");
}

/** Whether the answer is complete. */
export function isAnswered({ ending }: Exchange): boolean {
  return ending.outcome.status === "ok";
}

/** The files of a stored question that can be attached again. */
function filesOf({ files }: StoredMessage): FileDescriptor[] {
  return (files ?? []).flatMap(({ id, name, type, user_file_id }) => {
    if (typeof id !== "string" || typeof type !== "string") return [];
    const named = typeof name === "string" ? { name } : {};
    return [{ id, type, ...named, ...(typeof user_file_id === "string" ? { user_file_id } : {}) }];
  });
}

/** The last question of a session's current branch, with its answer; undefined without a question. */
export function lastExchange(session: StoredSession): Exchange | undefined {
  const line = branchesOf(session)[0]?.messages ?? [];
  const at = line.findLastIndex(({ message_type }) => message_type === "user");
  const question = line[at];
  if (!question) return undefined;
  const answer = line[at + 1];
  const before = line[at - 1];
  const isWhole =
    answer !== undefined && answerState(answer) === "complete" && answer.message.trim() !== "";
  const { chat_session_id: sessionId } = session;
  const turn: Turn = answer
    ? turnOfAnswers(session, answer)
    : { ...createTurn(), sessionId, userMessageId: question.message_id };
  const files = filesOf(question);
  const timings = { firstTextMs: null, totalMs: 0 };
  const status = isWhole ? "ok" : "incomplete";
  return {
    parameters: {
      message: question.message,
      sessionId,
      ...(files.length === 0 ? {} : { fileDescriptors: files }),
    },
    ending: {
      turn,
      outcome: { status, error: null, requestedModel: null, warnings: [], timings },
      failure: undefined,
    },
    after: before?.message_type === "assistant" ? before.message_id : null,
  };
}
