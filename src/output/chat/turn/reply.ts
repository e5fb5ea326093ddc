import type { ToolCall, TurnEvent } from "./chat-events.ts";
import type { ChatEvent, ChatReply } from "../../../api/chat-schemas.ts";
import {
  addDocuments,
  advance,
  createTurn,
  turnsOf,
  type Turn,
  createCall,
  noteDocuments,
} from "./answer.ts";
import { imageOf } from "./packets.ts";

// A whole reply names the service's own tools by their class, a stream by their packets
// (observed-service.md 12.12).
const packetTools: Readonly<Record<string, string>> = {
  internal_search: "search",
  web_search: "search",
  open_url: "open-url",
  generate_image: "image-generation",
  read_file: "file-reader",
  add_memory: "memory",
  research_agent: "research-agent",
};

function toolCallOf(each: NonNullable<ChatReply["tool_calls"]>[number], index: number): ToolCall {
  const name = each.tool_name;
  const tool = Object.hasOwn(packetTools, name) ? (packetTools[name] ?? name) : name;
  const call = createCall(tool, index);
  call.internet = name === "web_search";
  const result = each.tool_result ?? "";
  const { queries } = (each.tool_arguments ?? {}) as { queries?: unknown };
  if (tool === "search" && Array.isArray(queries)) call.queries = queries.map(String);
  else call.input = each.tool_arguments ?? null;
  call.output = typeof result === "string" ? result : JSON.stringify(result);
  call.reasoning = each.pre_reasoning ?? "";
  call.images = (each.generated_images ?? []).map(imageOf);
  noteDocuments(call, each.search_docs ?? []);
  return call;
}

/** The record of a turn from a non-streamed reply (`stream: false`). */
function turnOfReply(reply: ChatReply): Turn {
  const turn = createTurn();
  turn.sessionId = reply.chat_session_id ?? null;
  turn.messageId = reply.message_id ?? null;
  turn.answer = reply.answer;
  turn.reasoning = reply.pre_answer_reasoning ?? "";
  turn.tools = (reply.tool_calls ?? []).map(toolCallOf);
  addDocuments(turn, reply.top_documents ?? [], true);
  for (const call of reply.tool_calls ?? []) addDocuments(turn, call.search_docs ?? [], false);
  for (const each of reply.citation_info ?? []) {
    turn.citations.set(each.citation_number, each.document_id);
  }
  turn.stopped = !reply.error_msg;
  if (reply.error_msg) {
    turn.failure = { type: "error", message: reply.error_msg, code: null, retryable: null };
  }
  return turn;
}

function eventsOfCall(turn: Turn, call: ToolCall): TurnEvent[] {
  const place = { turn: call.turn, tab: call.tab, sub: call.sub };
  const { tool, internet, queries, input, images, fileIds, output: text } = call;
  const documents = call.documentIds.flatMap((id) => turn.documents.get(id) ?? []);
  const output: TurnEvent = { type: "tool", tool, step: "output", place, text, images, fileIds };
  return [
    { type: "tool", tool, step: "start", place, internet, queries, input },
    // Without documents the tool may not be a search, so the member is omitted.
    documents.length === 0 ? output : { ...output, documents },
  ];
}

function modelsOf(turn: Turn): TurnEvent {
  const models = turnsOf(turn).map(({ messageId, model }) => ({
    messageId: messageId ?? 0,
    name: model,
  }));
  return { type: "models", models };
}

/** The events of a whole answer, in the order of a stream. */
function eventsOfTurn(turn: Turn): TurnEvent[] {
  const events: TurnEvent[] = [];
  if (turn.sessionId !== null) events.push({ type: "session", sessionId: turn.sessionId });
  if (turn.others.length > 0) {
    const ofAll = turnsOf(turn).map(answerEvents);
    return [
      ...events,
      modelsOf(turn),
      ...ofAll.flatMap((each, model) => each.map((event) => ({ ...event, model }))),
    ];
  }
  if (turn.messageId !== null) {
    events.push({ type: "message", userMessageId: null, messageId: turn.messageId });
  }
  return [...events, ...answerEvents(turn)];
}

function answerEvents(turn: Turn): TurnEvent[] {
  const events: TurnEvent[] = [];
  if (turn.reasoning !== "") {
    const place = { turn: 0, tab: 0, sub: null };
    events.push({ type: "reasoning", text: `${turn.reasoning}\n`, place });
  }
  for (const call of turn.tools) for (const event of eventsOfCall(turn, call)) events.push(event);
  if (turn.answer !== "") events.push({ type: "text", text: turn.answer });
  events.push(turn.failure ?? { type: "stop", reason: null });
  return events;
}

/** The rest of a whole answer whose beginning a stream has already shown. */
function eventsAfter(shown: string, events: readonly TurnEvent[]): TurnEvent[] {
  return events.flatMap((event): TurnEvent[] => {
    if ((event.model ?? 0) > 0) return [event];
    if (event.type === "text" && event.text.startsWith(shown)) {
      return [{ ...event, text: event.text.slice(shown.length) }];
    }
    if (event.type === "text") return [{ type: "interim", text: shown }, event];
    return event.type === "stop" || event.type === "error" ? [event] : [];
  });
}

function applyReply(turn: Turn, reply: ChatReply): TurnEvent[] {
  const { sessionId, damagedLines } = turn;
  Object.assign(turn, turnOfReply(reply), { damagedLines });
  // Older services omit the id of a continued session (observed-service.md 1.8).
  turn.sessionId ??= sessionId;
  return eventsOfTurn(turn);
}

/** A part of an answer: the lines of a network chunk, or a whole stored answer. */
export type Piece = readonly ChatEvent[] | Turn;

/** The lines of a piece; a stored answer has none. */
export function linesOf(piece: Piece): readonly ChatEvent[] {
  return "answer" in piece ? [] : piece;
}

/**
 * Adds a piece to `turn` and returns its events. A line may be a whole reply. A stored answer
 * replaces the turn; of an answer that a stream has shown in part, the rest follows.
 */
export function applyPiece(turn: Turn, piece: Piece): TurnEvent[] {
  if ("answer" in piece) {
    const { answer: shown } = turn;
    const events = eventsOfTurn(Object.assign(turn, piece));
    return shown === "" ? events : eventsAfter(shown, events);
  }
  return piece.flatMap((line) =>
    line.kind === "reply" ? applyReply(turn, line.reply) : advance(turn, line),
  );
}
