/**
 * Retries and timeouts per class of call. Data only: retry.ts runs the loop, timing.ts
 * computes the waits.
 */

/**
 * Kind of a failed attempt. `unsent`: nothing of the request was sent for sure (name lookup,
 * connect, CONNECT). `shape`: a response that violates the interface. `fatal`: a retry
 * cannot help.
 */
export type FaultKind = "status" | "unsent" | "connection" | "timeout" | "shape" | "fatal";

export type CallClass =
  | "list"
  | "listOnce"
  | "longList"
  | "lookUp"
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
  /** Maximum of attempts, including the first. */
  readonly attempts: number;
  /** Statuses that allow a retry. */
  readonly statuses: ReadonlySet<number>;
  /** Statuses that allow a retry only if the response has a Retry-After. */
  readonly statusesWithRetryAfter: ReadonlySet<number>;
  /** Faults that allow a retry. */
  readonly faults: ReadonlySet<FaultKind>;
  /** Maximum of retries below `attempts`, by status, code or kind of fault. */
  readonly retriesOf: Readonly<Record<string, number>>;
  /** Minimum wait in ms before a retry, by status. */
  readonly waitOf: Readonly<Record<string, number>>;
  /**
   * Timeout for the response headers, from the start of the attempt or the last sent piece of
   * its body. 0: only `totalMs` ends the attempt.
   */
  readonly headersMs: number;
  /** Slowest accepted upload: the time for bytes that the system may buffer adds to `headersMs`. */
  readonly uploadBytesPerSecond?: number;
  /** Idle timeout within a response body. */
  readonly idleMs: number;
  /** Timeout of the whole call with its retries; 0: no limit. */
  readonly totalMs: number;
  /** Maximum size of the response. */
  readonly responseBytes: number;
  /** Use a new connection, which cannot be reset on reuse. */
  readonly fresh: boolean;
  /** The limit that the user's `--timeout` sets. */
  readonly timeoutSets: "headersMs" | "idleMs" | "totalMs";
  /** Statuses after which no other call of the run can succeed. */
  readonly endsRun: ReadonlySet<number>;
  /** After a fault the service may have acted: report `incomplete`, not `unreachable` or `timeout`. */
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

/** A list without pages, which may be long and is read as it arrives. */
const longList: CallPolicy = { ...list, responseBytes: Number.POSITIVE_INFINITY };

/** For a list that a run can do without: one attempt with a short timeout. */
const listOnce: CallPolicy = { ...list, attempts: 1, headersMs: 5000, totalMs: 5000 };

/** DELETE is idempotent. A 404 may concern one document, so it does not end the run. */
const remove: CallPolicy = {
  ...list,
  endsRun: new Set([...list.endsRun].filter((status) => status !== 404)),
};

/**
 * A look-up of one document: its 404 or 403 says nothing about the next one. Its answer is short: one
 * that arrives byte by byte ends soon, as a run makes thousands of look-ups.
 */
const lookUp: CallPolicy = {
  ...list,
  headersMs: 30_000,
  totalMs: 60_000,
  endsRun: new Set([...list.endsRun].filter((status) => status !== 404 && status !== 403)),
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

/** A question has no idempotency key: retry only if the service surely did not accept it. */
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

/** Reading an answer again does not ask again. */
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

/** Each upload creates a new file id, so a second upload would leave an orphan. */
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
 * The caller caches ids by content, so a retry is worth the orphan that a lost response
 * may leave behind.
 */
const rememberedUpload: CallPolicy = {
  ...upload,
  faults: new Set(["unsent", "connection", "timeout"]),
};

/** A second request would create a second object. */
const create: CallPolicy = upload;

/** Any GET of the `api` command: the response may be large, and is streamed to the output. */
const rawSafe: CallPolicy = {
  ...list,
  idleMs: 120_000,
  totalMs: 0,
  responseBytes: Number.POSITIVE_INFINITY,
};

/** Any other request of the `api` command: sending it twice may have any effect. */
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
  longList,
  lookUp,
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

/** Idle timeout of a deep-research chat (observed-service.md 2.5). */
export const deepResearchIdleMs = 600_000;

/** Maximum Retry-After that is obeyed; a longer one ends the run. */
export const longestRetryAfterMs = 120_000;

export const connectMs = 10_000;

/** Happy eyeballs: delay before the next address is tried. */
export const addressAttemptMs = 2000;

/** Maximum length of a chat stream line. */
export const streamLineBytes = 64 * MiB;
