import type { StoredMessage, StoredSession } from "../../../api/session-schemas.ts";
import { createTurn, type Turn } from "../../../output/chat/answer.ts";
import type { ChatStatus } from "../../../output/chat/render.ts";
import { answerState, branchesOf, turnOfStored } from "../../../output/chat/stored.ts";
import type { Exchange } from "./talk.ts";

/** Whether the answer came whole. */
export function isAnswered({ ending }: Exchange): boolean {
  return ending.outcome.status === "ok";
}

/** An exchange whose answer was not asked for now, but is known in some other way. */
export function exchangeOf(
  turn: Turn,
  status: ChatStatus,
  message: string,
  after: Exchange["after"],
): Exchange {
  const timings = { firstTextMs: null, totalMs: 0 };
  const outcome = { status, error: null, requestedModel: null, warnings: [], timings };
  const session = turn.sessionId === null ? {} : { sessionId: turn.sessionId };
  return {
    parameters: { message, ...session },
    ending: { turn, outcome, failure: undefined },
    after,
  };
}

function unansweredTurn(session: StoredSession, question: StoredMessage): Turn {
  const turn = createTurn();
  turn.sessionId = session.chat_session_id;
  turn.userMessageId = question.message_id;
  return turn;
}

/** The last question of a session's current branch with its answer; undefined where nothing was asked. */
export function lastExchange(session: StoredSession): Exchange | undefined {
  const line = branchesOf(session)[0]?.messages ?? [];
  const at = line.findLastIndex(({ message_type }) => message_type === "user");
  const question = line[at];
  if (!question) return undefined;
  const answer = line[at + 1];
  const before = line[at - 1];
  const isWhole =
    answer !== undefined && answerState(answer) === "complete" && answer.message.trim() !== "";
  return exchangeOf(
    answer ? turnOfStored(session, answer) : unansweredTurn(session, question),
    isWhole ? "ok" : "incomplete",
    question.message,
    before?.message_type === "assistant" ? before.message_id : null,
  );
}
