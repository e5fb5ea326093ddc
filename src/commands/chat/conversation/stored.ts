import type { FileDescriptor } from "../../../api/schemas.ts";
import type { StoredMessage, StoredSession } from "../../../api/session-schemas.ts";
import { createTurn, type Turn } from "../../../output/chat/turn/answer.ts";
import { answerState, branchesOf, turnOfAnswers } from "../../../output/chat/stored/stored.ts";
import type { Exchange } from "./talk.ts";

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

function unansweredTurn(session: StoredSession, question: StoredMessage): Turn {
  const turn = createTurn();
  turn.sessionId = session.chat_session_id;
  turn.userMessageId = question.message_id;
  return turn;
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
  const turn = answer ? turnOfAnswers(session, answer) : unansweredTurn(session, question);
  const files = filesOf(question);
  const timings = { firstTextMs: null, totalMs: 0 };
  const status = isWhole ? "ok" : "incomplete";
  return {
    parameters: {
      message: question.message,
      sessionId: session.chat_session_id,
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
