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
import type { Filters } from "../store/index/search.ts";

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

const SessionInfoBody = z.looseObject({
  persona_id: z.optional(laxInteger),
  project_id: maybe(laxInteger),
  description: maybe(text),
  incognito: z.optional(laxBoolean),
  incognito_session_id: maybe(laxUuid),
});

// observed-service.md 1.1. The service silently ignores unknown members.
const common = {
  message: text,
  llm_override: maybe(Override),
  llm_overrides: maybe(z.array(Override)),
  allowed_tool_ids: maybe(z.array(laxInteger)),
  forced_tool_id: maybe(laxInteger),
  file_descriptors: z.optional(z.array(Descriptor)),
  deep_research: z.optional(laxBoolean),
  parent_message_id: maybe(laxInteger),
  chat_session_info: maybe(SessionInfoBody),
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
const StandardBody = z.looseObject({
  ...common,
  chat_session_id: maybe(text),
  search_filters: maybe(StandardFilters),
});
const OnyxBody = z.looseObject({
  ...common,
  chat_session_id: maybe(laxUuid),
  internal_search_filters: maybe(OnyxFilters),
});

type Override = z.infer<typeof Override>;
type Descriptor = z.infer<typeof Descriptor>;

/** A chat message after validation, the same for both dialects. */
export interface ChatRequest {
  message: string;
  /** -1: after the last message; null: from the root. observed-service.md 1.6. */
  parent: number | null;
  sessionId: string | undefined;
  info: {
    personaId: number;
    projectId: number | null;
    description: string | null;
    incognito: boolean;
  };
  stream: boolean;
  includeCitations: boolean;
  deepResearch: boolean;
  override: Override | undefined;
  overrides: Override[];
  allowedTools: number[] | undefined;
  forcedTool: number | undefined;
  files: Descriptor[];
  filters: Filters;
  documentSets: string[] | undefined;
  /** Passed to a model, not stored. */
  additionalContext: string | undefined;
}

/** Validates a chat body as the dialect does. Throws the refusal with status 422. */
export function parseChatRequest(c: Call, dialect: DialectName): ChatRequest {
  const parsed = dialect === "onyx" ? bodyOf(c, OnyxBody) : bodyOf(c, StandardBody);
  const { chat_session_info: info, llm_override } = parsed;
  // The documented interface allows an empty id.
  const sessionId = parsed.chat_session_id || undefined;
  if (sessionId !== undefined && info) {
    const message = "chat_session_id and chat_session_info exclude each other";
    throw invalidRequest("body", [{ code: "value_error", path: [], message, input: null }]);
  }
  // Each dialect reads its own member and ignores the other one.
  const filters =
    dialect === "onyx"
      ? (parsed as z.infer<typeof OnyxBody>).internal_search_filters
      : (parsed as z.infer<typeof StandardBody>).search_filters;
  return {
    message: parsed.message,
    parent: parsed.parent_message_id === undefined ? -1 : parsed.parent_message_id,
    sessionId,
    info: {
      personaId: info?.persona_id ?? 0,
      projectId: info?.project_id ?? null,
      description: info?.description ?? null,
      incognito: info?.incognito ?? false,
    },
    stream: parsed.stream,
    includeCitations: parsed.include_citations,
    deepResearch: parsed.deep_research ?? false,
    override: llm_override ?? undefined,
    overrides: parsed.llm_overrides ?? [],
    allowedTools: parsed.allowed_tool_ids ?? undefined,
    // 0 counts as "not forced".
    forcedTool: parsed.forced_tool_id || undefined,
    files: parsed.file_descriptors ?? [],
    filters: filters ? toFilters(filters) : {},
    documentSets: filters?.document_set ?? undefined,
    additionalContext: parsed.additional_context ?? undefined,
  };
}
