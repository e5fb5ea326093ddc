import type { StoredMessage, StoredSession } from "../../../api/session-schemas.ts";
import { addDocuments, createTurn } from "../../../output/chat/answer.ts";
import type { Exchange } from "./talk.ts";

/** What the service stores while an answer is being made (observed-service.md 2.8). */
const placeholder = /^Response was terminated prior to completion/;

/** The current branch of a session: from the root along the latest children. */
export function mainlineOf({ messages }: StoredSession): StoredMessage[] {
  const byId = new Map(messages.map((message) => [message.message_id, message]));
  const line: StoredMessage[] = [];
  let at = messages.find(({ parent_message }) => (parent_message ?? null) === null);
  // A tree that is none must not be followed for ever.
  while (at && line.length < messages.length) {
    line.push(at);
    at = byId.get(at.latest_child_message ?? Number.NaN);
  }
  return line;
}

/** Whether a stored answer is one: not the text that stands for one, and not a failed one. */
export function isAnswered(exchange: Exchange): boolean {
  return exchange.ending.outcome.status === "ok";
}

function turnOf(session: StoredSession, question: StoredMessage, answer?: StoredMessage) {
  const turn = createTurn();
  turn.sessionId = session.chat_session_id;
  turn.userMessageId = question.message_id;
  if (!answer) return turn;
  turn.messageId = answer.message_id;
  turn.model = answer.model_display_name ?? null;
  turn.answer = placeholder.test(answer.message) ? "" : answer.message;
  turn.stopped = true;
  addDocuments(turn, answer.context_docs ?? [], true);
  for (const [number, id] of Object.entries(answer.citations ?? {})) {
    turn.citations.set(Number(number), String(id));
  }
  return turn;
}

/** The last question of a stored session with its answer; undefined where nothing was asked. */
export function lastExchange(session: StoredSession): Exchange | undefined {
  const line = mainlineOf(session);
  const at = line.findLastIndex(({ message_type }) => message_type === "user");
  const question = line[at];
  if (!question) return undefined;
  const answer = line[at + 1];
  const before = line[at - 1];
  const turn = turnOf(session, question, answer);
  const isDone = turn.answer !== "" && !answer?.error;
  return {
    parameters: { message: question.message, sessionId: session.chat_session_id },
    ending: {
      turn,
      outcome: {
        status: isDone ? "ok" : "incomplete",
        error: null,
        requestedModel: null,
        warnings: [],
        timings: { firstTextMs: null, totalMs: 0 },
      },
      failure: undefined,
    },
    after: before?.message_type === "assistant" ? before.message_id : null,
  };
}
