import type { ChatParameters } from "../../../api/chat/chat.ts";
import type { FileDescriptor } from "../../../api/schemas.ts";
import type { StoredMessage, StoredSession } from "../../../api/session-schemas.ts";
import { CliError } from "../../../errors.ts";
import { answerState, branchesOf, turnOfAnswers } from "../../../output/chat/stored/stored.ts";
import { createTurn, hasAnswer, turnsOf, type Turn } from "../../../output/chat/turn/answer.ts";
import type { Piece } from "../../../output/chat/turn/reply.ts";
import { cannotTell } from "../../../output/chat/warnings.ts";
import { writeError } from "../../../output/terminal/output.ts";
import { dim } from "../../../output/terminal/text.ts";
import { addLocalFiles, ask, rendererOf } from "../ask.ts";
import { createSaver } from "../save.ts";
import { mayStillAnswer, runTurn, type Ending } from "../turn.ts";
import { hint, type Exchange, type Talk, type Work } from "./talk.ts";
import { readAnswer } from "../session/find-session.ts";

/** The place of a question in the session's message tree. */
interface Place {
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
async function writeFailure(talk: Talk, ending: Ending): Promise<void> {
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
async function drawAnswer(
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
async function showAnswer(talk: Talk, work: Work, { ending }: Exchange): Promise<void> {
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
function isAnswered({ ending }: Exchange): boolean {
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

function lastAsked(talk: Talk): Exchange {
  const last = talk.exchanges.at(-1);
  if (!last) throw new CliError("usage", "nothing has been asked yet");
  if (last !== talk.left) return last;
  throw new CliError("usage", "nothing has been asked in this session yet", {
    hints: ["Up shows the question again"],
  });
}

/**
 * The place of a repeated question: after the same answer, as a sibling of the first
 * attempt. A parent must be an assistant message: with the question itself as the parent,
 * the `onyx` interface drops the sent text (observed-service.md 1.6). So the first question
 * of a session can be repeated there only if the service accepts a null parent as the root;
 * otherwise it begins a new session.
 */
async function placeAgain(talk: Talk, { ending, after }: Exchange): Promise<Place> {
  const sessionId = ending.turn.sessionId ?? undefined;
  if (sessionId === undefined) return { sessionId, after: null };
  if (typeof after === "number") return { sessionId, parentMessageId: after, after };
  if (after === undefined) {
    throw new CliError("usage", "the message before that question is not known", {
      hints: ["this service does not show the messages of a session: type the question again"],
    });
  }
  if (talk.client.dialect.startsAtRoot) return { sessionId, fromRoot: true, after };
  await hint(
    talk,
    "this service cannot repeat the first question of a session: a new session begins",
  );
  return { sessionId: undefined, after };
}

async function askAgain(talk: Talk, work: Work, exchange: Exchange): Promise<void> {
  const { message, fileDescriptors } = exchange.parameters;
  const question = fileDescriptors === undefined ? { message } : { message, fileDescriptors };
  await askNext(talk, work, question, await placeAgain(talk, exchange), true);
}

/** `/regenerate`: another answer to the last question, with the current settings. */
export async function regenerate(talk: Talk, work: Work): Promise<void> {
  const last = lastAsked(talk);
  const { status } = last.ending.outcome;
  if (status === "error" || status === "incomplete") {
    throw new CliError("usage", "the last question has no whole answer yet", {
      hints: ["/retry looks up its state"],
    });
  }
  await askAgain(talk, work, last);
}

/** Whether the service may have stored the question although no answer arrived. */
function mayBeStored({ ending }: Exchange): boolean {
  const { turn, outcome, failure } = ending;
  if (turn.messageId !== null || turn.userMessageId !== null) return true;
  if (outcome.status !== "error") return true;
  return mayStillAnswer(failure);
}

/** Repeats a question whose state is unknown, but only on the second /retry. */
async function repeatUnknown(talk: Talk, work: Work, last: Exchange): Promise<void> {
  if (talk.mayRepeat) return await askAgain(talk, work, last);
  talk.mayRepeat = true;
  await talk.output.note(
    "this service does not report the state of the question: it may have been answered and stored",
  );
  await hint(talk, "/retry once more to ask it again anyway");
}

function isSameQuestion(stored: Exchange | undefined, asked: Exchange): boolean {
  if (stored === undefined) return false;
  const { userMessageId } = asked.ending.turn;
  if (userMessageId !== null) return stored.ending.turn.userMessageId === userMessageId;
  return stored.parameters.message === asked.parameters.message && stored.after === asked.after;
}

function adopt(talk: Talk, exchange: Exchange): void {
  talk.exchanges.splice(-1, 1, exchange);
  talk.last = exchange.ending.turn.messageId ?? talk.last;
}

/**
 * `/retry` after an answer that failed, was cut or stopped: looks it up in the session and
 * reports the result. Sends the question again only if that cannot store it twice, or if
 * the user insists.
 */
export async function retry(talk: Talk, work: Work): Promise<void> {
  const last = lastAsked(talk);
  const { output } = talk;
  const { outcome, turn } = last.ending;
  if (outcome.status === "ok") {
    throw new CliError("usage", "the last answer is complete", {
      hints: ["/regenerate asks for another one"],
    });
  }
  if (!mayBeStored(last)) {
    await hint(talk, "the service did not accept the question: asking again");
    return await askAgain(talk, work, last);
  }
  const { sessionId } = turn;
  if (sessionId === null || work.client.dialect.paths.session === undefined) {
    return await repeatUnknown(talk, work, last);
  }
  const { session, lines } = await readAnswer(work.client, sessionId, (found) =>
    isSameQuestion(lastExchange(found), last),
  );
  const stored = lastExchange(session);
  if (!stored || !isSameQuestion(stored, last)) {
    const { userMessageId } = turn;
    if (session.messages.some(({ message_id }) => message_id === userMessageId)) {
      throw new CliError("usage", "the session holds the question and later messages", {
        hints: [`/session ${sessionId} shows its last exchange`],
      });
    }
    await hint(talk, "the question is not in the session: asking again");
    return await askAgain(talk, work, last);
  }
  if (lines) {
    await hint(talk, "the service is still working on the answer; it follows from its beginning");
    const ending = await drawAnswer(talk, work, sessionId, lines);
    adopt(talk, { ...stored, ending });
    return await writeFailure(talk, ending);
  }
  if (session.current_run) {
    return output.note("the service is still working on the answer: /retry again later");
  }
  // The service stores a stopped answer up to the stop.
  if (isAnswered(stored) && outcome.status !== "interrupted") {
    await hint(talk, "the service has finished the answer; it is not asked again");
    adopt(talk, stored);
    return await showAnswer(talk, work, stored);
  }
  await hint(talk, "the session holds the question without a whole answer: asking again");
  await askAgain(talk, work, { ...last, after: stored.after });
}
