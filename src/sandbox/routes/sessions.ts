import { randomUUID } from "node:crypto";
import * as z from "zod/mini";
import { type App, type Call, goneSignal } from "../http/call.ts";
import {
  detail,
  laxTime,
  pageOf,
  pages,
  pathUuid,
  queryOf,
  bodyOf,
  laxBoolean,
  laxInteger,
  laxUuid,
  maybe,
  problem,
  refusal,
} from "../http/validation.ts";
import type { Service } from "../service.ts";
import { zuluTime, offsetTime } from "../store/documents.ts";
import {
  type FeedbackStore,
  kindOf,
  type Message,
  type Session,
  type Feedback,
  type Sessions,
} from "../store/sessions.ts";
import { noAccessTo } from "../chat/request.ts";
import { type Line, packet, streamReply } from "../chat/packets.ts";

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

function toHistoryEntry(session: Session, messages: readonly Message[], feedback: FeedbackStore) {
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

function toHistoryMessage(message: Message, feedback: FeedbackStore) {
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
const HistorySelection = z.object({
  feedback_type: z.optional(z.enum(["like", "dislike", "mixed"])),
  start_time: z.optional(laxTime),
  end_time: z.optional(laxTime),
});
const Export = z.object({ start: z.optional(laxTime), end: z.optional(laxTime) });

function listHistory({ sessions, feedback }: Service, c: Call): Response {
  const { feedback_type, start_time, end_time } = queryOf(c, HistorySelection);
  const [start, end] = [start_time?.ms ?? 0, end_time?.ms ?? Infinity];
  const found = sessions
    .list(-1, undefined, true)
    .filter(({ createdAt }) => createdAt >= start && createdAt <= end)
    .map((session) => toHistoryEntry(session, sessions.messages(session.id), feedback))
    .filter((listed) => feedback_type === undefined || listed.feedback_type === feedback_type);
  return pageOf(c, found, Pages);
}

function showHistory({ sessions, feedback }: Service, c: Call): Response {
  const session = sessions.find(pathUuid(c, "id"));
  if (!session || session.deleted) throw detail(404, "Chat session not found");
  const messages = sessions
    .messages(session.id)
    .filter(({ type }) => type !== "system")
    .map((message) => toHistoryMessage(message, feedback));
  return c.json({ ...common(session), messages });
}

/** Everybody's sessions, for administrators: observed-service.md 11.5. No export is written. */
export function historyRoutes(app: App, service: Service): void {
  app.get("/api/admin/chat-session-history", (c) => listHistory(service, c));
  app.get("/api/admin/chat-session-history/:id", (c) => showHistory(service, c));
  app.post("/api/admin/query-history/start-export", (c) => {
    queryOf(c, Export);
    return c.json({ request_id: randomUUID() });
  });
}

/** An element of the session list: observed-service.md 5. */
function toListed(session: Session) {
  return {
    id: session.id,
    name: session.name,
    persona_id: session.personaId,
    time_created: offsetTime(session.createdAt),
    time_updated: offsetTime(session.updatedAt),
    shared_status: "private",
    current_alternate_model: null,
    current_temperature_override: null,
    current_reasoning_effort_override: null,
  };
}

/** A message in the form of the session endpoint. */
function toDetail(message: Message, feedback: Feedback | undefined) {
  return {
    message_id: message.id,
    parent_message: message.parent,
    latest_child_message: message.latestChild,
    message: message.text,
    reasoning_tokens: null,
    message_type: message.type,
    context_docs: message.type === "assistant" ? message.documents : null,
    citations: message.type === "assistant" ? message.citations : null,
    time_sent: zuluTime(message.sentAt),
    files: message.files,
    error: message.error,
    current_feedback: kindOf(feedback),
    model_display_name: message.model,
  };
}

/** Packets that replay a stored answer, with its text in one piece. */
function replayOf({ text, documents, citations }: Message): Line[] {
  const search = [
    packet(0, "search_tool_start", { is_internet_search: false }),
    packet(0, "search_tool_documents_delta", { documents }),
    packet(0, "section_end"),
  ];
  const at = documents.length > 0 ? 1 : 0;
  return [
    ...(at > 0 ? search : []),
    packet(at, "message_start", {
      final_documents: documents,
      pre_answer_processing_seconds: null,
    }),
    ...Object.entries(citations).map(([number, id]) =>
      packet(at, "citation_info", { citation_number: Number(number), document_id: id }),
    ),
    packet(at, "message_delta", { content: text }),
    packet(at, "stop", { stop_reason: null }),
  ];
}

/** The session, unless it is unknown or deleted. */
function findLive(sessions: Sessions, id: string): Session | undefined {
  const session = sessions.find(id);
  return session?.deleted === false ? session : undefined;
}

const invalidSession = "Invalid Chat Session ID provided";
const unknownSession = () => problem("onyx", 404, "SESSION_NOT_FOUND", "Chat session not found");

const Selection = z.object({
  page_size: z._default(laxInteger.check(z.gte(1), z.lte(100)), 50),
  before: z.optional(laxTime),
});

function list({ sessions }: Service, c: Call): Response {
  const { page_size: size, before } = queryOf(c, Selection);
  const withEmpty = c.req.query("include_failed_chats") === "true";
  const found = sessions.list(size + 1, before?.ms, withEmpty);
  return c.json({ sessions: found.slice(0, size).map(toListed), has_more: found.length > size });
}

function show({ sessions, feedback, runs }: Service, c: Call): Response {
  const session = findLive(sessions, pathUuid(c, "id"));
  if (!session) throw detail(404, "Chat session not found");
  const messages = sessions.messages(session.id);
  const run = runs.find(session.id);
  return c.json({
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
  project_id: maybe(laxInteger),
  description: maybe(z.string()),
});

function create({ sessions }: Service, c: Call): Response {
  const { persona_id, project_id, description, incognito } = bodyOf(c, NewSession);
  if (incognito) throw detail(403, "Incognito chats are not enabled");
  if (persona_id) throw detail(403, noAccessTo("persona"));
  if (project_id) throw detail(403, noAccessTo("project"));
  const info = { personaId: 0, projectId: null, description: description ?? null };
  return c.json({ chat_session_id: sessions.create(info).id, incognito: false });
}

const Renaming = z.looseObject({ chat_session_id: laxUuid, name: maybe(z.string()) });

function rename({ sessions }: Service, c: Call): Response {
  const body = bodyOf(c, Renaming);
  const session = findLive(sessions, body.chat_session_id);
  // Two shapes for one reason: observed-service.md 12.1.
  if (!session) throw refusal(400, { message: invalidSession });
  const question = sessions.mainline(session.id).find(({ type }) => type === "user");
  // Without a name, the service asks a model for one; the sandbox uses the question.
  const name = body.name || question?.text.slice(0, 60) || "New chat";
  sessions.rename(session.id, name);
  return c.json({ new_name: name });
}

function remove({ sessions }: Service, c: Call): Response {
  const session = findLive(sessions, pathUuid(c, "id"));
  if (!session) throw detail(400, invalidSession);
  if (c.req.query("hard_delete") === "true") sessions.erase(session.id);
  else sessions.remove(session.id);
  return c.json(null);
}

/** The answer in progress, from line `cursor` on. */
function resume({ sessions, runs, framing }: Service, c: Call): Response {
  const session = findLive(sessions, pathUuid(c, "id"));
  if (!session) throw unknownSession();
  const run = runs.find(session.id);
  // A finished run cannot be resumed; clients read the session instead.
  if (!run) throw problem("onyx", 404, "NOT_FOUND", "No run to resume");
  const cursor = Math.max(0, Math.trunc(Number(c.req.query("cursor") ?? 0))) || 0;
  return streamReply(run.read(goneSignal(c.env.outgoing), cursor), framing);
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null;
const NewFeedback = z
  .object({
    chat_message_id: laxInteger,
    is_positive: maybe(laxBoolean),
    feedback_text: maybe(z.string()),
    predefined_feedback: maybe(z.string()),
  })
  .check(
    z.refine(({ is_positive, feedback_text }) => isSet(is_positive) || isSet(feedback_text), {
      error: "is_positive or feedback_text is required",
    }),
  );

function checkAnswer({ sessions }: Service, id: number): void {
  if (sessions.message(id)?.type === "assistant") return;
  throw refusal(400, { message: `Message ${id} is not an answer` });
}

/** Feedback on answers: observed-service.md 11.5. The sandbox does not limit its rate. */
function setFeedback(service: Service, c: Call): Response {
  const { chat_message_id: id, is_positive, feedback_text } = bodyOf(c, NewFeedback);
  checkAnswer(service, id);
  service.feedback.set(id, { isPositive: is_positive ?? null, text: feedback_text ?? null });
  return c.json(null);
}

const OldFeedback = z.object({ chat_message_id: laxInteger });

function removeFeedback(service: Service, c: Call): Response {
  const { chat_message_id: id } = queryOf(c, OldFeedback);
  checkAnswer(service, id);
  service.feedback.remove(id);
  return c.json(null);
}

/** Sessions as `onyx` manages them: observed-service.md 2.8 and 5. */
export function sessionRoutes(app: App, service: Service): void {
  const { sessions, runs } = service;
  app.get("/api/chat/get-user-chat-sessions", (c) => list(service, c));
  app.get("/api/chat/get-chat-session/:id", (c) => show(service, c));
  app.post("/api/chat/create-chat-session", (c) => create(service, c));
  app.put("/api/chat/rename-chat-session", (c) => rename(service, c));
  app.delete("/api/chat/delete-chat-session/:id", (c) => remove(service, c));
  app.get("/api/chat/chat-session/:id/resume-stream", (c) => resume(service, c));
  app.post("/api/chat/stop-chat-session/:id", (c) => {
    const session = sessions.find(pathUuid(c, "id"));
    if (!session) throw unknownSession();
    runs.find(session.id)?.stop();
    return c.json({ message: "Chat session stopped" });
  });
  app.post("/api/chat/create-chat-message-feedback", (c) => setFeedback(service, c));
  app.delete("/api/chat/remove-chat-message-feedback", (c) => removeFeedback(service, c));
}
