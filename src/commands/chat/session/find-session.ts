import type { Client } from "../../../api/client.ts";
import { canListSessions, listSessions } from "../../../api/sessions.ts";
import type { Environment } from "../../../config/find/folders.ts";
import { CliError } from "../../../errors.ts";
import { indexedSessions, titleOf, type SessionOwner } from "./session-index.ts";

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

const wholeId = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const plainId = /^[\w-]{1,200}$/;
/** Sessions of the service that are looked through for a prefix. */
const mostLookedAt = 2000;
const mostShown = 10;

function ambiguous(prefix: string, found: readonly Candidate[]): CliError {
  const details = found
    .slice(0, mostShown)
    .map(({ id, time, title }) => `  ${id}  ${time.slice(0, 16)}  ${title}`);
  if (found.length > mostShown) details.push(`  … and ${found.length - mostShown} more`);
  return new CliError("usage", `several sessions begin with ${prefix}`, {
    details,
    hints: ["write more of the id"],
  });
}

/** The one that is meant: a whole id, or the only one that begins so. */
function choose(prefix: string, found: readonly Candidate[]): string | undefined {
  const whole = found.find(({ id }) => id.toLowerCase() === prefix);
  if (whole) return whole.id;
  if (found.length > 1) throw ambiguous(prefix, found);
  return found[0]?.id;
}

async function listedCandidates(client: Client, prefix: string): Promise<Candidate[]> {
  const found: Candidate[] = [];
  let looked = 0;
  for await (const { id, name, time_updated } of listSessions(client)) {
    if (id.toLowerCase().startsWith(prefix)) {
      found.push({ id, title: titleOf(name ?? ""), time: time_updated ?? "" });
    }
    if (++looked >= mostLookedAt) break;
  }
  return found;
}

function idOfLast(env: Environment, owner: SessionOwner): string {
  for (const { id } of indexedSessions(env, owner)) return id;
  const why = `with profile ${owner.profile} nothing was asked from this machine yet`;
  throw new CliError("not-found", `${why}: there is no last session`, {
    hints: ["name one by its id: knowctl sessions list"],
  });
}

/**
 * The id of the session that `given` names: `last`, a whole id, or the beginning
 * of one, looked up in the index of this machine and then in the service's list.
 * Throws CliError `usage` with the candidates where several begin so, `not-found`
 * where none does; a service without a list is left to judge the id itself.
 */
export async function findSession(
  { env, client, owner }: SessionPlace,
  given: string,
): Promise<string> {
  const wanted = given.trim();
  if (wanted === "last") return idOfLast(env, owner);
  if (wholeId.test(wanted)) return wanted;
  if (!plainId.test(wanted)) {
    throw new CliError("usage", "a session id has letters, digits and dashes only", {
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
