import type { Query } from "./address.ts";
import { isLive, type WorkerIdentity } from "./runs.ts";

/** What a worker knows of its run from a renewal of its lease. */
export interface RunProgress {
  /** Another worker has ended the run. */
  hasEnded: boolean;
  /** Changes when claims become free again. */
  changes: number;
  /** Live workers, this one included. */
  workers: number;
  /** Documents that other live workers hold. */
  open: number;
}

/**
 * Renews the lease of a worker. Undefined where another worker has declared it gone: then its claims
 * are no longer its own. A lease that has run out may be renewed as long as nobody has done that.
 */
export async function renewLease(
  query: Query,
  { worker }: WorkerIdentity,
  leaseSeconds: number,
): Promise<RunProgress | undefined> {
  const [row] = await query(
    `WITH renewed AS (
       UPDATE knowctl_workers SET expires_at = clock_timestamp() + $2 * interval '1 second'
         WHERE id = $1 AND NOT is_gone RETURNING id, run)
     SELECT r.ended_at IS NOT NULL AS has_ended, r.changes,
         (SELECT count(*) FROM knowctl_workers w
           WHERE w.run = r.id AND (${isLive} OR w.id = $1)) AS workers,
         (SELECT count(*) FROM knowctl_claims c JOIN knowctl_workers w ON w.id = c.worker
           WHERE c.run = r.id AND c.is_accepted IS NULL AND w.id <> $1 AND NOT w.is_gone) AS open
       FROM renewed JOIN knowctl_runs r ON r.id = renewed.run`,
    [worker, leaseSeconds],
  );
  return (
    row && {
      hasEnded: row["has_ended"] === true,
      changes: Number(row["changes"]),
      workers: Number(row["workers"]),
      open: Number(row["open"]),
    }
  );
}

/**
 * Declares the workers gone whose lease has run out: their claims are free. After a restart of the
 * database every worker has one lease to come back: none could renew while it was down.
 */
export async function dropExpired(
  query: Query,
  { run, worker }: WorkerIdentity,
  leaseSeconds: number,
): Promise<void> {
  await query(
    `WITH gone AS (
       UPDATE knowctl_workers SET is_gone = true
         WHERE run = $1 AND id <> $2 AND NOT is_gone AND
           greatest(expires_at, pg_postmaster_start_time() + $3 * interval '1 second') <= clock_timestamp()
         RETURNING id)
     UPDATE knowctl_runs SET changes = changes + 1 WHERE id = $1 AND EXISTS (SELECT 1 FROM gone)`,
    [run, worker, leaseSeconds],
  );
}

/** Documents that a worker got. */
export interface Taken {
  keys: Set<string>;
  /** Whether this worker may take documents: it is not gone, and the run has not ended. */
  isAllowed: boolean;
  /** How many of the offered ones were free. With fewer taken than wanted, another worker was faster. */
  free: number;
  /** Some were a worker's that is gone: it may have sent them. */
  areTakenOver: boolean;
}

/** Takes up to `most` of the offered documents: those that nobody has, or whose worker is gone. */
export async function takeClaims(
  query: Query,
  { run, worker }: WorkerIdentity,
  offered: readonly string[],
  most: number,
): Promise<Taken> {
  const [row] = await query(
    `WITH allowed AS (
       SELECT 1 FROM knowctl_workers w JOIN knowctl_runs r ON r.id = w.run
         WHERE w.id = $2 AND NOT w.is_gone AND r.ended_at IS NULL
     ), free AS (
       SELECT o.key, o.at FROM unnest($3::text[]) WITH ORDINALITY AS o (key, at)
         WHERE NOT EXISTS (
           SELECT 1 FROM knowctl_claims c JOIN knowctl_workers w ON w.id = c.worker
             WHERE c.run = $1 AND c.key = o.key AND (c.is_accepted IS NOT NULL OR NOT w.is_gone))
     ), taken AS (
       INSERT INTO knowctl_claims AS c (run, key, worker)
         SELECT $1, key, $2 FROM free
           WHERE EXISTS (SELECT 1 FROM allowed)
           ORDER BY at LIMIT $4
         ON CONFLICT (run, key) DO UPDATE SET worker = $2, was_taken_over = true
           WHERE c.is_accepted IS NULL AND
             EXISTS (SELECT 1 FROM knowctl_workers w WHERE w.id = c.worker AND w.is_gone)
         RETURNING key, was_taken_over
     )
     SELECT EXISTS (SELECT 1 FROM allowed) AS allowed, (SELECT count(*) FROM free) AS free,
         array_agg(key) AS keys, coalesce(bool_or(was_taken_over), false) AS taken_over FROM taken`,
    [run, worker, offered, most],
  );
  return {
    isAllowed: row?.["allowed"] === true,
    keys: new Set((row?.["keys"] ?? []) as string[]),
    free: Number(row?.["free"]),
    areTakenOver: row?.["taken_over"] === true,
  };
}

/** A document that a worker has finished. */
export interface Settled {
  key: string;
  /** False for a document that failed. */
  isAccepted: boolean;
}

/** Records what became of documents. Those that another worker has taken over stay as they are. */
export async function settleClaims(
  query: Query,
  { run, worker }: WorkerIdentity,
  settled: readonly Settled[],
): Promise<void> {
  if (settled.length === 0) return;
  await query(
    `UPDATE knowctl_claims c SET is_accepted = s.is_accepted
       FROM unnest($3::text[], $4::boolean[]) AS s (key, is_accepted)
       WHERE c.run = $1 AND c.key = s.key AND c.worker = $2`,
    [run, worker, settled.map(({ key }) => key), settled.map(({ isAccepted }) => isAccepted)],
  );
}
