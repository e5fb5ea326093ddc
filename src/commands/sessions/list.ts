import { canListSessions, listSessions } from "../../api/sessions.ts";
import type { ListedSession } from "../../api/session-schemas.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { checkFormat, writeList, type Column } from "../../output/formats/formats.ts";
import { relativeTime } from "../../output/terminal/progress.ts";
import {
  indexedSession,
  indexedSessions,
  type IndexedSession,
} from "../chat/session/session-index.ts";
import { withPlace, type Place } from "./place.ts";

export interface SessionsListOptions extends GlobalFlags {
  limit?: number;
  /** List only the index of this machine. */
  local?: boolean;
}

/** A session, the same for every dialect and for the index of this machine. */
interface SessionRow {
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

function listedRow(place: Place, session: ListedSession): SessionRow {
  const indexed = indexedSession(place.env, place.owner, session.id);
  return {
    id: session.id,
    name: session.name || (indexed?.title ?? null),
    agent: session.persona_id ?? null,
    createdAt: session.time_created ?? null,
    updatedAt: session.time_updated ?? null,
    questions: indexed?.questions ?? 0,
    local: indexed !== undefined,
  };
}

function localRow({ id, title, createdAt, updatedAt, questions }: IndexedSession): SessionRow {
  return { id, name: title, agent: null, createdAt, updatedAt, questions, local: true };
}

function columnsOf(isLocal: boolean): Column<SessionRow>[] {
  return [
    // On a terminal, the part of an id that is enough to select the session.
    { name: "id", show: (value) => String(value).slice(0, 8) },
    { name: "name" },
    { name: "updated", value: "updatedAt", show: relativeTime },
    { name: "agent", align: "right", shown: !isLocal },
    { name: "questions", align: "right", shown: isLocal },
    { name: "created", value: "createdAt", show: relativeTime, shown: false },
    { name: "local", shown: false },
  ];
}

async function* listedRows(
  place: Place,
  { filter, limit }: SessionsListOptions,
): AsyncGenerator<SessionRow> {
  // With a filter, the number of rows to read is not known.
  const pageSize = filter === undefined ? limit : undefined;
  const listed = listSessions(place.client, pageSize === undefined ? {} : { pageSize });
  for await (const session of listed) yield listedRow(place, session);
}

function* localRows({ env, owner }: Place): Generator<SessionRow> {
  for (const session of indexedSessions(env, owner)) yield localRow(session);
}

/**
 * `sessions list`: lists the service's sessions, page by page. If the dialect has no
 * listing, it lists the sessions in the index of this machine and notes that.
 */
export async function sessionsList(
  context: Context,
  _args: string[],
  options: SessionsListOptions,
): Promise<void> {
  checkFormat(options);
  await withPlace(context, options, async (place) => {
    const { client, output } = place;
    const isLocal = options.local === true || !canListSessions(client);
    const rows = isLocal ? localRows(place) : listedRows(place, options);
    const count = await writeList(output, options, columnsOf(isLocal), rows);
    if (isLocal && options.local !== true) {
      await output.note(
        "this interface cannot list sessions: these are the sessions used from this machine",
      );
    }
    if (count === 0)
      await output.note(options.filter ? "no sessions match" : "there are no sessions");
  });
}
