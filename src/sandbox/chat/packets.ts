import type { StreamFailure, ChatReply, SearchDoc } from "../../api/chat-schemas.ts";

/** Framing of stream lines: `sse` sends `data:` events, `ndjson` bare lines (observed-service.md 2.1). */
export type Framing = "sse" | "ndjson";

export type Line =
  | { chat_session_id: string; incognito: boolean }
  | { user_message_id: number | null; reserved_assistant_message_id: number }
  | {
      user_message_id: number | null;
      responses: { message_id: number; model_name: string }[];
    }
  | { placement: Placement; obj: { type: string; [member: string]: unknown } }
  | StreamFailure;

interface Placement {
  turn_index: number;
  tab_index: number;
  sub_turn_index: number | null;
  model_index: number | null;
}

export function packet(
  turn: number,
  type: string,
  members: object = {},
  model: number | null = 0,
): Line {
  return {
    placement: { turn_index: turn, tab_index: 0, sub_turn_index: null, model_index: model },
    obj: { type, ...members },
  };
}

export function failure(
  code: string,
  error: string,
  retryable: boolean,
  details: StreamFailure["details"] = null,
): StreamFailure {
  return { error, stack_trace: null, error_code: code, is_retryable: retryable, details };
}

/** Encodes one line of the stream as JSON, with non-ASCII characters escaped as in the service. */
export function encodeLine(line: Line, framing: Framing): string {
  const text = JSON.stringify(line).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return frameLine(text, framing);
}

/** Frames a line that is JSON text already. */
export function frameLine(text: string, framing: Framing): string {
  return framing === "sse" ? `data: ${text}\n\n` : `${text}\n`;
}

/** A stream of texts as a response: observed-service.md 2.1. */
export function streamOf(texts: AsyncIterable<string | Uint8Array>): Response {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    for await (const text of texts) yield Buffer.from(text);
  }
  return new Response(ReadableStream.from(bytes()), {
    headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" },
  });
}

/** A streamed chat response from lines. */
export function streamReply(lines: AsyncIterable<Line>, framing: Framing): Response {
  async function* encoded(): AsyncGenerator<string> {
    for await (const line of lines) yield encodeLine(line, framing);
  }
  const response = streamOf(encoded());
  response.headers.set("x-accel-buffering", "no");
  return response;
}

/** The Actions that this sandbox can run. */
export const searchTool = {
  id: 1,
  name: "internal_search",
  display_name: "Internal Search",
  in_code_tool_id: "SearchTool",
  description: "Searches the documents that were uploaded to this sandbox.",
};
export const listTool = {
  id: 2,
  name: "list_documents",
  display_name: "List documents",
  in_code_tool_id: null,
  description: "Lists the newest documents of this sandbox.",
};

const rest = {
  definition: null,
  custom_headers: null,
  passthrough_auth: false,
  mcp_server_id: null,
  user_id: null,
  oauth_config_id: null,
  oauth_config_name: null,
  enabled: true,
  permissions: {},
  chat_selectable: true,
  agent_creation_selectable: true,
  default_enabled: true,
};

/** The Actions as GET /tool lists them: observed-service.md 5. */
export const toolList = [searchTool, listTool].map((tool) => ({ ...tool, ...rest }));

type Obj = Extract<Line, { obj: unknown }>["obj"];
type ToolCalls = NonNullable<ChatReply["tool_calls"]>;

/** Packets write `+00:00`, the whole reply writes `Z`: observed-service.md 2.1. */
function withZulu(documents: unknown): SearchDoc[] {
  return ((documents ?? []) as SearchDoc[]).map((document) => ({
    ...document,
    updated_at: document.updated_at?.replace(/\+00:00$/, "Z") ?? null,
  }));
}

interface Draft {
  reply: ChatReply & { answer_citationless: string };
  calls: ToolCalls;
  reasoning: string;
}

/** A whole reply names tools by their class: observed-service.md 12.12. */
const toCall = (name: string): ToolCalls[number] => ({
  tool_name: name,
  tool_arguments: {},
  tool_result: "",
  search_docs: null,
  generated_images: null,
  pre_reasoning: null,
});

function applyPacket(draft: Draft, obj: Obj): void {
  const { reply, calls } = draft;
  switch (obj.type) {
    case "reasoning_delta":
      draft.reasoning += String(obj["reasoning"]);
      break;
    case "search_tool_start":
      calls.push({
        ...toCall(obj["is_internet_search"] === true ? "web_search" : searchTool.name),
        search_docs: [],
      });
      break;
    case "search_tool_queries_delta":
      Object.assign(calls.at(-1) ?? {}, { tool_arguments: { queries: obj["queries"] } });
      break;
    case "search_tool_documents_delta":
      Object.assign(calls.at(-1) ?? {}, { search_docs: withZulu(obj["documents"]) });
      break;
    case "research_agent_start":
      calls.push({ ...toCall("research_agent"), tool_arguments: { task: obj["research_task"] } });
      break;
    case "custom_tool_delta":
      calls.push({
        ...toCall(String(obj["tool_name"])),
        tool_result: JSON.stringify(obj["data"]),
      });
      break;
    case "message_start":
      // Text before a tool call is not the answer: observed-service.md 2.5.
      reply.answer = "";
      reply.answer_citationless = "";
      reply.top_documents = withZulu(obj["final_documents"]);
      break;
    case "message_delta": {
      const content = String(obj["content"]);
      reply.answer += content;
      if (!/^\[\[\d+\]\]\(.*\)$/s.test(content)) reply.answer_citationless += content;
      break;
    }
    case "citation_info":
      reply.citation_info!.push({
        type: "citation_info",
        citation_number: Number(obj["citation_number"]),
        document_id: String(obj["document_id"]),
      } as never);
      break;
  }
}

/**
 * Collects the lines of a turn into the reply of `stream: false` (observed-service.md 1.8).
 * `setupError` is set if the turn failed before it had a message id.
 */
export async function unaryReply(
  lines: AsyncIterable<Line>,
): Promise<{ reply: ChatReply; setupError: string | undefined }> {
  const draft: Draft = {
    reasoning: "",
    calls: [],
    reply: {
      answer: "",
      answer_citationless: "",
      pre_answer_reasoning: null,
      tool_calls: [],
      top_documents: [],
      citation_info: [],
      message_id: null,
      chat_session_id: null,
      incognito: false,
      error_msg: null,
    },
  };
  const { reply } = draft;
  for await (const line of lines) {
    if ("error" in line) reply.error_msg = line.error;
    else if ("chat_session_id" in line) reply.chat_session_id = line.chat_session_id;
    else if ("reserved_assistant_message_id" in line) {
      reply.message_id = line.reserved_assistant_message_id;
    } else if ("placement" in line) applyPacket(draft, line.obj);
  }
  reply.pre_answer_reasoning = draft.reasoning || null;
  reply.tool_calls = draft.calls;
  const setupError = reply.message_id === null ? (reply.error_msg ?? "no answer") : undefined;
  return { reply, setupError };
}
