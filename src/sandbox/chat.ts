import type { Database } from "../database.ts";
import type { Attachment } from "./answer.ts";
import type { Call } from "./call.ts";
import { type ChatRequest, parseChatRequest } from "./chat-request.ts";
import type { Clock } from "./clock.ts";
import type { DocumentStore } from "./documents.ts";
import type { Files } from "./files.ts";
import type { LedgerWriter } from "./ledger.ts";
import { encodeLine, failure, type Framing, type Line } from "./packets.ts";
import { detail, type DialectName, json, problem, Refusal, type Reply } from "./reply.ts";
import type { Route } from "./routes.ts";
import { type Filters, searchPassages } from "./search.ts";
import type { Message, Session, Sessions } from "./sessions.ts";
import { listTool, searchTool } from "./tools.ts";
import { runTurn } from "./turn.ts";
import { gatherReply } from "./whole.ts";

export interface ChatOptions {
  dialect: DialectName;
  framing: Framing;
  database: Database;
  documents: DocumentStore;
  sessions: Sessions;
  files: Files;
  ledger: LedgerWriter;
  clock: Clock;
  tokenDelayMs: number;
  /** Model names per provider; the first of each is its default. */
  models: Record<string, readonly string[]>;
  /** Pairs per document set. */
  documentSets: Record<string, readonly number[]>;
  /** Runs that can be stopped, per session. */
  runs: Map<string, AbortController>;
}

/** Why a turn cannot begin; becomes an error line, since the 200 was sent already. */
class SetupFailure extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.name = "SetupFailure";
    this.code = code;
  }
}
const invalid = (message: string): SetupFailure => new SetupFailure("VALIDATION_ERROR", message);

/** Documented: an invalid combination makes the request fail. `onyx` takes its default model instead. */
function checkModel({ dialect, models }: ChatOptions, { override }: ChatRequest): void {
  if (dialect === "onyx" || !override) return;
  const { model_provider: provider, model_version: version } = override;
  const names = provider ? models[provider] : Object.values(models)[0];
  if (!names || (provider && !Object.hasOwn(models, provider))) {
    throw new Refusal(detail(400, `Unknown model provider: ${provider}`));
  }
  if (version && !names.includes(version)) {
    throw new Refusal(
      detail(400, `Model version ${version} does not belong to ${provider ?? "the default provider"}`),
    );
  }
}

function findSession(options: ChatOptions, id: string): Session {
  const session = options.sessions.find(id);
  if (!session) throw invalid("Invalid Chat Session ID provided");
  if (session.deleted) throw invalid("Chat session has been deleted");
  return session;
}

function filtersOf(options: ChatOptions, request: ChatRequest): Filters {
  const { documentSets } = options;
  if (!request.documentSets || request.documentSets.length === 0) return request.filters;
  const pairs = request.documentSets.flatMap((name) => {
    if (Object.hasOwn(documentSets, name)) return documentSets[name]!;
    if (options.dialect === "standard") return [];
    throw new SetupFailure("INSUFFICIENT_PERMISSIONS", `Document set not found: ${name}`);
  });
  return { ...request.filters, pairs };
}

function attachmentsOf(options: ChatOptions, request: ChatRequest): Attachment[] {
  return request.files.flatMap((descriptor) => {
    if (options.dialect === "onyx" && !descriptor.user_file_id && request.info.projectId === null) {
      // Taken for a project file: observed-service.md 1.4.
      throw invalid("Project ID is required to load project files");
    }
    const file = options.files.read(descriptor.id);
    if (!file) throw invalid(`File not found: ${descriptor.id}`);
    return file.text === undefined ? [] : [{ name: file.name, text: file.text }];
  });
}

interface Place {
  parent: number;
  /** The question asked again, when the parent is a user message. */
  again: Message | undefined;
}

/** observed-service.md 1.6 */
function placeOf(mainline: readonly Message[], parent: number | null): Place {
  const root = mainline[0]!;
  if (parent === -1) return { parent: mainline.at(-1)!.id, again: undefined };
  if (parent === null || parent === root.id) return { parent: root.id, again: undefined };
  const message = mainline.find(({ id }) => id === parent);
  if (!message) throw invalid("The new message sent is not on the latest mainline of messages");
  return { parent, again: message.type === "user" ? message : undefined };
}

