import { randomUUID } from "node:crypto";
import type { Call } from "../http/call.ts";
import { queryChoice, queryInteger, queryTime } from "../http/query.ts";
import { detail, json, type Reply } from "../http/reply.ts";
import type { Route } from "../http/routes.ts";
import { type FeedbackStore, kindOf } from "../store/feedback.ts";
import { zuluTime } from "../store/identity.ts";
import type { Message, Session, Sessions } from "../store/sessions.ts";

const kinds = ["like", "dislike", "mixed"] as const;

/** The sandbox stores no person with a session: it shows the address of anonymised users. */
const anonymousEmail = "anonymous@anonymous.invalid";

const common = (session: Session) => ({
  id: session.id,
  user_email: anonymousEmail,
  name: session.name,
  assistant_id: session.personaId,
  assistant_name: "Sandbox",
  time_created: zuluTime(session.createdAt),
  flow_type: "Chat",
});

function toListed(session: Session, messages: readonly Message[], feedback: FeedbackStore) {
  const first = (type: Message["type"]): string =>
    messages.find((message) => message.type === type)?.text ?? "";
  const found = new Set(messages.map(({ id }) => kindOf(feedback.find(id))));
  found.delete(null);
  return {
    ...common(session),
    first_user_message: first("user"),
    first_ai_message: first("assistant"),
    feedback_type: found.size > 1 ? "mixed" : ([...found][0] ?? null),
    conversation_length: messages.filter(({ type }) => type !== "system").length,
  };
}

function toMessage(message: Message, feedback: FeedbackStore) {
  const own = feedback.find(message.id);
  const documents = message.documents as {
    document_id: string;
    semantic_identifier: string;
    link: string | null;
  }[];
  return {
    id: message.id,
    message: message.text,
    message_type: message.type,
    documents: documents.map(({ document_id, semantic_identifier, link }) => ({
      document_id,
      semantic_identifier,
      link,
    })),
    feedback_type: kindOf(own),
    feedback_text: own?.text ?? null,
    time_created: zuluTime(message.sentAt),
  };
}

function list(sessions: Sessions, feedback: FeedbackStore, call: Call): Reply {
  const page = queryInteger(call, "page_num", { otherwise: 0, min: 0 });
  const size = queryInteger(call, "page_size", { otherwise: 10, min: 1 });
  const kind = queryChoice(call, "feedback_type", kinds);
  const start = queryTime(call, "start_time") ?? 0;
  const end = queryTime(call, "end_time") ?? Infinity;
  const found = sessions
    .list(-1, undefined, true)
    .filter(({ createdAt }) => createdAt >= start && createdAt <= end)
    .map((session) => toListed(session, sessions.messages(session.id), feedback))
    .filter((listed) => kind === undefined || listed.feedback_type === kind);
  const items = found.slice(page * size, (page + 1) * size);
  return json(200, { items, total_items: found.length });
}

function show(sessions: Sessions, feedback: FeedbackStore, call: Call): Reply {
  const session = sessions.find(call.parameters["id"]!);
  if (!session || session.deleted) return detail(404, "Chat session not found");
  const messages = sessions
    .messages(session.id)
    .filter(({ type }) => type !== "system")
    .map((message) => toMessage(message, feedback));
  return json(200, { ...common(session), messages });
}

/** Everybody's sessions, for administrators: observed-service.md 11.5. No export is written. */
export function historyRoutes(sessions: Sessions, feedback: FeedbackStore): Route[] {
  return [
    {
      dialect: "onyx",
      method: "GET",
      path: "/api/admin/chat-session-history",
      handle: (call) => list(sessions, feedback, call),
    },
    {
      dialect: "onyx",
      method: "GET",
      path: "/api/admin/chat-session-history/:id",
      handle: (call) => show(sessions, feedback, call),
    },
    {
      dialect: "onyx",
      method: "POST",
      path: "/api/admin/query-history/start-export",
      bodyLimit: 1024 * 1024,
      handle(call) {
        queryTime(call, "start");
        queryTime(call, "end");
        return json(200, { request_id: randomUUID() });
      },
    },
  ];
}
