/**
 * The lease of a worker as the worker measures it: from before the statement that renewed it was sent,
 * so that the worker's lease never ends after the one in the database.
 */
export interface Lease {
  /** Of a monotonic clock, in milliseconds. */
  elapsed: number;
  /** Of the machine's clock, in milliseconds: a monotonic clock may stand still while a machine sleeps. */
  now: number;
}

/** A request needs time as well: none starts in the second half of a lease. */
const usableShare = 1 / 2;

/**
 * Whether a worker may still start a request. A pure function. A clock that is wrong changes nothing;
 * one that is put forward ends the lease early, until the next renewal.
 */
export function maySend(
  lease: Lease | undefined,
  leaseMs: number,
  { elapsed, now }: Lease,
): boolean {
  if (lease === undefined) return false;
  const ageMs = Math.max(elapsed - lease.elapsed, now - lease.now);
  return ageMs < leaseMs * usableShare;
}

/** How often a worker renews its lease, in milliseconds: others see so soon that it came or went. */
export function heartbeatMs(leaseMs: number): number {
  return Math.min(2000, leaseMs / 6);
}

/** Most documents that a worker takes at a time: after a kill, at most so many are sent twice. */
const mostAtOnce = 64;

/**
 * How many documents a worker takes, of `left` that it has not looked at: near the end fewer, so that
 * all workers end at about the same time.
 */
export function batchSize(left: number, workers: number, most: number): number {
  const share = Math.ceil(left / (2 * Math.max(1, workers)));
  return Math.max(1, Math.min(mostAtOnce, most, share));
}
