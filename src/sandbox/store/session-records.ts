import { offsetTime, zuluTime } from "./identity.ts";
import { type Line, packet } from "../chat/packets.ts";
import { type Feedback, kindOf } from "./feedback.ts";
import type { Message, Session } from "./sessions.ts";

/** An element of the session list: observed-service.md 5. */
export function toListed(session: Session) {
  return {
    id: session.id,
    name: session.name,
    persona_id: session.personaId,
    time_created: offsetTime(session.createdAt),
    time_updated: offsetTime(session.updatedAt),
    shared_status: "private",
    current_alternate_model: null,
    current_temperature_override: null,
    current_reasoning_effort_override: null,
  };
}

/** A message in the form of the session endpoint. */
export function toDetail(message: Message, feedback: Feedback | undefined) {
  return {
    message_id: message.id,
    parent_message: message.parent,
    latest_child_message: message.latestChild,
    message: message.text,
    reasoning_tokens: null,
    message_type: message.type,
    context_docs: message.type === "assistant" ? message.documents : null,
    citations: message.type === "assistant" ? message.citations : null,
    time_sent: zuluTime(message.sentAt),
    files: message.files,
    error: message.error,
    current_feedback: kindOf(feedback),
    model_display_name: message.model,
  };
}

/** Packets that replay a stored answer, with its text in one piece. */
export function replayOf({ text, documents, citations }: Message): Line[] {
  const search = [
    packet(0, "search_tool_start", { is_internet_search: false }),
    packet(0, "search_tool_documents_delta", { documents }),
    packet(0, "section_end"),
  ];
  const at = documents.length > 0 ? 1 : 0;
  return [
    ...(at > 0 ? search : []),
    packet(at, "message_start", {
      final_documents: documents,
      pre_answer_processing_seconds: null,
    }),
    ...Object.entries(citations).map(([number, id]) =>
      packet(at, "citation_info", { citation_number: Number(number), document_id: id }),
    ),
    packet(at, "message_delta", { content: text }),
    packet(at, "stop", { stop_reason: null }),
  ];
}
