import type { StoredMessage, StoredSession } from "../../../api/session-schemas.ts";
import type { ToolCall } from "../turn/chat-events.ts";
import { createCall, addDocuments, createTurn, type Turn } from "../turn/answer.ts";
import { imageOf } from "../turn/packets.ts";
import { madeLines, titleText } from "../sources.ts";

/**
 * State of a stored answer. `missing`: the service stores a placeholder sentence until
 * the answer is complete. `stopped`: a user stopped the answer; the text before that is
 * stored (observed-service.md 2.8).
 */
export type AnswerState = "complete" | "failed" | "missing" | "stopped";

const placeholder = /^\s*Response was terminated prior to completion/;

const stoppedMark = /\bgeneration was stopped by the user\b[^\n]{0,20}$/i;

export function answerState({ message, error }: StoredMessage): AnswerState {
  if (error) return "failed";
  if (placeholder.test(message)) return "missing";
  return stoppedMark.test(message.slice(-200).trimEnd()) ? "stopped" : "complete";
}

/** Consecutive messages. `parent` is the parent message of the first one. */
export interface Branch {
  parent: number | null;
  messages: StoredMessage[];
}

/** Paths of local files by document id. */
export type LocalFiles = Turn["localFiles"];

type Messages = ReadonlyMap<number, StoredMessage>;

/** Messages from `first` along the latest children. Stops at a repeated message: the data may have cycles. */
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
 * The branches of a session's message tree: first the current one, from the root along
 * the latest children, then the others. Each message is in exactly one branch. Omits the
 * empty root message.
 */
export function branchesOf(session: StoredSession): Branch[] {
  const ordered = session.messages.toSorted((a, b) => a.message_id - b.message_id);
  const byId: Messages = new Map(ordered.map((message) => [message.message_id, message]));
  const isRoot = ({ parent_message }: StoredMessage): boolean =>
    !byId.has(parent_message ?? Number.NaN);
  const seen = new Set<number>();
  const branchFrom = (first: StoredMessage): Branch => {
    const messages = follow(byId, first, seen);
    return {
      parent: first.parent_message ?? null,
      messages: messages.filter(({ message_type }) => message_type !== "system"),
    };
  };
  const roots = ordered.filter(isRoot);
  // Without a root message, each restarted conversation has its own root; the last one is current.
  const root = roots.find(({ message_type }) => message_type === "system") ?? roots.at(-1);
  const current = root ? branchFrom(root) : { parent: null, messages: [] };
  const others = ordered.flatMap((message) =>
    seen.has(message.message_id) ? [] : [branchFrom(message)],
  );
  return [current, ...others.filter(({ messages }) => messages.length > 0)];
}

/** Document ids by the citation numbers of an answer. */
function citationsOf({ citations }: StoredMessage): Map<number, string> {
  const entries = Object.entries(citations ?? {}).map(([number, id]): [number, string] => [
    Number(number),
    String(id),
  ]);
  return new Map(entries.filter(([number]) => Number.isSafeInteger(number)));
}

const toolsOfFiles: Readonly<Record<string, string>> = {
  image_generation_final: "image-generation",
  python_tool_delta: "python",
};

/** The calls that made images or files, from the replay of the answer. */
function makingCalls({ messages, packets }: StoredSession, message: StoredMessage): ToolCall[] {
  const answers = messages.filter(({ message_type }) => message_type === "assistant");
  const replay = packets?.[answers.indexOf(message)] ?? [];
  return replay.flatMap(({ obj: { type, tool_name, images, file_ids } }, at) => {
    if ((images ?? []).length + (file_ids ?? []).length === 0) return [];
    const call = createCall(toolsOfFiles[type] ?? tool_name ?? "tool", at);
    call.images = (images ?? []).map(imageOf);
    call.fileIds = [...(file_ids ?? [])];
    return [call];
  });
}

/** The text of a stored message. A turn that failed stores its error there as well. */
function storedText({ message, error }: StoredMessage): string {
  return error && message === error ? "" : message;
}

/** The turn of a stored answer. */
export function turnOfStored(
  session: StoredSession,
  message: StoredMessage,
  localFiles: LocalFiles = new Map(),
): Turn {
  const turn = createTurn();
  turn.localFiles = localFiles;
  turn.sessionId = session.chat_session_id;
  turn.userMessageId = message.parent_message ?? null;
  turn.messageId = message.message_id;
  turn.model = message.model_display_name ?? null;
  turn.citations = citationsOf(message);
  const state = answerState(message);
  if (state !== "missing") turn.answer = storedText(message);
  turn.tools = makingCalls(session, message);
  addDocuments(turn, message.context_docs ?? [], true);
  turn.stopped = state === "complete" || state === "stopped";
  if (state === "stopped") turn.stopReason = "user_cancelled";
  if (state === "failed") {
    turn.failure = { type: "error", message: message.error ?? "", code: null, retryable: null };
  }
  return turn;
}

/** Maximum time between the stored answers of several models. A regenerated answer is later. */
const maxParallelMs = 500;

function isParallel(one: StoredMessage, other: StoredMessage): boolean {
  const { model_display_name: name, parent_message: parent } = one;
  if (one.message_id === other.message_id || other.message_type !== "assistant") return false;
  if (typeof parent !== "number" || other.parent_message !== parent) return false;
  if (!name || !other.model_display_name || other.model_display_name === name) return false;
  const apart = Math.abs(Date.parse(one.time_sent ?? "") - Date.parse(other.time_sent ?? ""));
  return apart <= maxParallelMs;
}

/** The answers of all models that answered in parallel, in the order of the request. */
function parallelAnswers({ messages }: StoredSession, answer: StoredMessage): StoredMessage[] {
  const others = messages.filter((each) => isParallel(answer, each));
  return [answer, ...others].toSorted((a, b) => a.message_id - b.message_id);
}

/** The turn of a stored answer, with the turns of the other models. */
export function turnOfAnswers(session: StoredSession, answer: StoredMessage): Turn {
  const [turn = createTurn(), ...others] = parallelAnswers(session, answer).map((each) =>
    turnOfStored(session, each),
  );
  turn.others = others;
  return turn;
}

/** Branches for display: the current one includes the parallel answers of all models. */
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

const speakers: Readonly<Record<string, string>> = { user: "You", assistant: "Assistant" };

/** What every form of a session shows of a message. */
export function readMessage(
  session: StoredSession,
  message: StoredMessage,
  localFiles?: LocalFiles,
) {
  const { message_type: role } = message;
  const isAnswer = role === "assistant";
  const speaker = Object.hasOwn(speakers, role) ? speakers[role]! : titleText(role);
  const text = storedText(message);
  const files = (message.files ?? []).map(({ name, id }) => name || id || "?");
  const model = isAnswer ? (message.model_display_name ?? "") : "";
  const turn = isAnswer ? turnOfStored(session, message, localFiles) : undefined;
  const answer = turn && {
    state: answerState(message),
    turn,
    made: madeLines(turn),
    error: message.error ?? "",
  };
  return { speaker, text, files, model, answer };
}
