import { CliError } from "../../../errors.ts";
import { readAnswer } from "../session/read-answer.ts";
import { mayStillAnswer } from "../turn.ts";
import {
  askNext,
  drawAnswer,
  isAnswered,
  lastExchange,
  showAnswer,
  writeFailure,
  type Place,
} from "./answers.ts";
import { hint, type Exchange, type Talk, type Work } from "./talk.ts";

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
