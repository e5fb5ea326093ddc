import * as z from "zod/mini";
import { ApiError, CliError, reworded } from "../errors.ts";
import type { ChatEvent } from "./chat-schemas.ts";
import { callTo, type Call } from "./call.ts";
import type { Client } from "./client.ts";
import type { Dialect } from "./dialects.ts";
import { followTurn, streamTypes } from "./chat/follow-turn.ts";
import type { ListedSession, StoredSession } from "./session-schemas.ts";

// Loaded on demand: building the schemas would delay the start of a chat.
const schemas = () => import("./session-schemas.ts");

type PathName = keyof Dialect["paths"];

/** An optional path of the dialect. Throws CliError `not-found` if it is missing. */
function pathOf<Name extends PathName>(
  { dialect }: Client,
  name: Name,
  what: string,
): NonNullable<Dialect["paths"][Name]> {
  const path = dialect.paths[name];
  if (path !== undefined) return path;
  throw new CliError(
    "not-found",
    `cannot ${what}: the ${dialect.name} dialect has no endpoint for it`,
    {
      hints: [
        "use the web page of the service, or name the dialect with --dialect if it is another",
      ],
    },
  );
}

/** Whether the service lists the caller's sessions. */
export function canListSessions({ dialect }: Client): boolean {
  return dialect.paths.sessions !== undefined;
}

const maxPageSize = 100;

/**
 * The caller's sessions, most recently used first. Fetches each page on demand.
 * Throws ApiError, and CliError `not-found` where the dialect has no listing.
 */
export async function* listSessions(
  client: Client,
  { pageSize = maxPageSize }: { pageSize?: number } = {},
): AsyncGenerator<ListedSession> {
  const path = pathOf(client, "sessions", "list sessions");
  const { SessionPage } = await schemas();
  const size = Math.min(Math.max(1, pageSize), maxPageSize);
  let before: string | undefined;
  for (;;) {
    const query = before === undefined ? "" : `&before=${encodeURIComponent(before)}`;
    const page = await client.call(
      // By default the service leaves out the chats of projects (observed-service.md 5).
      callTo(
        "list sessions",
        "GET",
        `${path}?page_size=${size}&only_non_project_chats=false${query}`,
      ),
      SessionPage,
    );
    yield* page.sessions;
    const last = page.sessions.at(-1)?.time_updated ?? undefined;
    // An unchanged cursor would fetch the same page forever.
    if (page.has_more !== true || last === undefined || last === before) return;
    before = last;
  }
}

/**
 * A session with its messages. With `withinMs`: a single attempt with this timeout, which continues
 * after an abort. Throws ApiError, and CliError `not-found` without such an endpoint.
 */
export async function getSession(
  client: Client,
  id: string,
  withinMs?: number,
): Promise<StoredSession> {
  const path = pathOf(client, "session", "read a session")(id);
  const limit = withinMs === undefined ? {} : { detachedMs: withinMs };
  const call = { ...callTo("read the session", "GET", path), ...limit };
  return await client.call(call, (await schemas()).StoredSession);
}

/** A bad agent or project is a 400 or 403 as well (observed-service.md 5): the key may be right. */
function withCheck(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.exit === "not-found") return error;
  if (error.status !== 400 && error.status !== 403) return error;
  const hints = ["check the agent and the project of the question", ...error.hints];
  return reworded(error, error.message, hints);
}

/**
 * Creates an empty session, so that its id is known before the first question.
 * Undefined where the dialect cannot. Throws ApiError.
 */
export async function createSession(
  client: Client,
  info: { personaId?: number | undefined; projectId?: number | undefined } = {},
): Promise<string | undefined> {
  const path = client.dialect.paths.createSession;
  if (path === undefined) return undefined;
  const body = {
    ...(info.personaId === undefined ? {} : { persona_id: info.personaId }),
    ...(info.projectId === undefined ? {} : { project_id: info.projectId }),
  };
  const call = callTo("create a session", "POST", path, body);
  // Each call creates another session: the upload policy retries only if surely nothing was sent.
  const { CreatedSession } = await schemas();
  try {
    const created = await client.call({ ...call, policy: "upload" }, CreatedSession);
    return created.chat_session_id;
  } catch (error) {
    throw Object.keys(body).length === 0 ? error : withCheck(error);
  }
}

/** Renames a session and returns the name that the service stored. Throws ApiError, CliError `not-found`. */
export async function renameSession(client: Client, id: string, name: string): Promise<string> {
  const path = pathOf(client, "renameSession", "rename a session");
  const body = { chat_session_id: id, name };
  const call = callTo("rename the session", "PUT", path, body);
  const renamed = await client.call(call, (await schemas()).RenamedSession);
  return renamed.new_name ?? name;
}

/** Deletes a session. Throws ApiError, CliError `not-found`. */
export async function deleteSession(client: Client, id: string): Promise<void> {
  const path = pathOf(client, "deleteSession", "delete a session")(id);
  await client.call(
    { ...callTo("delete the session", "DELETE", path), policy: "remove" },
    z.unknown(),
  );
}

/**
 * Reads the answer in progress of a session from its beginning, without asking again.
 * Yields the same events as the original stream. Undefined if no run is in progress or
 * the dialect has no endpoint; then read the session instead. Throws ApiError,
 * `incomplete` if this stream is cut, too.
 */
export async function resumeChat(
  client: Client,
  id: string,
): Promise<AsyncGenerator<ChatEvent[]> | undefined> {
  const path = client.dialect.paths.resumeChat?.(id);
  if (path === undefined) return undefined;
  const call: Call = { ...callTo("resume the answer", "GET", path), policy: "resume" };
  try {
    const body = await client.open(call, streamTypes);
    return followTurn(client, call, body, { sessionId: id });
  } catch (error) {
    // The run has ended, or the service is older than this endpoint (observed-service.md 2.8).
    if (error instanceof ApiError && (error.status === 404 || error.status === 405))
      return undefined;
    throw error;
  }
}
