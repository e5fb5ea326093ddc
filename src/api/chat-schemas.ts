/**
 * Responses to a chat request as zod schemas: the packets of a stream and the whole
 * reply. Separate from the other schemas because building them costs start-up time.
 * Loose on purpose: unknown members pass, because each release adds some.
 * Source: observed-service.md 1.8 and 2.2 to 2.6.
 */
import * as z from "zod/mini";
import { catch as orElse } from "zod/mini";

const text = z.string();
const optionalText = z.optional(z.nullable(z.string()));
const optionalInteger = z.optional(z.nullable(z.int()));

export const SearchDoc = z.looseObject({
  document_id: text,
  semantic_identifier: optionalText,
  link: optionalText,
  blurb: optionalText,
  source_type: optionalText,
  updated_at: optionalText,
});
export type SearchDoc = z.infer<typeof SearchDoc>;

const documents = z.array(SearchDoc);
const texts = z.array(text);
const optionalTexts = z.optional(z.nullable(texts));

// Members for display only: a wrong type must not invalidate the whole packet.
const shownText = orElse(optionalText, null);
const shownInteger = orElse(optionalInteger, null);
const shownTexts = orElse(optionalTexts, null);
const anything = z.optional(z.unknown());

export const GeneratedImage = z.looseObject({
  file_id: optionalText,
  url: optionalText,
  revised_prompt: optionalText,
  shape: shownText,
});
export type GeneratedImage = z.infer<typeof GeneratedImage>;

function packet<const Type extends string, const Shape extends Record<string, z.core.$ZodType>>(
  type: Type,
  shape: Shape,
) {
  return z.looseObject({ type: z.literal(type), ...shape });
}

/** One member per packet type; output/chat/turn/packets.ts has a reader for each. */
export const Packet = z.discriminatedUnion("type", [
  packet("stop", { stop_reason: optionalText }),
  packet("chat_heartbeat", {}),
  packet("error", {}),
  packet("section_end", {}),
  packet("top_level_branching", { num_parallel_branches: z.int() }),
  packet("message_start", {
    final_documents: z.optional(z.nullable(documents)),
    pre_answer_processing_seconds: z.optional(z.nullable(z.number())),
  }),
  packet("message_delta", { content: text }),
  packet("citation_info", { citation_number: z.int(), document_id: text }),
  packet("reasoning_start", {}),
  packet("reasoning_delta", { reasoning: text }),
  packet("reasoning_done", {}),
  packet("search_tool_start", { is_internet_search: z.optional(z.nullable(z.boolean())) }),
  packet("search_tool_queries_delta", { queries: texts }),
  packet("search_tool_filter_delta", {
    sources: optionalTexts,
    time_filter_start: optionalText,
    time_filter_end: optionalText,
  }),
  packet("search_tool_documents_delta", { documents }),
  packet("open_url_start", {}),
  packet("open_url_urls", { urls: texts }),
  packet("open_url_documents", { documents }),
  packet("image_generation_start", {}),
  packet("image_generation_heartbeat", {}),
  packet("image_generation_final", {
    images: z.array(GeneratedImage),
  }),
  packet("python_tool_start", { code: text }),
  packet("python_tool_delta", {
    stdout: optionalText,
    stderr: optionalText,
    file_ids: shownTexts,
  }),
  packet("custom_tool_start", { tool_name: text, tool_id: optionalInteger }),
  packet("custom_tool_args", { tool_name: text, tool_args: anything }),
  packet("custom_tool_delta", {
    tool_name: text,
    tool_id: shownInteger,
    response_type: shownText,
    data: anything,
    file_ids: shownTexts,
    error: z.optional(
      z.nullable(
        z.looseObject({
          is_auth_error: z.optional(z.nullable(z.boolean())),
          status_code: optionalInteger,
          message: optionalText,
        }),
      ),
    ),
  }),
  packet("tool_call_argument_delta", { tool_type: optionalText, argument_deltas: anything }),
  packet("tool_call_debug", { tool_call_id: shownText, tool_name: shownText, tool_args: anything }),
  packet("file_reader_start", {}),
  packet("file_reader_result", {
    file_name: optionalText,
    file_id: shownText,
    start_char: shownInteger,
    end_char: shownInteger,
    total_chars: shownInteger,
    preview_start: shownText,
    preview_end: shownText,
  }),
  packet("memory_tool_start", {}),
  packet("memory_tool_delta", {
    memory_text: optionalText,
    operation: optionalText,
    memory_id: anything,
    index: shownInteger,
  }),
  packet("memory_tool_no_access", {}),
  packet("deep_research_plan_start", {}),
  packet("deep_research_plan_delta", { content: text }),
  packet("research_agent_start", { research_task: optionalText }),
  packet("intermediate_report_start", {}),
  packet("intermediate_report_delta", { content: text }),
  packet("intermediate_report_cited_docs", { cited_docs: z.optional(z.nullable(documents)) }),
  packet("coding_agent_start", { query: optionalText, repo: optionalText }),
  packet("coding_agent_thinking_delta", { content: text }),
  packet("coding_agent_final", { answer: optionalText }),
  packet("bash_tool_start", { cmd: optionalText }),
  packet("bash_tool_delta", {
    stdout: optionalText,
    stderr: optionalText,
    exit_code: optionalInteger,
    timed_out: z.optional(z.nullable(z.boolean())),
  }),
]);
export type Packet = z.infer<typeof Packet>;

