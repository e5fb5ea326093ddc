import type { Row } from "../../database.ts";
import { CliError } from "../../errors.ts";
import type { State } from "../state/state.ts";
import { listTargets } from "../state/target.ts";
import type { SharedDatabase } from "./address.ts";
import { otherProject, readBond, writeBond } from "./bond.ts";
import { createLineReader, type SharedLine, type Unpushed } from "./rows.ts";
import { findProject } from "./tables.ts";

const rowsAtOnce = 512;

function toUnpushed(row: Row): Unpushed {
  return {
    number: Number(row["number"]),
    kind: String(row["kind"]),
    key: String(row["key"]),
    atMs: Number(row["at"]),
    mark: Number(row["mark"]),
  };
}

/**
 * Writes rows under the lock of the project: a later commit has a higher revision, so no fetch misses
 * a row. One statement: a client that is slow between two would keep all others waiting. Of another
 * repository ($11 are its targets) nothing is written; a service that moved (`state move`, $12) takes
 * its target along. Which of two rows stays:
 *
 * | row there has a revision         | stays                                     |
 * |----------------------------------|-------------------------------------------|
 * | that this machine has fetched ($8) | the pushed one: it was made after it       |
 * | higher                           | the one that the service accepted later     |
 * | higher, by its `Date` at once or not known | the one of the newer upload, failure, check |
 *
 * Other times are by the clock of the database: $3 is the clock of this machine now. A service is
 * not believed that it answers tomorrow.
 */
const upsert = `WITH project AS (
    UPDATE knowctl_projects SET revision = revision + 1,
        target = CASE WHEN target = ANY($11::text[]) THEN target ELSE coalesce(($11::text[])[1], target) END
      WHERE id = $1 AND ($12 OR target IS NULL OR $11::text[] = '{}' OR target = ANY($11::text[]))
      RETURNING revision
  ), written AS (
    INSERT INTO knowctl_rows AS r
      (project, key, kind, line, time, revision, is_gone, document, answered)
    SELECT $1, key, kind, line,
        least(at - $3::bigint, 0) + (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
        project.revision, is_gone, document,
        CASE WHEN answered < (extract(epoch FROM clock_timestamp()) * 1000)::bigint + 86400000 THEN answered END
      FROM project, unnest($2::bytea[], $4::text[], $5::text[], $6::bigint[], $7::boolean[], $9::bytea[],
        $10::bigint[]) AS rows (key, kind, line, at, is_gone, document, answered)
    ON CONFLICT (project, key) DO UPDATE
      SET line = excluded.line, time = greatest(excluded.time, r.time), revision = excluded.revision,
        is_gone = excluded.is_gone, document = excluded.document, answered = excluded.answered
      WHERE r.revision <= $8::bigint OR CASE WHEN excluded.answered <> r.answered
        THEN excluded.answered > r.answered ELSE excluded.time >= r.time END
  ) SELECT revision FROM project`;

async function writeRows(
  shared: SharedDatabase,
  { database }: State,
  project: string,
  lines: readonly SharedLine[],
  nowMs: number,
): Promise<number> {
  const bond = readBond(database);
  const targets = listTargets(database);
  const seen = bond?.revision ?? 0;
  const of = <Name extends keyof SharedLine>(name: Name) => lines.map((each) => each[name]);
  const [row] = await shared.query(upsert, [
    project,
    of("key"),
    Math.round(nowMs),
    of("kind"),
    of("line"),
    of("atMs").map(Math.round),
    of("isGone"),
    seen,
    of("document"),
    of("answeredAtMs"),
    targets,
    seen > 0,
  ]);
  if (row) return Number(row["revision"]);
  // Another repository was first under this name, between the start of this run and now.
  const found = bond && (await findProject(shared, bond.project));
  if (found?.id === project) throw otherProject(found, targets[0] ?? "");
  throw new CliError("local", "the project is no longer in the shared record", {
    hints: ["share it again: knowctl state share, then knowctl state push --all"],
  });
}

/** Pushes the changes of a local state, oldest first. */
export interface Pusher {
  /** Pushes some hundred rows in one transaction; returns whether there are more. Throws CliError. */
  push(): Promise<boolean>;
}

/** Creates the pusher of a state that is a copy of `project` (its id). */
export function createPusher(
  shared: SharedDatabase,
  state: State,
  project: string,
  now: () => number,
): Pusher {
  const { database } = state;
  const next = database.prepare(`SELECT * FROM unpushed ORDER BY number LIMIT ${rowsAtOnce}`);
  const done = database.prepare("DELETE FROM unpushed WHERE number = ? AND mark = ?");
  const lineOf = createLineReader(database, state.options);
  return {
    async push() {
      const changes = next.all().map(toUnpushed);
      if (changes.length === 0) return false;
      const revision = await writeRows(shared, state, project, changes.map(lineOf), now());
      database.transaction(() => {
        // A row that changed again meanwhile has another mark.
        for (const { number, mark } of changes) done.run(number, mark);
        const bond = readBond(database);
        // Nobody else pushed since the last fetch: this revision holds only rows of this state.
        if (bond?.revision === revision - 1) writeBond(database, { ...bond, revision });
      }, "NORMAL");
      return changes.length === rowsAtOnce;
    },
  };
}
