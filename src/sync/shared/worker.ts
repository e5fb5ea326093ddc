import { hash } from "node:crypto";
import { CliError } from "../../errors.ts";
import type { PlannedDocument, PlanTable } from "../plan/plan-table.ts";
import { takeInOrder } from "../run/pending.ts";
import type { FailureRecord, FileRecord } from "../state/records.ts";
import type { SharedDatabase } from "./address.ts";
import {
  dropExpired,
  renewLease,
  settleClaims,
  takeClaims,
  type RunProgress,
  type Settled,
} from "./claims.ts";
import { batchSize, heartbeatMs, maySend, type Lease } from "./lease.ts";
import {
  endRun,
  joinRun,
  leaveRun,
  type ClaimedRun,
  type JoinedRun,
  type RunTotals,
} from "./runs.ts";

/** Documents that one statement offers: most of them are other workers'. */
const offeredAtOnce = 1024;
/** A database that does not come back for so long ends the run. */
const outageMs = 15 * 60_000;
const longestPauseMs = 10_000;
/** The last documents of other workers need one request. */
const shortestPauseMs = 100;

/** What a worker needs of its run and machine. */
export interface WorkerRequest {
  database: Pick<SharedDatabase, "query" | "transaction">;
  run: ClaimedRun;
  host: string;
  leaseSeconds: number;
  table: Pick<PlanTable, "planned" | "count">;
  /** Fetches what other workers have recorded. */
  fetch: () => Promise<void>;
  /** Pushes what is recorded here. Throws CliError `unreachable` where that cannot be done now. */
  push: () => Promise<void>;
  clock: {
    now: () => number;
    elapsed: () => number;
    sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  };
  signal: AbortSignal;
}

/** How an upload goes on when nothing is left to take. */
export type NextRound = "again" | "ended" | RunTotals;

/** One of the workers of a run. */
export interface Worker {
  /** Next documents to send, see PendingSource. Never waits for a database that is down: then none. */
  take(most: number): Promise<PlannedDocument[]>;
  /** Whether a request may start: the lease is long enough. */
  maySend(): boolean;
  /** What the state has just recorded: these documents are settled. */
  saved(files: readonly FileRecord[], failures: readonly FailureRecord[]): void;
  /**
   * Called when nothing is left to take: waits until documents are free again (`again`), or until the
   * run has ended. The last worker ends it, and gets its totals. `onWait` is called before each wait.
   * Throws CliError `unreachable` where the database does not come back.
   */
  next(onWait: (text: string) => void): Promise<NextRound>;
  /** Leaves the run, with the report of this worker as JSON. Throws nothing: a lease ends by itself. */
  leave(report?: string): Promise<void>;
  /** Whether `error` stopped the run because this worker lost its lease; next() then joins again. */
  isLost(error: unknown): boolean;
  /** Whether this worker took over the document from one that is gone, and so may have sent it. */
  isTakenOver(id: string): boolean;
  /** How many documents this worker has taken. */
  taken(): number;
  readonly isFirst: boolean;
  readonly workers: number;
}

const isUnreachable = (error: unknown): boolean =>
  error instanceof CliError && error.exit === "unreachable";

/** Key of a document among the claims: ids may be long, and hold what a text of the database cannot. */
const claimKey = (id: string): string => hash("sha256", id, "base64url").slice(0, 22);

const placeOf = ({ path, part }: { path: string; part: number }): string => `${part}/${path}`;

interface WorkerState {
  joined: JoinedRun;
  lease: Lease;
  progress: RunProgress;
  /** Set once another worker has declared this one gone, until it joins again. */
  lost: CliError | undefined;
}

function lostError(): CliError {
  return new CliError(
    "unreachable",
    "--claim: this worker lost its lease: the shared record could not be reached for too long",
    { hints: ["other workers take over what it had taken; run the command again to join them"] },
  );
}

/** Walks the plan, and takes what is free of it. */
function createTaking(request: WorkerRequest, state: WorkerState) {
  const { database, table, fetch } = request;
  const total = table.count("new") + table.count("changed");
  /** Claim by place, of the documents that were handed out and are not settled. */
  const held = new Map<string, string>();
  const takenOver = new Set<string>();
  let count = 0;
  let documents = takeInOrder(table);
  let looked = 0;
  let offered: PlannedDocument[] = [];
  /** Taken, but not handed out: what others have sent of them was not fetched yet. */
  let ready: PlannedDocument[] = [];
  let mustFetch = false;
  let isComplete = false;
  let changes = -1;

  /** False where this worker may not take any more: next() finds out why. */
  const takeSome = async (most: number): Promise<boolean> => {
    const { isAllowed, keys, free, areTakenOver } = await takeClaims(
      database.query,
      state.joined,
      offered.map(({ id }) => claimKey(id)),
      most,
    );
    if (!isAllowed) return false;
    const isTaken = ({ id }: PlannedDocument): boolean => keys.has(claimKey(id));
    ready = offered.filter(isTaken);
    count += ready.length;
    mustFetch ||= areTakenOver;
    if (areTakenOver) for (const { id } of ready) takenOver.add(id);
    // Fewer than were free: another worker was faster, and the others may still be free.
    if (keys.size < most && keys.size < free) return true;
    offered = keys.size < most ? [] : offered.slice(offered.findLastIndex(isTaken) + 1);
    return true;
  };
  return {
    held,
    takenOver,
    count: () => count,
    isComplete: () => isComplete,
    hasChanged: () => changes !== state.progress.changes,
    /** Starts at the first document again: claims have become free. */
    rewind(): void {
      changes = state.progress.changes;
      documents = takeInOrder(table);
      [looked, offered, isComplete] = [0, [], false];
    },
    async take(most: number): Promise<PlannedDocument[]> {
      const size = batchSize(total - looked + offered.length, state.progress.workers, most);
      while (ready.length === 0) {
        if (offered.length === 0) {
          offered = documents(offeredAtOnce);
          looked += offered.length;
        }
        if (offered.length === 0) {
          isComplete = true;
          return [];
        }
        if (!(await takeSome(size))) return [];
      }
      if (mustFetch) await fetch();
      mustFetch = false;
      const taken = ready;
      ready = [];
      for (const each of taken) held.set(placeOf(each), claimKey(each.id));
      return taken;
    },
    forget(): void {
      held.clear();
      ready = [];
    },
  };
}

