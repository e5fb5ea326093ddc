import { canListSessions } from "../../api/sessions.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { checkFormat, writeList, type Column } from "../../output/formats/formats.ts";
import { relativeTime } from "../../output/terminal/progress.ts";
import { localSessions, serviceSessions, type SessionRow } from "../chat/session/find-session.ts";
import { rowsWhileAsking } from "../connect.ts";
import { withPlace } from "./place.ts";

export interface SessionsListOptions extends GlobalFlags {
  limit?: number;
  /** List only the index of this machine. */
  local?: boolean;
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
    // With a filter, the number of rows to read is not known.
    const pageSize = options.filter === undefined ? options.limit : undefined;
    const rows = isLocal
      ? localSessions(place)
      : rowsWhileAsking(place, serviceSessions(place, pageSize));
    const count = await writeList(output, options, columnsOf(isLocal), rows);
    if (isLocal && options.local !== true) {
      await output.note(
        "this dialect cannot list sessions: these are the sessions used from this machine",
      );
    }
    if (count === 0)
      await output.note(options.filter ? "no sessions match" : "there are no sessions");
  });
}
