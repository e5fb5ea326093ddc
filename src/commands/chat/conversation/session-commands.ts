import { canListSessions, getSession, listSessions } from "../../../api/sessions.ts";
import { ApiError, messageOf } from "../../../errors.ts";
import { neutraliseLine } from "../../../output/terminal/neutralise.ts";
import { bold } from "../../../output/terminal/text.ts";
import { fit } from "../../../output/terminal/width.ts";
import { findSession } from "../session/find-session.ts";
import { indexedSession, indexedSessions } from "../session/session-index.ts";
import { lastExchange, showExchange } from "./answers.ts";
import { hint, leaveSession, placeOf, type Talk, type Work } from "./talk.ts";

const maxListed = 20;

/**
 * Continues a session and shows its last exchange, if the service has an endpoint for it.
 * Throws ApiError for a session that the service does not have.
 */
async function enterSession(talk: Talk, work: Work, id: string): Promise<void> {
  const { context, owner } = talk;
  if (work.client.dialect.paths.session === undefined) {
    leaveSession(talk);
    talk.sessionId = id;
    talk.last = indexedSession(context.env, owner, id)?.messageId ?? undefined;
    return await hint(talk, `continuing session ${id}; this service cannot show its messages`);
  }
  const session = await getSession(work.client, id);
  leaveSession(talk);
  talk.sessionId = session.chat_session_id;
  // The session's agent answers, also after a later /new. 0 is the default agent.
  if (session.persona_id) talk.settings.personaId = session.persona_id;
  else delete talk.settings.personaId;
  const last = lastExchange(session);
  talk.last = last ? last.ending.turn.messageId : null;
  const name = neutraliseLine(session.description ?? "").slice(0, 80);
  await hint(talk, `session ${id}${name === "" ? "" : ` · ${name}`}`);
  if (!last) return;
  talk.exchanges.push(last);
  await showExchange(talk, work, last);
}

/** As `enterSession`, at the start: if the service cannot show the session, only warns. */
export async function resumeSession(talk: Talk, work: Work, id: string): Promise<void> {
  try {
    await enterSession(talk, work, id);
  } catch (error) {
    const isGone = error instanceof ApiError && ["not-found", "auth"].includes(error.exit);
    if (isGone || work.signal.aborted) throw error;
    talk.sessionId = id;
    talk.last = undefined;
    await talk.output.warn(`the messages of the session cannot be shown: ${messageOf(error)}`);
  }
}

/** `/session`: shows the current session, or continues another. */
export async function chooseSession(talk: Talk, work: Work, argument: string): Promise<void> {
  if (argument !== "") {
    await enterSession(talk, work, await findSession(placeOf(talk, work), argument));
  } else if (talk.sessionId === undefined) {
    await hint(talk, "no session yet: the next question begins one");
  } else await talk.output.line("session ", talk.sessionId);
}

interface Listed {
  id: string;
  time: string;
  title: string;
}

async function listed({ context, owner }: Talk, { client }: Work): Promise<Listed[]> {
  const known: Listed[] = [];
  for (const { id, updatedAt, title } of indexedSessions(context.env, owner)) {
    known.push({ id, time: updatedAt, title });
  }
  if (!canListSessions(client)) return known.slice(0, maxListed);
  const found: Listed[] = [];
  for await (const { id, name, time_updated } of listSessions(client, { pageSize: maxListed })) {
    // A session without a name on the service is listed with its first question.
    const title = name || known.find((each) => each.id === id)?.title || "";
    found.push({ id, time: time_updated ?? "", title });
    if (found.length >= maxListed) break;
  }
  return found;
}

/** `/sessions`: lists the service's sessions, or those in the index of this machine. */
export async function showSessions(talk: Talk, work: Work): Promise<void> {
  const { output } = talk;
  const sessions = await listed(talk, work);
  if (sessions.length === 0) return await hint(talk, "no sessions yet");
  for (const { id, time, title } of sessions) {
    const when = neutraliseLine(time).slice(0, 16).replace("T", " ");
    const text = `${id.slice(0, 8)}  ${when.padEnd(16)}  ${neutraliseLine(title) || "(no title)"}`;
    const line = fit(text, output.columns() - 3);
    if (id === talk.sessionId) await output.line("* ", bold(line));
    else await output.line("  ", line);
  }
  await hint(talk, "/session and the beginning of an id continues a session");
}

/** `/new`: the next question begins a new session. */
export async function beginSession(talk: Talk): Promise<void> {
  leaveSession(talk);
  await hint(talk, "the next question begins a new session");
}
