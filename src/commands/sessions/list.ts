import { canListSessions, listSessions } from "../../api/sessions.ts";
import type { ListedSession } from "../../api/session-schemas.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { checkFormat, writeList, type Column } from "../../output/formats/formats.ts";
import { parseFilter, passes } from "../../output/formats/select.ts";
import { relativeTime } from "../../output/terminal/time.ts";
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

const hidden = { shown: false } as const;
/** On a terminal, the part of an id that is enough to select the session. */
const short = { show: (value: unknown): string => String(value).slice(0, 8) };
const right = { align: "right" } as const;

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

function columnsOf(context: Context, isLocal: boolean): Column<SessionRow>[] {
  const show = (value: unknown): string => relativeTime(String(value), context.now());
  return [
    { name: "id", value: (row) => row.id, ...short },
    { name: "name", value: (row) => row.name },
    { name: "updated", value: (row) => row.updatedAt, show },
    { name: "agent", value: (row) => row.agent, ...right, shown: !isLocal },
    { name: "questions", value: (row) => row.questions, ...right, shown: isLocal },
    { name: "created", value: (row) => row.createdAt, show, ...hidden },
    { name: "local", value: (row) => row.local, ...hidden },
  ];
}

/** Yields up to --limit rows that pass --filter, then stops reading. */
async function* limitRows(
  context: Context,
  options: SessionsListOptions,
  columns: readonly Column<SessionRow>[],
  rows: Iterable<SessionRow> | AsyncIterable<SessionRow>,
): AsyncGenerator<SessionRow> {
  const filters = (options.filter ?? []).map(parseFilter);
  let left = options.limit ?? Number.POSITIVE_INFINITY;
  for await (const row of rows) {
    context.signal.throwIfAborted();
    // Without a limit, the listing filters the rows and reports unknown names.
    if (options.limit !== undefined && !passes(row, filters, columns)) continue;
    yield row;
    if (--left <= 0) return;
  }
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
    const columns = columnsOf(context, isLocal);
    const rows = isLocal ? localRows(place) : listedRows(place, options);
    const limited = limitRows(context, options, columns, rows);
    const count = await writeList(output, options, columns, limited);
    if (isLocal && options.local !== true) {
      await output.note(
        "this interface cannot list sessions: these are the sessions used from this machine",
      );
    }
    if (count === 0)
      await output.note(options.filter ? "no sessions match" : "there are no sessions");
  });
}
