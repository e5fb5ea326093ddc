import { Packet, type ChatEvent } from "../../../src/api/chat-schemas.ts";

/** A packet line as the decoder yields it; `obj` is checked against the schema. */
export function packet(
  obj: { type: string } & Record<string, unknown>,
  turn = 0,
  more: { tab_index?: number; sub_turn_index?: number; model_index?: number } = {},
): ChatEvent {
  const placement = { turn_index: turn, tab_index: 0, ...more };
  const raw = JSON.stringify({ placement, obj });
  return { raw, kind: "packet", placement, packet: Packet.parse(obj) };
}

export const sessionId = "6f1c2f0e-8c57-4b7c-9f27-3a2f9f3b1a11";

const sessionLine: ChatEvent = {
  raw: JSON.stringify({ chat_session_id: sessionId, incognito: false }),
  kind: "session",
  sessionId,
};

export const idsLine: ChatEvent = {
  raw: '{"user_message_id":12,"reserved_assistant_message_id":13}',
  kind: "ids",
  userMessageId: 12,
  assistantMessageId: 13,
};

export function failureLine(error: string, code?: string): ChatEvent {
  const failure = { error, ...(code === undefined ? {} : { error_code: code }) };
  return { raw: JSON.stringify(failure), kind: "failure", failure };
}

export function document(id: string, title = id, link: string | null = null) {
  return { document_id: id, semantic_identifier: title, link, source_type: "file" };
}

export const text = (content: string, turn = 0): ChatEvent =>
  packet({ type: "message_delta", content }, turn);

export const start = (turn = 0, documents: object[] | null = null): ChatEvent =>
  packet({ type: "message_start", final_documents: documents }, turn);

export const stop: ChatEvent = packet({ type: "stop", stop_reason: null }, 9);

/** Thinks, says something, searches, answers with two citations. */
export const searchTurn: ChatEvent[] = [
  sessionLine,
  idsLine,
  packet({ type: "reasoning_start" }),
  packet({ type: "reasoning_delta", reasoning: "They ask about leave." }),
  packet({ type: "reasoning_done" }),
  start(1),
  text("Let me look that up.", 1),
  packet({ type: "search_tool_start", is_internet_search: false }, 2),
  packet({ type: "search_tool_queries_delta", queries: ["leave", "vacation policy"] }, 2),
  packet(
    {
      type: "search_tool_documents_delta",
      documents: [
        document("hr/leave", "Leave", "https://docs.example.com/leave"),
        document("hr/sick", "Sick leave"),
      ],
    },
    2,
  ),
  packet({ type: "section_end" }, 2),
  start(3, [
    document("hr/leave", "Leave", "https://docs.example.com/leave"),
    document("hr/leave", "Leave", "https://docs.example.com/leave"),
  ]),
  text("Ask your ", 3),
  packet({ type: "citation_info", citation_number: 1, document_id: "hr/leave" }, 3),
  text("manager [[1]](https://docs.example.com/leave).", 3),
  stop,
];
