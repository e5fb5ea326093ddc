import * as z from "zod/mini";
import type { Call } from "../http/call.ts";
import {
  OnyxFilters,
  StandardFilters,
  toFilters,
  bodyOf,
  type DialectName,
  invalidRequest,
  laxBoolean,
  laxInteger,
  laxNumber,
  laxUuid,
  maybe,
  pythonRepr,
  detail,
} from "../http/validation.ts";
import type { Service } from "../service.ts";
import type { Caller } from "../store/access.ts";
import type { Filters } from "../store/index/search.ts";
import type { Message, Session } from "../store/sessions.ts";
import type { Attachment } from "./answer.ts";
import type { ModelServer } from "./model/client.ts";
import { historyOf, type ModelTurn } from "./model/turn.ts";

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

/** Why a turn cannot begin. Sent as an error line, because status 200 was already sent. */
export class SetupFailure extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.name = "SetupFailure";
    this.code = code;
  }
}
export const invalid = (message: string): SetupFailure =>
  new SetupFailure("VALIDATION_ERROR", message);

/** Documented: an invalid combination fails the request. `onyx` uses its default model instead. */
export function checkModels(service: Service, request: ChatRequest): void {
  const { llm_override: override, llm_overrides: overrides } = request;
  for (const each of overrides.length > 1 ? overrides : [override]) checkModel(service, each);
}

function checkModel(service: Service, override: ChatRequest["llm_override"]): void {
  const { dialect, models, model } = service;
  if (dialect === "onyx" || !override) return;
  const { model_provider: provider, model_version: version } = override;
  const names = provider ? models[provider] : Object.values(models)[0];
  if (!names || (provider && !Object.hasOwn(models, provider))) {
    throw detail(400, `Unknown model provider: ${provider}`);
  }
  // A model server checks the names of its models itself.
  if (version && !model && !names.includes(version)) {
    throw detail(
      400,
      `Model version ${version} does not belong to ${provider ?? "the default provider"}`,
    );
  }
}

/**
 * The model to request from a server. `onyx` uses a version only with a known provider, and
 * otherwise silently its default model: observed-service.md 1.3.
 */
function requestedModel(
  service: Service,
  server: ModelServer,
  { llm_override: override }: ChatRequest,
): string {
  const { model_provider: provider, model_version: version } = override ?? {};
  const isKnown = provider ? Object.hasOwn(service.models, provider) : service.dialect !== "onyx";
  return isKnown && version ? version : server.model;
}

/** The input of a model's turn, if the sandbox has a model. `branch` holds the earlier messages. */
export function modelTurnOf(
  service: Service,
  request: ChatRequest,
  branch: readonly Message[],
): ModelTurn | undefined {
  const { model: server } = service;
  return (
    server && {
      server,
      model: requestedModel(service, server, request),
      temperature: request.llm_override?.temperature ?? undefined,
      history: historyOf(branch),
      additional: request.additional_context ?? undefined,
    }
  );
}

/**
 * The label of the answer's model. It prefers the names in the override, so it may name a
 * model that was not used: observed-service.md 1.3.
 */
export function modelLabel({ models }: Service, { llm_override: override }: ChatRequest): string {
  const own = Object.values(models)[0]?.[0] ?? "extractive";
  return override?.display_name || override?.model_version || own;
}

/** The session to continue. Throws a SetupFailure if it does not exist. */
export function findSession(service: Service, id: string): Session {
  const session = service.sessions.find(id);
  if (!session) throw invalid("Invalid Chat Session ID provided");
  if (session.deleted) throw invalid("Chat session has been deleted");
  return session;
}

/** The refusal of document sets that do not exist, or that the caller may not see. */
export const noAccessToSets = (names: readonly string[]): string =>
  `User does not have access to document sets: [${names.map((name) => pythonRepr(name)).join(", ")}]`;

/** The refusal of an agent or a project, in the words of the service. */
export const noAccessTo = (what: "persona" | "project"): string =>
  `User does not have access to ${what}`;

/** The filters with document sets replaced by their pairs. */
export function filtersOf(service: Service, request: ChatRequest, caller: Caller): Filters {
  if (request.document_set.length === 0) return request.filters;
  const found = request.document_set.map((name) => service.documentSets.pairsOf(name, caller));
  const unknown = request.document_set.filter((_, at) => found[at] === undefined);
  if (unknown.length > 0) {
    throw new SetupFailure("INSUFFICIENT_PERMISSIONS", noAccessToSets(unknown));
  }
  return { ...request.filters, pairs: found.flatMap((pairs) => pairs ?? []) };
}

/** The texts of the files attached to the message. */
export function attachmentsOf(service: Service, request: ChatRequest): Attachment[] {
  return request.file_descriptors.flatMap((descriptor) => {
    if (
      service.dialect === "onyx" &&
      !descriptor.user_file_id &&
      request.chat_session_info.project_id === null
    ) {
      // The service treats it as a project file: observed-service.md 1.4.
      throw invalid("Project ID is required to load project files");
    }
    const file = service.files.read(descriptor.id);
    if (!file) throw invalid(`File not found: ${descriptor.id}`);
    return file.text === undefined ? [] : [{ name: file.name, text: file.text }];
  });
}

interface Place {
  parent: number;
  /** The question to ask again, if the parent is a user message. */
  again: Message | undefined;
}

/** The position of a new message in the tree: observed-service.md 1.6. */
export function placeOf(mainline: readonly Message[], parent: number | null): Place {
  const root = mainline[0]!;
  if (parent === -1) return { parent: mainline.at(-1)!.id, again: undefined };
  if (parent === null || parent === root.id) return { parent: root.id, again: undefined };
  const message = mainline.find(({ id }) => id === parent);
  if (!message) throw invalid("The new message sent is not on the latest mainline of messages");
  return { parent, again: message.type === "user" ? message : undefined };
}
