import { CliError } from "../../errors.ts";
import type { Query, SharedDatabase } from "./address.ts";

/**
 * Tables of runs that several workers share; see `migrations` in tables.ts for the others. All times are
 * the clock of the database. A claim is of one worker, and lives as long as that worker's lease: one row
 * is renewed, not one for each document. `key` is a hash of the document's id. `is_accepted` is null
 * until the document is settled. `changes` grows when claims become free again.
 */
export const claimTables = `CREATE TABLE knowctl_runs (
     id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     project text NOT NULL REFERENCES knowctl_projects (id) ON DELETE CASCADE,
     name text NOT NULL,
     is_named boolean NOT NULL,
     commit text,
     digest text NOT NULL,
     changes bigint NOT NULL DEFAULT 0,
     accepted bigint,
     failed bigint,
     started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
     ended_at timestamptz,
     UNIQUE (project, name)
   );
   CREATE TABLE knowctl_workers (
     id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     run bigint NOT NULL REFERENCES knowctl_runs (id) ON DELETE CASCADE,
     host text NOT NULL,
     expires_at timestamptz NOT NULL,
     is_gone boolean NOT NULL DEFAULT false,
     left_at timestamptz,
     report text
   );
   CREATE INDEX knowctl_workers_run ON knowctl_workers (run);
   CREATE TABLE knowctl_claims (
     run bigint NOT NULL,
     key text NOT NULL,
     worker bigint NOT NULL,
     is_accepted boolean,
     was_taken_over boolean NOT NULL DEFAULT false,
     PRIMARY KEY (run, key)
   );
   CREATE INDEX knowctl_claims_open ON knowctl_claims (run, worker) WHERE is_accepted IS NULL;`;

/** What all workers of one run have in common. */
export interface ClaimedRun {
  /** Id of the project. */
  project: string;
  /** The value of --run, else the commit. */
  name: string;
  isNamed: boolean;
  commit: string | undefined;
  /** Hash of the options and of the files. */
  digest: string;
}

/** One worker of one run. */
export interface WorkerIdentity {
  run: number;
  worker: number;
}

/** Whether the lease of the worker `w` has not run out. */
export const isLive = "NOT w.is_gone AND w.expires_at > clock_timestamp()";

interface LiveRun {
  id: number;
  name: string;
  commit: string | undefined;
  digest: string;
  hosts: string[];
}

/** The runs of a project that have live workers. */
async function liveRuns(query: Query, { project, name }: ClaimedRun): Promise<LiveRun[]> {
  const rows = await query(
    `SELECT r.id, r.name, r.commit, r.digest, array_agg(DISTINCT w.host) AS hosts
       FROM knowctl_runs r JOIN knowctl_workers w ON w.run = r.id
       WHERE r.project = $1 AND r.ended_at IS NULL AND ${isLive} AND (r.name = $2 OR NOT r.is_named)
       GROUP BY r.id`,
    [project, name],
  );
  return rows.map((row) => ({
    id: Number(row["id"]),
    name: String(row["name"]),
    commit: row["commit"] === null ? undefined : String(row["commit"]),
    digest: String(row["digest"]),
    hosts: row["hosts"] as string[],
  }));
}

/** A commit in twelve digits; another name as it is. */
const short = (name = "none"): string =>
  /^[0-9a-f]{40,64}$/.test(name) ? name.slice(0, 12) : name;

/**
 * Throws CliError `usage` where live workers have another checkout:
 *
 * | a live run             | this worker                  | then    |
 * |------------------------|------------------------------|---------|
 * | of the same name       | same commit and digest       | joins   |
 * | of the same name       | another commit or digest     | refused |
 * | of another commit      | without --run                | refused |
 * | of another --run       | any                          | its own |
 */
function refuseOther(live: readonly LiveRun[], own: ClaimedRun): void {
  for (const { name, commit, digest, hosts } of live) {
    const on = `on ${hosts.slice(0, 3).join(", ")}`;
    if (name !== own.name) {
      if (own.isNamed) continue;
      throw new CliError(
        "usage",
        `--claim: another run of this project is going on, of commit ${short(name)} ${on}; this checkout is ${short(own.name)}`,
        { hints: ["wait until it has ended, or give both runs a name with --run"] },
      );
    }
    const isSameCommit = commit === undefined || own.commit === undefined || commit === own.commit;
    if (isSameCommit && digest === own.digest) continue;
    const what = isSameCommit
      ? "other files or options"
      : `another commit (${short(commit)}, here ${short(own.commit)})`;
    throw new CliError("usage", `--claim: the run ${short(name)} ${on} has ${what}`, {
      hints: [
        "give every worker the same checkout, the same paths and the same options",
        "or wait until that run has ended, or use another --run NAME",
      ],
    });
  }
}

const keptDays = 30;

/** A joined run. */
export interface JoinedRun extends WorkerIdentity {
  /** Whether this worker began the run. */
  isFirst: boolean;
  /** Live workers, this one included. */
  workers: number;
}

/**
 * Joins the run of this name, or begins it where no worker of it is alive: what an ended run has left
 * is deleted. Throws CliError `usage` for another checkout, see refuseOther().
 */
