/**
 * What is retried, how often and how long it may take, per class of call. Data
 * only; the loop that obeys is retry.ts, the waits are timing.ts.
 */

/**
 * What became of an attempt that failed. `unsent`: surely nothing of the request
 * left (name lookup, connect, CONNECT). `shape`: an answer that is not the
 * promised one. `fatal`: sending it again cannot help.
 */
export type FaultKind = "status" | "unsent" | "connection" | "timeout" | "shape" | "fatal";

export type CallClass =
  | "list"
  | "listOnce"
  | "upsert"
  | "remove"
  | "chatWhole"
  | "chatStream"
  | "resume"
  | "upload"
  | "rememberedUpload"
  | "create"
  | "rawSafe"
  | "rawUnsafe";

export interface CallPolicy {
  /** Attempts in total, the first included. */
  readonly attempts: number;
  /** Statuses that may be asked again. */
  readonly statuses: ReadonlySet<number>;
  /** Statuses that are asked again only when the answer has a Retry-After. */
  readonly statusesWithRetryAfter: ReadonlySet<number>;
  readonly faults: ReadonlySet<FaultKind>;
  /** Fewer retries than `attempts` allows, by status, code or kind of fault. */
  readonly retriesOf: Readonly<Record<string, number>>;
  /** The shortest wait, by status. */
  readonly waitOf: Readonly<Record<string, number>>;
  /**
   * From the start of an attempt, or the last piece of its body that went out, to its
   * response headers; 0: only `totalMs` ends it.
   */
  readonly headersMs: number;
  /** Slowest upload that is still waited for; what the system may hold unsent adds to `headersMs`. */
  readonly uploadBytesPerSecond?: number;
  /** Longest silence inside a response body. */
  readonly idleMs: number;
  /** The whole call with its retries; 0: no limit. */
  readonly totalMs: number;
  readonly responseBytes: number;
  /** A connection of its own: nothing to reuse, so no reset at reuse. */
  readonly fresh: boolean;
  /** The user's `--timeout` sets this member. */
  readonly timeoutSets: "headersMs" | "idleMs" | "totalMs";
  /** Statuses after which no other call of the run can succeed either. */
  readonly endsRun: ReadonlySet<number>;
  /** After a fault the service may have acted: the failure is `incomplete`, not a fault of the wire. */
  readonly mayHaveActed: boolean;
}

const KiB = 1024;
const MiB = 1024 * KiB;
const transient = [408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529];
const none: ReadonlySet<number> = new Set();
const everyFault: ReadonlySet<FaultKind> = new Set(["unsent", "connection", "timeout", "shape"]);
const unsentOnly: ReadonlySet<FaultKind> = new Set(["unsent"]);

const list: CallPolicy = {
  attempts: 4,
  statuses: new Set(transient),
  statusesWithRetryAfter: none,
  faults: everyFault,
  retriesOf: { ENOTFOUND: 1, shape: 1 },
  waitOf: {},
  headersMs: 60_000,
  idleMs: 30_000,
  totalMs: 300_000,
  responseBytes: 64 * MiB,
  fresh: false,
  timeoutSets: "headersMs",
  endsRun: new Set([401, 402, 403, 404, 405, 410, 501]),
  mayHaveActed: false,
};

/** For what a run can do without: asked once, and not waited for. */
const listOnce: CallPolicy = { ...list, attempts: 1, headersMs: 5000, totalMs: 5000 };

/** Deleting twice is as deleting once; a 404 may be about the one document. */
const remove: CallPolicy = {
  ...list,
  endsRun: new Set([...list.endsRun].filter((status) => status !== 404)),
};

const upsert: CallPolicy = {
  ...list,
  attempts: 5,
  statuses: new Set([...transient, 409]),
  retriesOf: { ENOTFOUND: 1, shape: 1, 409: 1, 500: 2 },
  waitOf: { 409: 1000 },
  headersMs: 120_000,
  uploadBytesPerSecond: 64 * KiB,
  totalMs: 600_000,
  responseBytes: MiB,
};

/** A question has no idempotency key: asked again only when it surely was not taken. */
const chatStream: CallPolicy = {
  ...list,
  attempts: 3,
  statuses: new Set([429]),
  statusesWithRetryAfter: new Set([503]),
  faults: unsentOnly,
  headersMs: 120_000,
  idleMs: 120_000,
  totalMs: 0,
  responseBytes: 256 * MiB,
  fresh: true,
  timeoutSets: "idleMs",
  mayHaveActed: true,
};

/** Reading an answer again asks nothing. */
const resume: CallPolicy = {
  ...chatStream,
  attempts: list.attempts,
  statuses: list.statuses,
  faults: list.faults,
  mayHaveActed: false,
};

const chatWhole: CallPolicy = {
  ...chatStream,
  headersMs: 0,
  totalMs: 900_000,
  responseBytes: 64 * MiB,
  timeoutSets: "totalMs",
};

/** Each upload makes a new file id, so a second one would leave an orphan. */
const upload: CallPolicy = {
  ...upsert,
  attempts: 3,
  statuses: new Set([429]),
  statusesWithRetryAfter: new Set([503]),
  faults: unsentOnly,
  retriesOf: { ENOTFOUND: 1 },
  waitOf: {},
};

/**
 * The caller remembers which content has which id, so a second attempt is worth
 * the orphan that a lost answer may leave behind.
 */
const rememberedUpload: CallPolicy = {
  ...upload,
  faults: new Set(["unsent", "connection", "timeout"]),
};

/** What a second request would make a second time. */
const create: CallPolicy = upload;

/** Any GET that a user types: what comes may be large, and is written as it comes. */
const rawSafe: CallPolicy = {
  ...list,
  idleMs: 120_000,
  totalMs: 0,
  responseBytes: Number.POSITIVE_INFINITY,
};

/** Any other request that a user types: nobody knows what doing it twice would do. */
const rawUnsafe: CallPolicy = {
  ...rawSafe,
  attempts: 3,
  statuses: chatStream.statuses,
  statusesWithRetryAfter: chatStream.statusesWithRetryAfter,
  faults: unsentOnly,
  headersMs: 300_000,
  uploadBytesPerSecond: 64 * KiB,
};

export const policies: Record<CallClass, CallPolicy> = {
  list,
  listOnce,
  upsert,
  remove,
  chatWhole,
  chatStream,
  resume,
  upload,
  rememberedUpload,
  create,
  rawSafe,
  rawUnsafe,
};

/** Longest silence of a chat that researches (observed-service.md 2.5). */
export const deepResearchIdleMs = 600_000;

/** The longest Retry-After that is obeyed; a longer one ends the run. */
export const longestRetryAfterMs = 120_000;

export const connectMs = 10_000;

/** Happy eyeballs: how long one address may take before the next is tried. */
export const addressAttemptMs = 2000;

/** Longest line of a chat stream. */
export const streamLineBytes = 64 * MiB;
