import { randomUUID } from "node:crypto";
import { CliError } from "../../errors.ts";
import type { Query, SharedDatabase } from "./address.ts";
import { claimTables } from "./runs.ts";

/**
 * The tables, version by version: each element brings a database from the version before it, and is
 * never changed. All names begin with `knowctl_`, in the first schema of the search path.
 *
 * knowctl_rows has the rows of `state export`: `key` is a hash of kind and key columns, `line` the
 * line, or the key columns of a row that is gone. `time` is by the clock of the database, in
 * milliseconds. `answered` is the time of an acceptance by the clock of the service. `document` is a hash of service and id of an accepted document: other projects look
 * it up. `revision` is given under the lock of the project's row, so rows that are committed later
 * have higher ones.
 */
const migrations: readonly string[] = [
  `CREATE TABLE knowctl_projects (
     id text PRIMARY KEY,
     name text NOT NULL UNIQUE,
     revision bigint NOT NULL DEFAULT 0,
     target text,
     created_at timestamptz NOT NULL DEFAULT now()
   );
   CREATE TABLE knowctl_rows (
     project text NOT NULL REFERENCES knowctl_projects (id),
     key bytea NOT NULL,
     kind text NOT NULL,
     line text NOT NULL,
     time bigint NOT NULL,
     revision bigint NOT NULL,
     is_gone boolean NOT NULL,
     document bytea,
     PRIMARY KEY (project, key)
   );
   CREATE INDEX knowctl_rows_revision ON knowctl_rows (project, revision, key);
   CREATE INDEX knowctl_rows_options ON knowctl_rows (project) WHERE kind = 'options';
   CREATE INDEX knowctl_rows_document ON knowctl_rows (document) WHERE document IS NOT NULL;`,
  claimTables,
  "ALTER TABLE knowctl_rows ADD COLUMN answered bigint",
];

/** A project of the database. */
export interface SharedProject {
  /** Made with the project: a database that was lost and made anew has another. */
  id: string;
  name: string;
  /** Of the last push. */
  revision: number;
  /** Target of its first document; undefined before that. */
  target: string | undefined;
}

async function versionOf(query: Query): Promise<number> {
  // Not to_regclass(): it may still miss what another session made while this one waited for its lock.
  const [found] = await query(
    "SELECT EXISTS (SELECT 1 FROM pg_class WHERE relname = 'knowctl_migrations' AND pg_table_is_visible(oid)) AS yes",
  );
  if (found?.["yes"] !== true) return 0;
  const [row] = await query(
    "SELECT coalesce(max(version), 0)::int AS version FROM knowctl_migrations",
  );
  return Number(row?.["version"]);
}

function refuseNewer(version: number): void {
  if (version <= migrations.length) return;
  throw new CliError(
    "local",
    `the shared record has tables of a newer knowctl (version ${version}, this one knows ${migrations.length}): not used`,
    { isLasting: true, hints: ["update knowctl on this machine"] },
  );
}

/**
 * Throws CliError `not-configured` for a database without the tables or with older ones, and `local`
 * for those of a newer knowctl.
 */
export async function checkTables({ query }: SharedDatabase): Promise<void> {
  const version = await versionOf(query);
  refuseNewer(version);
  if (version === migrations.length) return;
  const problem =
    version === 0 ? "the database has no tables" : "the tables are of an older knowctl";
  throw new CliError("not-configured", `the shared record: ${problem}`, {
    hints: ["create them, or bring them up to date: knowctl state share"],
  });
}

/**
 * Creates the tables, or brings them up to date; returns whether there was anything to do. Two at once
 * wait for each other. Throws CliError `local` for tables of a newer knowctl, and leaves them.
 */
export async function migrateTables(database: SharedDatabase): Promise<boolean> {
  return await database.transaction(async (query) => {
    await query("SELECT pg_advisory_xact_lock(hashtext('knowctl_migrations'))");
    const version = await versionOf(query);
    refuseNewer(version);
    if (version === 0) {
      await query(
        "CREATE TABLE IF NOT EXISTS knowctl_migrations (version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())",
      );
    }
    for (const [index, sql] of migrations.entries()) {
      if (index < version) continue;
      await query(sql);
      await query("INSERT INTO knowctl_migrations (version) VALUES ($1)", [index + 1]);
    }
    return version < migrations.length;
  });
}

/** The project of a name; undefined where the database has none. */
export async function findProject(
  { query }: Pick<SharedDatabase, "query">,
  name: string,
): Promise<SharedProject | undefined> {
  const [row] = await query("SELECT id, revision, target FROM knowctl_projects WHERE name = $1", [
    name,
  ]);
  if (!row) return undefined;
  const target = row["target"];
  return {
    id: String(row["id"]),
    name,
    revision: Number(row["revision"]),
    target: typeof target === "string" ? target : undefined,
  };
}

/** Creates a project, unless it is there. */
export async function createProject(
  { query }: Pick<SharedDatabase, "query">,
  name: string,
): Promise<void> {
  await query(
    "INSERT INTO knowctl_projects (id, name) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
    [randomUUID(), name],
  );
}
