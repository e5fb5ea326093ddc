import * as z from "zod/mini";
import type { Call } from "../http/call.ts";
import { OnyxFilters, StandardFilters, toFilters } from "../http/filters.ts";
import {
  bodyOf,
  type DialectName,
  invalidRequest,
  laxBoolean,
  laxInteger,
  laxNumber,
  laxUuid,
  maybe,
} from "../http/validation.ts";

const text = z.string();

const Override = z.looseObject({
  model_configuration_id: maybe(laxInteger),
  model_provider: maybe(text),
  model_version: maybe(text),
  temperature: maybe(laxNumber),
  display_name: maybe(text),
});

const Descriptor = z.looseObject({
  id: text,
  type: z.enum(["image", "document", "plain_text", "tabular"]),
  name: maybe(text),
  user_file_id: maybe(text),
});

const SessionInfo = z.object({
  persona_id: z._default(laxInteger, 0),
  project_id: z._default(z.nullable(laxInteger), null),
  description: z._default(z.nullable(text), null),
  incognito: z._default(laxBoolean, false),
  incognito_session_id: maybe(laxUuid),
});

// observed-service.md 1.1. The service silently ignores unknown members.
const common = {
  message: text,
  llm_override: maybe(Override),
  llm_overrides: maybe(z.array(Override)),
  allowed_tool_ids: maybe(z.array(laxInteger)),
  forced_tool_id: maybe(laxInteger),
  file_descriptors: z._default(z.array(Descriptor), []),
  deep_research: z._default(laxBoolean, false),
  // -1: after the last message; null: from the root. observed-service.md 1.6.
  parent_message_id: z._default(z.nullable(laxInteger), -1),
  chat_session_info: maybe(SessionInfo),
  stream: z._default(laxBoolean, true),
  include_citations: z._default(laxBoolean, true),
  additional_context: maybe(text),
  mcp_headers: maybe(z.record(text, text)),
  mock_llm_response: maybe(text),
  origin: z.optional(
    z.enum([
      "webapp",
      "chrome_extension",
      "api",
      "slackbot",
      "widget",
      "discordbot",
      "mobile",
      "unknown",
      "unset",
    ]),
  ),
};
const StandardBody = z.object({
  ...common,
  chat_session_id: maybe(text),
  search_filters: maybe(StandardFilters),
});
const OnyxBody = z.object({
  ...common,
  chat_session_id: maybe(laxUuid),
  internal_search_filters: maybe(OnyxFilters),
});

export type ChatRequest = ReturnType<typeof parseChatRequest>;

/** Validates a chat body as the dialect does. Throws the refusal with status 422. */
export function parseChatRequest(c: Call, dialect: DialectName) {
  // Each dialect reads its own member with filters and drops the other one.
  const parsed = dialect === "onyx" ? bodyOf(c, OnyxBody) : bodyOf(c, StandardBody);
  const filters =
    (parsed as z.infer<typeof OnyxBody>).internal_search_filters ??
    (parsed as z.infer<typeof StandardBody>).search_filters;
  const { chat_session_info: info, llm_overrides, forced_tool_id } = parsed;
  // The documented interface allows an empty id.
  const chat_session_id = parsed.chat_session_id || undefined;
  if (chat_session_id !== undefined && info) {
    const message = "chat_session_id and chat_session_info exclude each other";
    throw invalidRequest("body", [{ code: "value_error", path: [], message, input: null }]);
  }
  return {
    ...parsed,
    chat_session_id,
    chat_session_info: info ?? SessionInfo.parse({}),
    llm_overrides: llm_overrides ?? [],
    // 0 counts as "not forced".
    forced_tool_id: forced_tool_id || undefined,
    filters: filters ? toFilters(filters) : {},
    document_set: filters?.document_set ?? [],
  };
}
