import { getSession, resumeChat } from "../../../../api/sessions.ts";
import { CliError } from "../../../../errors.ts";
import { dim } from "../../../../output/terminal/text.ts";
import { createTurn } from "../../../../output/chat/turn/answer.ts";
import { applyLines, type Batch } from "../../send.ts";
import { mayStillAnswer } from "../../turn.ts";
import { askNext, writeFailure, type Place } from "../asking.ts";
import { drawAnswer, showAnswer } from "../showing.ts";
import { isAnswered, lastExchange } from "../stored.ts";
import type { Exchange, Talk, Work } from "../talk.ts";

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
  await talk.output.note(
    dim("this service cannot repeat the first question of a session: a new session begins"),
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
  await talk.output.note(dim("/retry once more to ask it again anyway"));
}

function isSameQuestion(stored: Exchange, asked: Exchange): boolean {
  const { userMessageId } = asked.ending.turn;
  if (userMessageId !== null) return stored.ending.turn.userMessageId === userMessageId;
  return stored.parameters.message === asked.parameters.message && stored.after === asked.after;
}

function adopt(talk: Talk, exchange: Exchange): void {
  talk.exchanges.splice(-1, 1, exchange);
  talk.last = exchange.ending.turn.messageId ?? talk.last;
}

/** Draws an answer in progress from its beginning. */
async function follow(talk: Talk, work: Work, stored: Exchange): Promise<void> {
  const { sessionId } = stored.ending.turn;
  const lines = sessionId === null ? undefined : await resumeChat(work.client, sessionId);
  if (!lines) {
    return talk.output.note("the service is still working on the answer: /retry again later");
  }
  await talk.output.note(
    dim("the service is still working on the answer; it follows from its beginning"),
  );
  const turn = createTurn();
  turn.sessionId = sessionId;
  async function* batches(): AsyncGenerator<Batch> {
    for await (const each of lines ?? []) yield applyLines(turn, each);
  }
  const ending = await drawAnswer(talk, work, turn, batches());
  adopt(talk, { ...stored, ending });
  if (ending.failure !== undefined) await writeFailure(talk, ending);
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
    await output.note(dim("the service did not accept the question: asking again"));
    return await askAgain(talk, work, last);
  }
  const { sessionId } = turn;
  if (sessionId === null || work.client.dialect.paths.session === undefined) {
    return await repeatUnknown(talk, work, last);
  }
  const session = await getSession(work.client, sessionId);
  const stored = lastExchange(session);
  if (!stored || !isSameQuestion(stored, last)) {
    const { userMessageId } = turn;
    if (session.messages.some(({ message_id }) => message_id === userMessageId)) {
      throw new CliError("usage", "the session holds the question and later messages", {
        hints: [`/session ${sessionId} shows its last exchange`],
      });
    }
    await output.note(dim("the question is not in the session: asking again"));
    return await askAgain(talk, work, last);
  }
  if (session.current_run) return await follow(talk, work, stored);
  // The service stores a stopped answer up to the stop.
  if (isAnswered(stored) && outcome.status !== "interrupted") {
    await output.note(dim("the service has finished the answer; it is not asked again"));
    adopt(talk, stored);
    return await showAnswer(talk, work, stored);
  }
  await output.note(dim("the session holds the question without a whole answer: asking again"));
  await askAgain(talk, work, { ...last, after: stored.after });
}
