import { getSession, resumeChat } from "../../../../api/sessions.ts";
import { ApiError, CliError } from "../../../../errors.ts";
import { dim } from "../../../../output/terminal/text.ts";
import { createTurn } from "../../../../output/chat/turn/answer.ts";
import { takeLines, type Batch } from "../../send.ts";
import { askNext, tellFailure, type Place } from "../asking.ts";
import { drawAnswer, showAnswer } from "../showing.ts";
import { isAnswered, lastExchange } from "../stored.ts";
import type { Exchange, Talk, Work } from "../talk.ts";

function lastAsked(talk: Talk): Exchange {
  const last = talk.exchanges.at(-1);
  if (last) return last;
  throw new CliError("usage", "nothing has been asked yet");
}

/**
 * The place of a question that is asked once more: behind the same answer, as
 * the sibling of the question that stands there. Only ids of assistant messages
 * are parents (that of the question itself would make the `onyx` interface drop
 * the text that is sent, observed-service.md 1.6), so the first question of a
 * session can go there again only where the service takes a parent of null for
 * the root; elsewhere it begins a new session.
 */
async function placeAgain(talk: Talk, { ending, after }: Exchange): Promise<Place> {
  const sessionId = ending.turn.sessionId ?? undefined;
  if (sessionId === undefined) return { sessionId, after: null };
  if (typeof after === "number") return { sessionId, parentMessageId: after, after };
  if (after === undefined) {
    throw new CliError("usage", "it is not known what came before that question", {
      hints: ["this service does not tell what is in a session: ask again in your own words"],
    });
  }
  if (talk.client.dialect.startsAtRoot) return { sessionId, fromRoot: true, after };
  await talk.output.note(
    dim("this service cannot ask the first question of a session again: a new session begins"),
  );
  return { sessionId: undefined, after };
}

async function askAgain(talk: Talk, work: Work, exchange: Exchange): Promise<void> {
  const { message, fileDescriptors } = exchange.parameters;
  const question = fileDescriptors === undefined ? { message } : { message, fileDescriptors };
  await askNext(talk, work, question, await placeAgain(talk, exchange), true);
}

/** `/regenerate`: another answer to the last question, with the settings as they are now. */
export async function regenerate(talk: Talk, work: Work): Promise<void> {
  const last = lastAsked(talk);
  const { status } = last.ending.outcome;
  if (status === "error" || status === "incomplete") {
    throw new CliError("usage", "the last question has no whole answer yet", {
      hints: ["/retry finds out what became of it"],
    });
  }
  await askAgain(talk, work, last);
}

/** Whether the service may have stored the question although no answer came. */
function mayBeStored({ ending }: Exchange): boolean {
  const { turn, outcome, failure } = ending;
  if (turn.messageId !== null || turn.userMessageId !== null) return true;
  if (outcome.status !== "error") return true;
  return failure instanceof ApiError && (failure.status ?? 0) >= 500;
}

/** Sends without knowing only when asked a second time. */
async function repeatUnknown(talk: Talk, work: Work, last: Exchange): Promise<void> {
  if (talk.mayRepeat) return await askAgain(talk, work, last);
  talk.mayRepeat = true;
  await talk.output.note(
    "this service does not tell what became of the question: it may have been answered and stored",
  );
  await talk.output.note(dim("/retry once more asks it again all the same"));
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

/** Draws the answer that the service is still working on, from its beginning. */
async function follow(talk: Talk, work: Work, stored: Exchange): Promise<void> {
  const { sessionId } = stored.ending.turn;
  const lines = sessionId === null ? undefined : await resumeChat(work.client, sessionId);
  if (!lines) {
    return talk.output.note("the service is still working on the answer: /retry again in a while");
  }
  await talk.output.note(
    dim("the service is still working on the answer: here it is from its beginning"),
  );
  const turn = createTurn();
  turn.sessionId = sessionId;
  async function* batches(): AsyncGenerator<Batch> {
    for await (const each of lines ?? []) yield takeLines(turn, each);
  }
  const ending = await drawAnswer(talk, work, turn, batches());
  adopt(talk, { ...stored, ending });
  if (ending.failure !== undefined) await tellFailure(talk, ending);
}

/**
 * `/retry` after an answer that failed, was cut or stopped: looks into the
 * session and says what is there; the question is sent only when that cannot
 * put it into the session twice, or when the user insists.
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
    await output.note(dim("the question was not taken: asking again"));
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
      throw new CliError("usage", "the session holds the question, and has gone on since", {
        hints: [`/session ${sessionId} shows where it stands`],
      });
    }
    await output.note(dim("the question is not in the session: asking again"));
    return await askAgain(talk, work, last);
  }
  if (session.current_run) return await follow(talk, work, stored);
  // What the user stopped is stored as far as it came.
  if (isAnswered(stored) && outcome.status !== "interrupted") {
    await output.note(dim("the service has finished the answer; nothing is asked again"));
    adopt(talk, stored);
    return await showAnswer(talk, work, stored);
  }
  await output.note(dim("the session holds the question without a whole answer: asking again"));
  await askAgain(talk, work, { ...last, after: stored.after });
}