function* begin(options: ChatOptions, request: ChatRequest): Generator<Line, Session> {
  const { sessions, dialect } = options;
  if (request.sessionId !== undefined) return findSession(options, request.sessionId);
  const { personaId, projectId } = request.info;
  if (dialect === "onyx" && personaId !== 0) throw invalid(`Persona ${personaId} is not available`);
  if (dialect === "onyx" && projectId !== null) throw invalid(`Project ${projectId} not found`);
  const session = sessions.create(request.info);
  yield { chat_session_id: session.id, incognito: false };
  return session;
}

async function* answer(
  options: ChatOptions,
  request: ChatRequest,
  call: Call,
  session: Session,
): AsyncGenerator<Line> {
  const { sessions, documents, database, clock, runs } = options;
  const attachments = attachmentsOf(options, request);
  const filters = filtersOf(options, request);
  const { parent, again } = placeOf(sessions.mainline(session.id), request.parent);
  const question = again ? undefined : { text: request.message, files: request.files };
  const { userId, assistantId } = sessions.begin(session.id, parent, question);
  yield { user_message_id: userId, reserved_assistant_message_id: assistantId };
  const tools = [searchTool.id, listTool.id].filter(
    (id) => request.allowedTools?.includes(id) ?? true,
  );
  if (request.forcedTool !== undefined && !tools.includes(request.forcedTool)) {
    const error = `Forced tool ${request.forcedTool} not found in tools`;
    sessions.finish(assistantId, { text: "", documents: [], citations: {}, error });
    yield failure("VALIDATION_ERROR", error, true);
    return;
  }
  const stop = new AbortController();
  runs.set(session.id, stop);
  try {
    yield* runTurn({
      question: again?.text ?? request.message,
      filters,
      mayFilter: true,
      search: tools.includes(searchTool.id)
        ? (terms, active) => searchPassages(database, terms, active, 60)
        : undefined,
      listDocuments:
        request.forcedTool === listTool.id
          ? () => documents.list({ newestFirst: true, limit: 10 }).map(({ id, name }) => ({ id, name }))
          : undefined,
      attachments,
      includeCitations: request.includeCitations,
      clock,
      tokenDelayMs: request.stream ? options.tokenDelayMs : 0,
      stopped: stop.signal,
      unread: call.signal,
      finish: (outcome) => sessions.finish(assistantId, outcome),
    });
  } finally {
    if (runs.get(session.id) === stop) runs.delete(session.id);
  }
}

async function* conversation(
  options: ChatOptions,
  request: ChatRequest,
  call: Call,
): AsyncGenerator<Line> {
  try {
    const session = yield* begin(options, request);
    yield* answer(options, request, call, session);
  } catch (error) {
    if (!(error instanceof SetupFailure)) throw error;
    // Flagged retryable although it is not: observed-service.md 2.6.
    yield failure(error.code, error.message, true);
  }
}

async function* encoded(lines: AsyncIterable<Line>, framing: Framing): AsyncGenerator<string> {
  for await (const line of lines) yield encodeLine(line, framing);
}

async function sendMessage(options: ChatOptions, call: Call): Promise<Reply> {
  const { dialect, framing, ledger } = options;
  const body = call.json();
  ledger.asked(body);
  const request = parseChatRequest(body, dialect);
  checkModel(options, request);
  if (request.overrides.length > 1 && !request.stream) {
    return problem(dialect, 400, "INVALID_INPUT", "Multi-model mode requires streaming");
  }
  const lines = conversation(options, request, call);
  if (request.stream) {
    return {
      status: 200,
      headers: {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-cache",
        "x-accel-buffering": "no",
      },
      body: encoded(lines, framing),
    };
  }
  const { reply, setupError } = await gatherReply(lines);
  if (setupError === undefined) {
    return json(200, { ...reply, chat_session_id: reply.chat_session_id ?? request.sessionId });
  }
  // `onyx` loses the cause: observed-service.md 1.8.
  return dialect === "onyx"
    ? json(400, { message: "Message ID is required" })
    : detail(400, setupError);
}

/** The chat endpoint; the answer is stored with its session. */
export function chatRoutes(options: ChatOptions): Route[] {
  return [
    {
      method: "POST",
      path: "/api/chat/send-chat-message",
      bodyLimit: 8 * 1024 * 1024,
      handle: (call) => sendMessage(options, call),
    },
  ];
}
