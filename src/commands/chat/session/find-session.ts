import type { Client } from "../../../api/client.ts";
import { canListSessions, listSessions, getSession, resumeChat } from "../../../api/sessions.ts";
import type { Environment } from "../../../config/find/folders.ts";
import { CliError } from "../../../errors.ts";
import { indexedSessions, titleOf, type SessionOwner } from "./session-index.ts";
import type { ChatEvent } from "../../../api/chat-schemas.ts";
import type { StoredSession } from "../../../api/session-schemas.ts";

export interface SessionPlace {
  env: Environment;
  client: Client;
  owner: SessionOwner;
}

interface Candidate {
  id: string;
  title: string;
  time: string;
}

const fullId = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const idPrefix = /^[\w-]{1,200}$/;
/** Most sessions of the service that are searched for a prefix. */
const mostSearched = 2000;
const mostShown = 10;

function ambiguous(prefix: string, found: readonly Candidate[]): CliError {
  const details = found
    .slice(0, mostShown)
    .map(({ id, time, title }) => `  ${id}  ${time.slice(0, 16)}  ${title}`);
  if (found.length > mostShown) details.push(`  … and ${found.length - mostShown} more`);
  return new CliError("usage", `several sessions begin with ${prefix}`, {
    details,
    hints: ["write more characters of the id"],
  });
}

/** The session with this full id, or the only session whose id begins with the prefix. */
function choose(prefix: string, found: readonly Candidate[]): string | undefined {
  const whole = found.find(({ id }) => id.toLowerCase() === prefix);
  if (whole) return whole.id;
  if (found.length > 1) throw ambiguous(prefix, found);
  return found[0]?.id;
}

async function listedCandidates(client: Client, prefix: string): Promise<Candidate[]> {
  const found: Candidate[] = [];
  let searched = 0;
  for await (const { id, name, time_updated } of listSessions(client)) {
    if (id.toLowerCase().startsWith(prefix)) {
      found.push({ id, title: titleOf(name ?? ""), time: time_updated ?? "" });
    }
    if (++searched >= mostSearched) break;
  }
  return found;
}

function idOfLast(env: Environment, owner: SessionOwner): string {
  for (const { id } of indexedSessions(env, owner)) return id;
  const why = `profile ${owner.profile} has asked nothing from this machine yet`;
  throw new CliError("not-found", `${why}: there is no last session`, {
    hints: ["use an id from: knowctl sessions list"],
  });
}

/**
 * Resolves `given` to a session id: `last`, a full id, or the beginning of an id. Searches
 * the index of this machine first, then the service's list. Throws CliError `usage` with the
 * candidates if several ids match, `not-found` if none does. Without a service list, `given`
 * is returned unchecked.
 */
export async function findSession(
  { env, client, owner }: SessionPlace,
  given: string,
): Promise<string> {
  const wanted = given.trim();
  if (wanted === "last") return idOfLast(env, owner);
  if (fullId.test(wanted)) return wanted;
  if (!idPrefix.test(wanted)) {
    throw new CliError("usage", "a session id has only letters, digits and dashes", {
      hints: ["see `knowctl sessions list`"],
    });
  }
  const prefix = wanted.toLowerCase();
  const known: Candidate[] = [];
  for (const { id, title, updatedAt } of indexedSessions(env, owner)) {
    if (id.toLowerCase().startsWith(prefix)) known.push({ id, title, time: updatedAt });
  }
  const local = choose(prefix, known);
  if (local !== undefined) return local;
  if (!canListSessions(client)) return wanted;
  const listed = choose(prefix, await listedCandidates(client, prefix));
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
