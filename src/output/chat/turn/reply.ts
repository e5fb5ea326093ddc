import type { TurnEvent } from "./turn-event.ts";
import type { ChatReply } from "../../../api/chat-schemas.ts";
import { addDocuments, createTurn, turnsOf, type Turn } from "./answer.ts";
import { createCall, noteDocuments, type ToolCall } from "./calls.ts";
import { imageOf } from "./packet-details.ts";

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
export function turnOfReply(reply: ChatReply): Turn {
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

/** The events of such a record, in the order of a stream. */
export function eventsOfReply(turn: Turn): TurnEvent[] {
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
