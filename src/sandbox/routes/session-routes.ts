import * as z from "zod/mini";
import type { Call } from "../http/call.ts";
import { zuluTime } from "../store/identity.ts";
import { noAccessTo } from "../chat/chat-setup.ts";
import { pathUuid, queryTime } from "../http/query.ts";
import type { Framing } from "../chat/packets.ts";
import { detail, json, problem, Refusal, type Reply } from "../http/reply.ts";
import type { Route } from "../http/routes.ts";
import type { Runs } from "../chat/runs.ts";
import type { FeedbackStore } from "../store/feedback.ts";
import { replayOf, toDetail, toListed } from "../store/session-records.ts";
import type { Session, Sessions } from "../store/sessions.ts";
import { streamReply } from "../chat/stream-reply.ts";
import { laxBoolean, laxInteger, laxUuid, parseBody, refuseBody } from "../http/validation.ts";

export interface SessionOptions {
  sessions: Sessions;
  feedback: FeedbackStore;
  runs: Runs;
  framing: Framing;
}

function findKnown(sessions: Sessions, call: Call): Session {
  const session = findLive(sessions, pathUuid(call, "id"));
  if (!session) throw new Refusal(detail(404, "Chat session not found"));
  return session;
}

/** The session, unless it is unknown or deleted. */
function findLive(sessions: Sessions, id: string): Session | undefined {
  const session = sessions.find(id);
  return session?.deleted === false ? session : undefined;
}

const invalidSession = "Invalid Chat Session ID provided";

function list(sessions: Sessions, call: Call): Reply {
  const size = Number(call.query.get("page_size") ?? 50);
  if (!Number.isInteger(size) || size < 1 || size > 100) {
    const msg = "Input should be between 1 and 100";
    throw refuseBody([{ type: "value_error", loc: ["query", "page_size"], msg, input: size }]);
  }
  const before = queryTime(call, "before");
  const withEmpty = call.query.get("include_failed_chats") === "true";
  const found = sessions.list(size + 1, before, withEmpty);
  return json(200, { sessions: found.slice(0, size).map(toListed), has_more: found.length > size });
}

function show({ sessions, feedback, runs }: SessionOptions, call: Call): Reply {
  const session = findKnown(sessions, call);
  const messages = sessions.messages(session.id);
  const run = runs.find(session.id);
  return json(200, {
    chat_session_id: session.id,
    description: session.description ?? session.name,
    persona_id: session.personaId,
    persona_name: "Sandbox",
    messages: messages.map((each) => toDetail(each, feedback.find(each.id))),
    time_created: zuluTime(session.createdAt),
    shared_status: "private",
    packets: messages.filter(({ type }) => type === "assistant").map(replayOf),
    current_run: run ? { run_id: run.id } : null,
    deleted: false,
  });
}

const NewSession = z.looseObject({
  persona_id: z.optional(laxInteger),
  incognito: z.optional(laxBoolean),
  project_id: z.optional(z.nullable(laxInteger)),
  description: z.optional(z.nullable(z.string())),
});
const Renaming = z.looseObject({
  chat_session_id: laxUuid,
  name: z.optional(z.nullable(z.string())),
});

function create(sessions: Sessions, call: Call): Reply {
  const { persona_id, project_id, description, incognito } = parseBody(NewSession, call.json());
  if (incognito) return detail(403, "Incognito chats are not enabled");
  if (persona_id) return detail(403, noAccessTo("persona"));
  if (project_id) return detail(403, noAccessTo("project"));
  const info = { personaId: 0, projectId: null, description: description ?? null };
  return json(200, { chat_session_id: sessions.create(info).id, incognito: false });
}

function rename(sessions: Sessions, call: Call): Reply {
  const body = parseBody(Renaming, call.json());
  const session = findLive(sessions, body.chat_session_id);
  // Two shapes for one reason: observed-service.md 12.1.
  if (!session) return json(400, { message: invalidSession });
  const question = sessions.mainline(session.id).find(({ type }) => type === "user");
  // Without a name, the service asks a model for one; the sandbox uses the question.
  const name = body.name || question?.text.slice(0, 60) || "New chat";
  sessions.rename(session.id, name);
  return json(200, { new_name: name });
}

const unknownSession = (): Reply =>
  problem("onyx", 404, "SESSION_NOT_FOUND", "Chat session not found");

function stop(sessions: Sessions, runs: Runs, call: Call): Reply {
  const session = sessions.find(pathUuid(call, "id"));
  if (!session) return unknownSession();
  runs.find(session.id)?.stop();
  return json(200, { message: "Chat session stopped" });
}

/** The answer in progress, from line `cursor` on. */
function resume({ sessions, runs, framing }: SessionOptions, call: Call): Reply {
  const session = findLive(sessions, pathUuid(call, "id"));
  if (!session) return unknownSession();
  const run = runs.find(session.id);
  // A finished run cannot be resumed; clients read the session instead.
  if (!run) return problem("onyx", 404, "NOT_FOUND", "No run to resume");
  const cursor = Math.max(0, Math.trunc(Number(call.query.get("cursor") ?? 0))) || 0;
  return streamReply(run.read(call.signal, cursor), framing);
}

/** Sessions as `onyx` manages them: observed-service.md 2.8 and 5. */
export function sessionRoutes(options: SessionOptions): Route[] {
  const { sessions, runs } = options;
  const onyx = { dialect: "onyx", bodyLimit: 1024 * 1024 } as const;
  return [
    {
      ...onyx,
      method: "GET",
      path: "/api/chat/get-user-chat-sessions",
      handle: (call) => list(sessions, call),
    },
    {
      ...onyx,
      method: "GET",
      path: "/api/chat/get-chat-session/:id",
      anonymous: true,
      handle: (call) => show(options, call),
    },
    {
      ...onyx,
      method: "POST",
      path: "/api/chat/create-chat-session",
      handle: (call) => create(sessions, call),
    },
    {
      ...onyx,
      method: "PUT",
      path: "/api/chat/rename-chat-session",
      handle: (call) => rename(sessions, call),
    },
    {
      ...onyx,
      method: "POST",
      path: "/api/chat/stop-chat-session/:id",
      anonymous: true,
      handle: (call) => stop(sessions, runs, call),
    },
    {
      ...onyx,
      method: "DELETE",
      path: "/api/chat/delete-chat-session/:id",
      handle(call) {
        const session = findLive(sessions, pathUuid(call, "id"));
        if (!session) return detail(400, invalidSession);
        const { id } = session;
        if (call.query.get("hard_delete") === "true") sessions.erase(id);
        else sessions.remove(id);
        return json(200, null);
      },
    },
    {
      ...onyx,
      method: "GET",
      path: "/api/chat/chat-session/:id/resume-stream",
      anonymous: true,
      handle: (call) => resume(options, call),
    },
  ];
}
