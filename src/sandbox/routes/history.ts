import { randomUUID } from "node:crypto";
import * as z from "zod/mini";
import type { App, Call } from "../http/call.ts";
import { detail, laxTime, pageOf, pages, pathUuid, queryOf } from "../http/validation.ts";
import type { Service } from "../service.ts";
import { zuluTime } from "../store/identity.ts";
import { type FeedbackStore, kindOf, type Message, type Session } from "../store/sessions.ts";

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
  const documents = message.documents as Record<string, unknown>[];
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

const Pages = pages(10);
const Selection = z.object({
  feedback_type: z.optional(z.enum(["like", "dislike", "mixed"])),
  start_time: z.optional(laxTime),
  end_time: z.optional(laxTime),
});
const Export = z.object({ start: z.optional(laxTime), end: z.optional(laxTime) });

function list({ sessions, feedback }: Service, c: Call): Response {
  const { feedback_type, start_time, end_time } = queryOf(c, Selection);
  const [start, end] = [start_time?.ms ?? 0, end_time?.ms ?? Infinity];
  const found = sessions
    .list(-1, undefined, true)
    .filter(({ createdAt }) => createdAt >= start && createdAt <= end)
    .map((session) => toListed(session, sessions.messages(session.id), feedback))
    .filter((listed) => feedback_type === undefined || listed.feedback_type === feedback_type);
  return pageOf(c, found, Pages);
}

function show({ sessions, feedback }: Service, c: Call): Response {
  const session = sessions.find(pathUuid(c, "id"));
  if (!session || session.deleted) throw detail(404, "Chat session not found");
  const messages = sessions
    .messages(session.id)
    .filter(({ type }) => type !== "system")
    .map((message) => toMessage(message, feedback));
  return c.json({ ...common(session), messages });
}

/** Everybody's sessions, for administrators: observed-service.md 11.5. No export is written. */
export function historyRoutes(app: App, service: Service): void {
  app.get("/api/admin/chat-session-history", (c) => list(service, c));
  app.get("/api/admin/chat-session-history/:id", (c) => show(service, c));
  app.post("/api/admin/query-history/start-export", (c) => {
    queryOf(c, Export);
    return c.json({ request_id: randomUUID() });
  });
}
