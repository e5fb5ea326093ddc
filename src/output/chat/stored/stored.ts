import type { StoredMessage, StoredSession } from "../../../api/session-schemas.ts";
import { addDocuments, createTurn, type Turn } from "../turn/answer.ts";

/**
 * What has become of a stored answer. `missing`: the service keeps a sentence in
 * its place, which is replaced when the answer is complete. `stopped`: what came
 * before a user stopped it (observed-service.md 2.8).
 */
export type AnswerState = "complete" | "failed" | "missing" | "stopped";

const placeholder = /^\s*Response was terminated prior to completion/;

const stoppedMark = /\bgeneration was stopped by the user\b[^\n]{0,20}$/i;

export function answerState({ message, error }: StoredMessage): AnswerState {
  if (error) return "failed";
  if (placeholder.test(message)) return "missing";
  return stoppedMark.test(message.slice(-200).trimEnd()) ? "stopped" : "complete";
}

/** Messages that follow each other. `parent` is the message that the first of them answers to. */
export interface Branch {
  parent: number | null;
  messages: StoredMessage[];
}

type Messages = ReadonlyMap<number, StoredMessage>;

/** From `first` on along the latest children. Takes no message twice: the service's word is not proof of a tree. */
function follow(byId: Messages, first: StoredMessage, seen: Set<number>): StoredMessage[] {
  const messages: StoredMessage[] = [];
  let at: StoredMessage | undefined = first;
  while (at && !seen.has(at.message_id)) {
    seen.add(at.message_id);
    messages.push(at);
    at = byId.get(at.latest_child_message ?? Number.NaN);
  }
  return messages;
}

/**
 * The branches of a session's message tree: first the current one, from the root
 * along the latest children, then the others. Each message is in one of them; the
 * empty message at the root is left out.
 */
export function branchesOf(session: StoredSession): Branch[] {
  const ordered = session.messages.toSorted((a, b) => a.message_id - b.message_id);
  const byId: Messages = new Map(ordered.map((message) => [message.message_id, message]));
  const isRoot = ({ parent_message }: StoredMessage): boolean =>
    !byId.has(parent_message ?? Number.NaN);
  const seen = new Set<number>();
  const take = (first: StoredMessage): Branch => {
    const messages = follow(byId, first, seen);
    return {
      parent: first.parent_message ?? null,
      messages: messages.filter(({ message_type }) => message_type !== "system"),
    };
  };
  const roots = ordered.filter(isRoot);
  // Where a service leaves the root out each restart is one; the last is the current.
  const root = roots.find(({ message_type }) => message_type === "system") ?? roots.at(-1);
  const current = root ? take(root) : { parent: null, messages: [] };
  const others = ordered.flatMap((message) =>
    seen.has(message.message_id) ? [] : [take(message)],
  );
  return [current, ...others.filter(({ messages }) => messages.length > 0)];
}

/** What an answer's own numbers in the text stand for. */
function citationsOf({ citations }: StoredMessage): Map<number, string> {
  const entries = Object.entries(citations ?? {}).map(([number, id]): [number, string] => [
    Number(number),
    String(id),
  ]);
  return new Map(entries.filter(([number]) => Number.isSafeInteger(number)));
}

/** A stored answer as the turn that it was. With `citedOnly` without the documents that it does not cite. */
export function turnOfStored(
  session: StoredSession,
  message: StoredMessage,
  { citedOnly = false } = {},
): Turn {
  const turn = createTurn();
  turn.sessionId = session.chat_session_id;
  turn.userMessageId = message.parent_message ?? null;
  turn.messageId = message.message_id;
  turn.model = message.model_display_name ?? null;
  turn.citations = citationsOf(message);
  const state = answerState(message);
  if (state !== "missing") turn.answer = message.message;
  const cited = new Set(turn.citations.values());
  const documents = message.context_docs ?? [];
  addDocuments(
    turn,
    citedOnly ? documents.filter(({ document_id }) => cited.has(document_id)) : documents,
    true,
  );
  turn.stopped = state === "complete" || state === "stopped";
  if (state === "stopped") turn.stopReason = "user_cancelled";
  if (state === "failed") {
    turn.failure = { type: "error", message: message.error ?? "", code: null, retryable: null };
  }
  return turn;
}

/** Answers of several models are stored at one time; another answer that was asked for later is not. */
const sameTimeMs = 500;

function isParallel(one: StoredMessage, other: StoredMessage): boolean {
  const { model_display_name: name, parent_message: parent } = one;
  if (one.message_id === other.message_id || other.message_type !== "assistant") return false;
  if (typeof parent !== "number" || other.parent_message !== parent) return false;
  if (!name || !other.model_display_name || other.model_display_name === name) return false;
  const apart = Math.abs(Date.parse(one.time_sent ?? "") - Date.parse(other.time_sent ?? ""));
  return apart <= sameTimeMs;
}

/** The answers of all models that answered at once, in the order in which they were asked. */
function parallelAnswers({ messages }: StoredSession, answer: StoredMessage): StoredMessage[] {
  const others = messages.filter((each) => isParallel(answer, each));
  return [answer, ...others].toSorted((a, b) => a.message_id - b.message_id);
}

/** A stored answer as the turn that it was, with those of the other models. */
export function turnOfAnswers(session: StoredSession, answer: StoredMessage): Turn {
  const [turn = createTurn(), ...others] = parallelAnswers(session, answer).map((each) =>
    turnOfStored(session, each),
  );
  turn.others = others;
  return turn;
}

/** Branches for reading: the answers of several models stand side by side in the current one. */
export function withParallelAnswers(
  session: StoredSession,
  [current, ...others]: readonly Branch[],
): Branch[] {
  if (!current) return [];
  const isLeaf = (message: StoredMessage): boolean =>
    others.some(({ messages }) => messages.length === 1 && messages[0] === message);
  const shown = new Set<StoredMessage>();
  const messages = current.messages.flatMap((message) => {
    if (message.message_type !== "assistant") return [message];
    const all = parallelAnswers(session, message).filter(
      (each) => each === message || isLeaf(each),
    );
    for (const each of all) shown.add(each);
    return all;
  });
  const left = others.filter(({ messages: [first] }) => !first || !shown.has(first));
  return [{ ...current, messages }, ...left];
}