/**
 * Joins a run of several workers. Each has planned the same documents, and takes those that nobody has.
 * Each statement that changes a claim proves that the worker is not gone; between two statements its
 * lease proves it. `onRenewed` is called with the number of live workers, `onStop` with the error that
 * must stop the requests. Throws CliError `usage` for another checkout, and what the database throws.
 */
export async function joinWorkers(
  request: WorkerRequest,
  on: { renewed: (workers: number) => void; stop: (error: CliError) => void },
): Promise<Worker> {
  const { database, run, host, leaseSeconds, clock, signal } = request;
  const leaseMs = leaseSeconds * 1000;
  const time = (): Lease => ({ elapsed: clock.elapsed(), now: clock.now() });
  const join = async (): Promise<WorkerState> => {
    const lease = time();
    const joined = await joinRun(database, run, { host, leaseSeconds });
    const progress = { hasEnded: false, changes: 0, workers: joined.workers, open: 0 };
    return { joined, lease, progress, lost: undefined };
  };
  const state = await join();
  const taking = createTaking(request, state);
  taking.rewind();
  let unsettled: Settled[] = [];

  const renew = async (): Promise<void> => {
    const lease = time();
    const progress = await renewLease(database.query, state.joined, leaseSeconds);
    if (progress === undefined) {
      state.lost ??= lostError();
      return on.stop(state.lost);
    }
    Object.assign(state, { lease, progress });
    on.renewed(progress.workers);
    await dropExpired(database.query, state.joined, leaseSeconds);
  };
  const settle = async (): Promise<void> => {
    const settled = unsettled;
    unsettled = [];
    try {
      if (settled.length > 0) await request.push();
      await settleClaims(database.query, state.joined, settled);
    } catch (error) {
      unsettled = [...settled, ...unsettled];
      throw error;
    }
  };
  const keepLease = async (end: AbortSignal): Promise<void> => {
    while (!state.lost) {
      await clock.sleep(heartbeatMs(leaseMs), end);
      await renew().catch((error: unknown) => {
        // The lease gets older, and with it the requests end.
        if (!isUnreachable(error)) on.stop(error as CliError);
      });
    }
  };
  const startKeeping = (): (() => Promise<void>) => {
    const end = new AbortController();
    const kept = keepLease(end.signal).catch(() => {});
    return () => {
      end.abort();
      return kept;
    };
  };
  let stopKeeping = startKeeping();

  const rejoin = async (): Promise<void> => {
    taking.forget();
    unsettled = [];
    await stopKeeping();
    Object.assign(state, await join());
    stopKeeping = startKeeping();
    taking.rewind();
    await request.fetch();
  };
  /** One look at the run; undefined while others hold documents. */
  const look = async (): Promise<NextRound | undefined> => {
    if (state.lost) {
      await rejoin();
      return "again";
    }
    await settle();
    await renew();
    if (state.lost) return undefined;
    const { hasEnded, open, changes } = state.progress;
    if (hasEnded) return "ended";
    if (!taking.isComplete() || taking.hasChanged()) {
      taking.rewind();
      return "again";
    }
    return open > 0 ? undefined : await endRun(database.query, state.joined, changes);
  };

  return {
    async take(most) {
      if (state.lost ?? state.progress.hasEnded) return [];
      try {
        await settle();
        return await taking.take(most);
      } catch (error) {
        if (isUnreachable(error)) return [];
        throw error;
      }
    },
    maySend: () => state.lost === undefined && maySend(state.lease, leaseMs, time()),
    saved(files, failures) {
      const add = (records: readonly { path: string; part: number }[], isAccepted: boolean) => {
        for (const each of records) {
          const key = taking.held.get(placeOf(each));
          if (key === undefined) continue;
          taking.held.delete(placeOf(each));
          unsettled.push({ key, isAccepted });
        }
      };
      add(files, true);
      add(failures, false);
    },
    async next(onWait) {
      let pauseMs = shortestPauseMs;
      for (let since: number | undefined; ;) {
        let longestMs = heartbeatMs(leaseMs);
        try {
          const found = await look();
          if (found !== undefined) return found;
          since = undefined;
          const { open, workers } = state.progress;
          const others =
            workers === 2 ? "1 other worker holds" : `${workers - 1} other workers hold`;
          onWait(`${others} ${open === 1 ? "1 document" : `${open} documents`}`);
        } catch (error) {
          since ??= clock.elapsed();
          if (!isUnreachable(error) || clock.elapsed() - since > outageMs) throw error;
          longestMs = longestPauseMs;
          onWait("the shared record cannot be reached");
        }
        await clock.sleep(pauseMs, signal);
        pauseMs = Math.min(longestMs, 2 * pauseMs);
      }
    },
    async leave(report) {
      await stopKeeping();
      // What cannot be said now, the end of the lease says.
      await settle()
        .then(() => leaveRun(database.query, state.joined, report))
        .catch(() => {});
    },
    isLost: (error) => state.lost !== undefined && error === state.lost,
    isTakenOver: (id) => taking.takenOver.has(id),
    taken: taking.count,
    isFirst: state.joined.isFirst,
    get workers() {
      return state.progress.workers;
    },
  };
}