export const Placement = z.looseObject({
  turn_index: z.optional(z.nullable(z.int())),
  tab_index: optionalInteger,
  sub_turn_index: optionalInteger,
  model_index: optionalInteger,
});
export type Placement = z.infer<typeof Placement>;

/** The error line: the turn failed despite HTTP status 200. */
export const StreamFailure = z.looseObject({
  error: text,
  error_code: optionalText,
  is_retryable: z.optional(z.nullable(z.boolean())),
  /** Of a failure of the model's vendor: the model. */
  details: orElse(z.optional(z.nullable(z.looseObject({ model: shownText }))), null),
});
export type StreamFailure = z.infer<typeof StreamFailure>;

// The id becomes part of URLs and of commands that users copy.
const plainId = /^[\w-]{1,200}$/;
export const SessionLine = z.looseObject({ chat_session_id: text.check(z.regex(plainId)) });
export const MessageIdsLine = z.looseObject({
  user_message_id: optionalInteger,
  reserved_assistant_message_id: z.int(),
});
export const ModelsLine = z.looseObject({
  user_message_id: optionalInteger,
  responses: z.array(z.looseObject({ message_id: z.int(), model_name: optionalText })),
});
export const PacketLine = z.looseObject({
  placement: z.nullable(Placement),
  obj: z.looseObject({ type: text }),
});

/** One line of the stream, recognised by its members (observed-service.md 2.2); `raw` is the line as sent. */
export type ChatEvent = { raw: string } & (
  | { kind: "session"; sessionId: string }
  | { kind: "ids"; userMessageId: number | null; assistantMessageId: number }
  | {
      kind: "models";
      userMessageId: number | null;
      responses: { messageId: number; modelName: string | null }[];
    }
  | { kind: "failure"; failure: StreamFailure }
  | { kind: "packet"; placement: Placement | null; packet: Packet }
  | { kind: "reply"; reply: ChatReply }
  /** A line of a later release or of another sender: no part of the answer is missing. */
  | { kind: "unknown" }
  /** An unreadable line: a part of the answer may be missing. */
  | { kind: "damaged" }
);

// --- the reply with `stream: false`: observed-service.md 1.8 ---

export const ChatReply = z.looseObject({
  answer: text,
  answer_citationless: optionalText,
  pre_answer_reasoning: optionalText,
  tool_calls: z.optional(
    z.nullable(
      z.array(
        z.looseObject({
          tool_name: text,
          tool_arguments: z.optional(z.unknown()),
          tool_result: z.optional(z.unknown()),
          search_docs: z.optional(z.nullable(documents)),
          generated_images: orElse(z.optional(z.nullable(z.array(GeneratedImage))), null),
          pre_reasoning: shownText,
        }),
      ),
    ),
  ),
  top_documents: z.optional(z.nullable(documents)),
  citation_info: z.optional(
    z.nullable(z.array(z.looseObject({ citation_number: z.int(), document_id: text }))),
  ),
  message_id: optionalInteger,
  // Accept the answer even if its session id is invalid.
  chat_session_id: z.optional(
    z.pipe(
      z.unknown(),
      z.transform((id) => (typeof id === "string" && plainId.test(id) ? id : null)),
    ),
  ),
  error_msg: optionalText,
});
export type ChatReply = z.infer<typeof ChatReply>;
