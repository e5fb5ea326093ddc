import { answer, type Question } from "../chat/answering.ts";
import {
  type ChatRequest,
  parseChatRequest,
  checkModels,
  findSession,
  invalid,
  noAccessTo,
  SetupFailure,
} from "../chat/request.ts";
import { failure, type Line, streamReply, unaryReply } from "../chat/packets.ts";
import type { Run } from "../chat/runs.ts";
import { type App, type Call, goneSignal } from "../http/call.ts";
import { detail, problem, refusal } from "../http/validation.ts";
import type { Service } from "../service.ts";
import type { Session } from "../store/sessions.ts";

function* begin(service: Service, request: ChatRequest): Generator<Line, Session> {
  const { sessions, dialect } = service;
  const { chat_session_id: id, chat_session_info: info } = request;
  if (id !== undefined) return findSession(service, id);
  const { persona_id: personaId, project_id: projectId, description } = info;
  if (personaId !== 0) throw invalid(noAccessTo("persona"));
  // The standard dialect makes and lists no projects: any id is one.
  if (dialect === "onyx" && projectId !== null) throw invalid(noAccessTo("project"));
  const session = sessions.create({ personaId, projectId, description });
  yield { chat_session_id: session.id, incognito: false };
  return session;
}

async function* conversation(service: Service, question: Question, run: Run): AsyncGenerator<Line> {
  try {
    const session = yield* begin(service, question.request);
    yield* answer(service, question, session, run);
  } catch (error) {
    if (!(error instanceof SetupFailure)) throw error;
    // The service flags it as retryable although it is not: observed-service.md 2.6.
    yield failure(error.code, error.message, true);
  }
}

async function sendMessage(service: Service, c: Call): Promise<Response> {
  const { dialect, framing, ledger, runs } = service;
  ledger.asked(c.env.json());
  const request = parseChatRequest(c, dialect);
  if (service.play) return await service.play({ ...request, gone: goneSignal(c.env.outgoing) });
  checkModels(service, request);
  if (request.llm_overrides.length > 1 && !request.stream) {
    throw problem(dialect, 400, "INVALID_INPUT", "Multi-model mode requires streaming");
  }
  if (dialect === "onyx" && request.chat_session_info.incognito) {
    throw problem(dialect, 403, "INSUFFICIENT_PERMISSIONS", "Incognito chats are not enabled");
  }
  if (runs.isFull()) {
    throw problem(dialect, 503, "SERVICE_UNAVAILABLE", "Too many answers at once");
  }
  const question = { request, caller: c.env.caller };
  const lines = runs
    .start((run) => conversation(service, question, run))
    .read(goneSignal(c.env.outgoing));
  if (request.stream) return streamReply(lines, framing);
  const { reply, setupError } = await unaryReply(lines);
  if (setupError === undefined) {
    return c.json({ ...reply, chat_session_id: reply.chat_session_id ?? request.chat_session_id });
  }
  // `onyx` loses the cause: observed-service.md 1.8.
  throw dialect === "onyx"
    ? refusal(400, { message: "Message ID is required" })
    : detail(400, setupError);
}

/** The chat endpoint; the answer is stored with its session. */
export function chatRoutes(app: App, service: Service): void {
  app.post("/api/chat/send-chat-message", (c) => sendMessage(service, c));
}