export async function joinRun(
  database: Pick<SharedDatabase, "transaction">,
  own: ClaimedRun,
  { host, leaseSeconds }: { host: string; leaseSeconds: number },
): Promise<JoinedRun> {
  return await database.transaction(async (query) => {
    await query("SELECT pg_advisory_xact_lock(hashtextextended('knowctl_runs ' || $1, 0))", [
      own.project,
    ]);
    // A lease that is renewed meanwhile must not count as run out.
    await query(
      `SELECT w.id FROM knowctl_workers w JOIN knowctl_runs r ON r.id = w.run
         WHERE r.project = $1 AND NOT w.is_gone FOR UPDATE OF w`,
      [own.project],
    );
    const live = await liveRuns(query, own);
    refuseOther(live, own);
    let run = live.find(({ name }) => name === own.name)?.id;
    const isFirst = run === undefined;
    if (run === undefined) {
      const before = `project = $1 AND (name = $2 OR started_at < clock_timestamp() - interval '${keptDays} days')`;
      const values = [own.project, own.name];
      await query(
        `DELETE FROM knowctl_claims WHERE run IN (SELECT id FROM knowctl_runs WHERE ${before})`,
        values,
      );
      await query(`DELETE FROM knowctl_runs WHERE ${before}`, values);
      const [row] = await query(
        `INSERT INTO knowctl_runs (project, name, is_named, commit, digest)
           VALUES ($1, $2, $3, $4, $5) RETURNING id`,
        [...values, own.isNamed, own.commit ?? null, own.digest],
      );
      run = Number(row?.["id"]);
    }
    const [row] = await query(
      `WITH added AS (
         INSERT INTO knowctl_workers (run, host, expires_at)
           VALUES ($1, $2, clock_timestamp() + $3 * interval '1 second') RETURNING id)
       SELECT id, (SELECT count(*) FROM knowctl_workers w WHERE w.run = $1 AND ${isLive}) + 1 AS workers
         FROM added`,
      [run, host, leaseSeconds],
    );
    return { run, worker: Number(row?.["id"]), isFirst, workers: Number(row?.["workers"]) };
  });
}

/** Documents of a whole run, of all workers. */
export interface RunTotals {
  accepted: number;
  failed: number;
  workers: number;
}

/**
 * Ends the run, unless another worker holds documents, or claims have become free since `changes`.
 * Undefined where it does not end it.
 */
export async function endRun(
  query: Query,
  { run, worker }: WorkerIdentity,
  changes: number,
): Promise<RunTotals | undefined> {
  const [row] = await query(
    `UPDATE knowctl_runs r SET ended_at = clock_timestamp(),
         accepted = (SELECT count(*) FROM knowctl_claims WHERE run = $1 AND is_accepted),
         failed = (SELECT count(*) FROM knowctl_claims WHERE run = $1 AND NOT is_accepted)
       WHERE id = $1 AND ended_at IS NULL AND changes = $3 AND NOT EXISTS (
         SELECT 1 FROM knowctl_claims c JOIN knowctl_workers w ON w.id = c.worker
           WHERE c.run = $1 AND c.is_accepted IS NULL AND w.id <> $2 AND NOT w.is_gone)
       RETURNING accepted, failed, (SELECT count(*) FROM knowctl_workers WHERE run = $1) AS workers`,
    [run, worker, changes],
  );
  if (!row) return undefined;
  await query("DELETE FROM knowctl_claims WHERE run = $1", [run]);
  return {
    accepted: Number(row["accepted"]),
    failed: Number(row["failed"]),
    workers: Number(row["workers"]),
  };
}

/** Leaves the run: what this worker has not sent, the others may take at once. `report` is JSON. */
export async function leaveRun(
  query: Query,
  { run, worker }: WorkerIdentity,
  report: string | undefined,
): Promise<void> {
  await query(
    `WITH freed AS (
       DELETE FROM knowctl_claims WHERE run = $1 AND worker = $2 AND is_accepted IS NULL RETURNING 1
     ), gone AS (
       UPDATE knowctl_workers SET is_gone = true, left_at = clock_timestamp(), report = $3 WHERE id = $2)
     UPDATE knowctl_runs SET changes = changes + 1 WHERE id = $1 AND EXISTS (SELECT 1 FROM freed)`,
    [run, worker, report ?? null],
  );
}

/** A run as the shared record remembers it. */
export interface RecordedRun {
  name: string;
  /** Documents of the whole run; undefined until it has ended. */
  totals: RunTotals | undefined;
  /** Each worker, with its report as JSON; undefined where it was killed or is at work. */
  workers: { id: number; host: string; report: string | undefined }[];
}

/** The last run of a name, or of a commit that begins with it; undefined for none. */
export async function readRun(
  query: Query,
  project: string,
  name: string,
): Promise<RecordedRun | undefined> {
  const [run] = await query(
    `SELECT id, name, ended_at IS NOT NULL AS has_ended, accepted, failed FROM knowctl_runs
       WHERE project = $1 AND (name = $2 OR (NOT is_named AND length($2) >= 7 AND starts_with(name, $2)))
       ORDER BY name = $2 DESC, started_at DESC LIMIT 1`,
    [project, name],
  );
  if (!run) return undefined;
  const rows = await query(
    "SELECT id, host, report FROM knowctl_workers WHERE run = $1 ORDER BY id",
    [run["id"]],
  );
  const workers = rows.map(({ id, host, report }) => ({
    id: Number(id),
    host: String(host),
    report: typeof report === "string" ? report : undefined,
  }));
  const counts = { accepted: Number(run["accepted"]), failed: Number(run["failed"]) };
  const totals = run["has_ended"] === true ? { ...counts, workers: workers.length } : undefined;
  return { name: String(run["name"]), totals, workers };
}
