import { pythonRepr } from "../http/python.ts";
import { detail } from "../http/validation.ts";
import type { Service } from "../service.ts";
import type { Caller } from "../store/access.ts";
import type { Filters } from "../store/index/search.ts";
import type { Message, Session } from "../store/sessions.ts";
import type { Attachment } from "./answer.ts";
import type { ChatRequest } from "./chat-request.ts";
import type { ModelServer } from "./model/client.ts";
import { historyOf } from "./model/prompt.ts";
import type { ModelTurn } from "./model/turn.ts";

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
