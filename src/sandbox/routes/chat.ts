import { answer, type Question } from "../chat/answering.ts";
import type { Call } from "../http/call.ts";
import { type ChatRequest, parseChatRequest } from "../chat/chat-request.ts";
import {
  type ChatOptions,
  checkModels,
  findSession,
  invalid,
  noAccessTo,
  SetupFailure,
} from "../chat/chat-setup.ts";
import { failure, type Line } from "../chat/packets.ts";
import { detail, json, problem, type Reply } from "../http/reply.ts";
import type { Route } from "../http/routes.ts";
import type { Run } from "../chat/runs.ts";
import type { Session } from "../store/sessions.ts";
import { streamReply } from "../chat/stream-reply.ts";
import { unaryReply } from "../chat/unary-reply.ts";

function* begin(options: ChatOptions, request: ChatRequest): Generator<Line, Session> {
  const { sessions, dialect } = options;
  if (request.sessionId !== undefined) return findSession(options, request.sessionId);
  const { personaId, projectId } = request.info;
  if (personaId !== 0) throw invalid(noAccessTo("persona"));
  // The standard interface makes and lists no projects: any id is one.
  if (dialect === "onyx" && projectId !== null) throw invalid(noAccessTo("project"));
  const session = sessions.create(request.info);
  yield { chat_session_id: session.id, incognito: false };
  return session;
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
    // The service flags it as retryable although it is not: observed-service.md 2.6.
    yield failure(error.code, error.message, true);
  }
}

async function sendMessage(options: ChatOptions, call: Call): Promise<Reply> {
  const { dialect, framing, ledger } = options;
  const body = call.json();
  ledger.asked(body);
  const request = parseChatRequest(body, dialect);
  if (options.play) return await options.play({ ...request, gone: call.signal });
  checkModels(options, request);
  if (request.overrides.length > 1 && !request.stream) {
    return problem(dialect, 400, "INVALID_INPUT", "Multi-model mode requires streaming");
  }
  if (dialect === "onyx" && request.info.incognito) {
    return problem(dialect, 403, "INSUFFICIENT_PERMISSIONS", "Incognito chats are not enabled");
  }
  if (options.runs.isFull()) {
    return problem(dialect, 503, "SERVICE_UNAVAILABLE", "Too many answers at once");
  }
  const question = { request, caller: call.caller };
  const run = options.runs.start((run) => conversation(options, question, run));
  const lines = run.read(call.signal);
  if (request.stream) return streamReply(lines, framing);
  const { reply, setupError } = await unaryReply(lines);
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
