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

const hidden = { shown: false } as const;
/** On a terminal, the part of an id that is enough to select the session. */
const short = { show: (value: unknown): string => String(value).slice(0, 8) };
const right = { align: "right" } as const;

function serviceColumns(context: Context, place: Place): Column<ListedSession>[] {
  const show = (value: unknown): string => relativeTime(String(value), context.now());
  const here = ({ id }: ListedSession) => indexedSession(place.env, place.owner, id);
  return [
    { name: "id", value: (row) => row.id, ...short },
    { name: "name", value: (row) => row.name || (here(row)?.title ?? null) },
    { name: "updated", value: (row) => row.time_updated, show },
    { name: "agent", value: (row) => row.persona_id, ...right },
    { name: "created", value: (row) => row.time_created, show, ...hidden },
    { name: "local", value: (row) => here(row) !== undefined, ...hidden },
  ];
}

function localColumns(context: Context): Column<IndexedSession>[] {
  const show = (value: unknown): string => relativeTime(String(value), context.now());
  return [
    { name: "id", value: (row) => row.id, ...short },
    { name: "name", value: (row) => row.title },
    { name: "updated", value: (row) => row.updatedAt, show },
    { name: "questions", value: (row) => row.questions, ...right },
    { name: "created", value: (row) => row.createdAt, show, ...hidden },
  ];
}

/** Yields up to --limit rows that pass --filter, then stops reading. */
async function* limitRows<Row extends object>(
  context: Context,
  options: SessionsListOptions,
  columns: readonly Column<Row>[],
  rows: Iterable<Row> | AsyncIterable<Row>,
): AsyncGenerator<Row> {
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

async function writeLocal(
  context: Context,
  { env, owner, output }: Place,
  options: SessionsListOptions,
): Promise<number> {
  const columns = localColumns(context);
  const rows = limitRows(context, options, columns, indexedSessions(env, owner));
  return await writeList(output, options, columns, rows);
}

async function writeListed(
  context: Context,
  place: Place,
  options: SessionsListOptions,
): Promise<number> {
  const columns = serviceColumns(context, place);
  // With a filter, the number of rows to read is not known.
  const pageSize = options.filter === undefined ? options.limit : undefined;
  const listed = listSessions(place.client, pageSize === undefined ? {} : { pageSize });
  return await writeList(
    place.output,
    options,
    columns,
    limitRows(context, options, columns, listed),
  );
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
    const count = isLocal
      ? await writeLocal(context, place, options)
      : await writeListed(context, place, options);
    if (isLocal && options.local !== true) {
      await output.note(
        "this interface cannot list sessions: these are the sessions used from this machine",
      );
    }
    if (count === 0)
      await output.note(options.filter ? "no sessions match" : "there are no sessions");
  });
}
