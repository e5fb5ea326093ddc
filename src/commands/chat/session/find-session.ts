import type { Client } from "../../../api/client.ts";
import { canListSessions, listSessions, getSession, resumeChat } from "../../../api/sessions.ts";
import type { Environment } from "../../../config/find/folders.ts";
import { CliError } from "../../../errors.ts";
import {
  indexedSession,
  indexedSessions,
  lastSession,
  titleOf,
  type SessionOwner,
} from "./session-index.ts";
import type { ChatEvent } from "../../../api/chat-schemas.ts";
import type { StoredSession } from "../../../api/session-schemas.ts";

export interface SessionPlace {
  env: Environment;
  client: Client;
  owner: SessionOwner;
}

/** A session, the same for every dialect and for the index of this machine. */
export interface SessionRow {
  id: string;
  name: string | null;
  /** Id of the agent; null where it is not known. */
  agent: number | null;
  /** ISO 8601. */
  createdAt: string | null;
  updatedAt: string | null;
  /** Questions asked from this machine. */
  questions: number;
  /** Whether the index of this machine has it. */
  local: boolean;
}

/** The sessions of the service's list. One without a name there has its first question as name. */
export async function* serviceSessions(
  { env, client, owner }: SessionPlace,
  pageSize?: number,
): AsyncGenerator<SessionRow> {
  for await (const session of listSessions(client, pageSize === undefined ? {} : { pageSize })) {
    const indexed = indexedSession(env, owner, session.id);
    yield {
      id: session.id,
      name: session.name || (indexed?.title ?? null),
      agent: session.persona_id ?? null,
      createdAt: session.time_created ?? null,
      updatedAt: session.time_updated ?? null,
      questions: indexed?.questions ?? 0,
      local: indexed !== undefined,
    };
  }
}

/** The sessions in the index of this machine. */
export function* localSessions({
  env,
  owner,
}: Pick<SessionPlace, "env" | "owner">): Generator<SessionRow> {
  for (const { id, title, createdAt, updatedAt, questions } of indexedSessions(env, owner)) {
    yield { id, name: title, agent: null, createdAt, updatedAt, questions, local: true };
  }
}

/** The first `most` rows for which `test` holds, of at most `searched`. */
export async function take(
  rows: Iterable<SessionRow> | AsyncIterable<SessionRow>,
  most: number,
  test: (row: SessionRow) => boolean = () => true,
  searched = Number.POSITIVE_INFINITY,
): Promise<SessionRow[]> {
  const found: SessionRow[] = [];
  let count = 0;
  for await (const row of rows) {
    if (test(row)) found.push(row);
    if (found.length >= most || ++count >= searched) break;
  }
  return found;
}

const fullId = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const idPrefix = /^[\w-]{1,200}$/;
/** Most sessions of the service that are searched for a prefix. */
const mostSearched = 2000;
const mostShown = 10;

function ambiguous(prefix: string, found: readonly SessionRow[]): CliError {
  const details = found.slice(0, mostShown).map(({ id, updatedAt, name }) => {
    return `  ${id}  ${(updatedAt ?? "").slice(0, 16)}  ${titleOf(name ?? "")}`;
  });
  if (found.length > mostShown) details.push(`  … and ${found.length - mostShown} more`);
  return new CliError("usage", `several sessions begin with ${prefix}`, {
    details,
    hints: ["write more characters of the id"],
  });
}

/** The session with this full id, or the only session whose id begins with the prefix. */
function choose(prefix: string, found: readonly SessionRow[]): string | undefined {
  const whole = found.find(({ id }) => id.toLowerCase() === prefix);
  if (whole) return whole.id;
  if (found.length > 1) throw ambiguous(prefix, found);
  return found[0]?.id;
}

/**
 * Resolves `given` to a session id: `last`, a full id, or the beginning of an id. Searches
 * the index of this machine first, then the service's list. Throws CliError `usage` with the
 * candidates if several ids match, `not-found` if none does. Without a service list, `given`
 * is returned unchecked.
 */
export async function findSession(place: SessionPlace, given: string): Promise<string> {
  const { env, client, owner } = place;
  const wanted = given.trim();
  if (wanted === "last") return lastSession(env, owner).id;
  if (fullId.test(wanted)) return wanted;
  if (!idPrefix.test(wanted)) {
    throw new CliError("usage", "a session id has only letters, digits and dashes", {
      hints: ["see `knowctl sessions list`"],
    });
  }
  const prefix = wanted.toLowerCase();
  const begins = ({ id }: SessionRow): boolean => id.toLowerCase().startsWith(prefix);
  const all = Number.POSITIVE_INFINITY;
  const local = choose(prefix, await take(localSessions(place), all, begins));
  if (local !== undefined) return local;
  if (!canListSessions(client)) return wanted;
  const listed = choose(prefix, await take(serviceSessions(place), all, begins, mostSearched));
  if (listed !== undefined) return listed;
  throw new CliError("not-found", `no session begins with ${wanted}`, {
    hints: ["see `knowctl sessions list`"],
  });
}

/**
 * Reads a session. `lines` is its answer in progress from the beginning, if there is one and
 * `follows` wants it. Never asks again.
 */
export async function readAnswer(
  client: Client,
  id: string,
  follows: (session: StoredSession) => boolean,
): Promise<{ session: StoredSession; lines?: AsyncGenerator<ChatEvent[]> }> {
  const session = await getSession(client, id);
  if (!session.current_run || !follows(session)) return { session };
  const lines = await resumeChat(client, id);
  if (lines) return { session, lines };
  // The run may have ended between the two requests.
  return { session: await getSession(client, id) };
}
