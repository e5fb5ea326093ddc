import type { Call } from "./call.ts";
import { type ChatRequest, parseChatRequest } from "./chat-request.ts";
import {
  attachmentsOf,
  type ChatOptions,
  checkModel,
  filtersOf,
  findSession,
  invalid,
  modelLabel,
  modelTurnOf,
  placeOf,
  SetupFailure,
  visibleFilters,
} from "./chat-setup.ts";
import { runModelTurn } from "./model/turn.ts";
import { failure, type Line } from "./packets.ts";
import { detail, json, problem, type Reply } from "./reply.ts";
import type { Route } from "./routes.ts";
import type { Run } from "./runs.ts";
import { searchPassages } from "./search.ts";
import type { Session } from "./sessions.ts";
import { listTool, searchTool } from "./tools.ts";
import { streamReply } from "./stream-reply.ts";
import { runTurn, type Turn } from "./turn.ts";
import { gatherReply } from "./whole.ts";

interface Question {
  request: ChatRequest;
  anonymous: boolean;
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

/** Ids that are not known here are ignored, as the service does. */
function toolsOf({ allowedTools }: ChatRequest): number[] {
  return [searchTool.id, listTool.id].filter((id) => allowedTools?.includes(id) ?? true);
}

/** Everything that a turn needs but its run, gathered before anything is stored. */
function prepare(options: ChatOptions, { request, anonymous }: Question, session: Session) {
  const attachments = attachmentsOf(options, request);
  const asked = filtersOf(options, request);
  const mainline = options.sessions.mainline(session.id);
  const { parent, again } = placeOf(mainline, request.parent);
  const at = mainline.findIndex(({ id }) => id === parent);
  return {
    attachments,
    filters: anonymous ? visibleFilters(asked, options.publicPairs) : asked,
    parent,
    again,
    before: mainline.slice(0, again ? at : at + 1),
  };
}

function turnOf(
  options: ChatOptions,
  request: ChatRequest,
  prepared: ReturnType<typeof prepare>,
  run: Run,
  finish: Turn["finish"],
): Turn {
  const { documents, database, clock } = options;
  const newest = () =>
    documents.list({ newestFirst: true, limit: 10 }).map(({ id, name }) => ({ id, name }));
  return {
    question: prepared.again?.text ?? request.message,
    filters: prepared.filters,
    search: toolsOf(request).includes(searchTool.id)
      ? (terms, active) => searchPassages(database, terms, active, 60)
      : undefined,
    listDocuments: request.forcedTool === listTool.id ? newest : undefined,
    attachments: prepared.attachments,
    includeCitations: request.includeCitations,
    deepResearch: request.deepResearch,
    clock,
    tokenDelayMs: request.stream ? options.tokenDelayMs : 0,
    stopped: run.stopped,
    ending: run.ending,
    finish,
  };
}

async function* answer(
  options: ChatOptions,
  question: Question,
  session: Session,
  run: Run,
): AsyncGenerator<Line> {
  const { sessions, runs } = options;
  const { request } = question;
  const prepared = prepare(options, question, session);
  const { userId, assistantId } = sessions.begin(
    session.id,
    prepared.parent,
    prepared.again ? undefined : { text: request.message, files: request.files },
    modelLabel(options, request),
  );
  yield { user_message_id: userId, reserved_assistant_message_id: assistantId };
  if (request.forcedTool !== undefined && !toolsOf(request).includes(request.forcedTool)) {
    const error = `Forced tool ${request.forcedTool} not found in tools`;
    sessions.finish(assistantId, { text: "", documents: [], citations: {}, error });
    yield failure("VALIDATION_ERROR", error, true);
    return;
  }
  const turn = turnOf(options, request, prepared, run, (outcome) =>
    sessions.finish(assistantId, outcome),
  );
  const asked = modelTurnOf(options, request, prepared.before);
  runs.enter(session.id, run);
  try {
    yield* asked ? runModelTurn(turn, asked) : runTurn(turn);
  } finally {
    runs.leave(session.id, run);
  }
}

async function* conversation(
  options: ChatOptions,
  question: Question,
  run: Run,
): AsyncGenerator<Line> {
  try {
    const session = yield* begin(options, question.request);
    yield* answer(options, question, session, run);
  } catch (error) {
    if (!(error instanceof SetupFailure)) throw error;
    // Flagged retryable although it is not: observed-service.md 2.6.
    yield failure(error.code, error.message, true);
  }
}

async function sendMessage(options: ChatOptions, call: Call): Promise<Reply> {
  const { dialect, framing, ledger } = options;
  const body = call.json();
  ledger.asked(body);
  const request = parseChatRequest(body, dialect);
  if (options.play) return await options.play({ ...request, gone: call.signal });
  checkModel(options, request);
  if (request.overrides.length > 1 && !request.stream) {
    return problem(dialect, 400, "INVALID_INPUT", "Multi-model mode requires streaming");
  }
  if (options.runs.isFull()) {
    return problem(dialect, 503, "SERVICE_UNAVAILABLE", "Too many answers at once");
  }
  const question = { request, anonymous: call.anonymous };
  const run = options.runs.start((run) => conversation(options, question, run));
  const lines = run.read(call.signal);
  if (request.stream) return streamReply(lines, framing);
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
      anonymous: true,
      bodyLimit: 8 * 1024 * 1024,
      handle: (call) => sendMessage(options, call),
    },
  ];
}
