import type { IngestionResult } from "../../api/schemas.ts";
import type { Notice } from "../../documents/payload/metadata.ts";
import type { ReadyDocument } from "../../documents/inspect/inspection.ts";
import type { Pending, LastSent } from "./pending.ts";
import type { State } from "../state/state.ts";
import type { Suspicion } from "../state/verified.ts";
import type { Targets } from "../state/target.ts";

export interface DocumentEvent {
  status: "created" | "updated" | "unchanged" | "skipped" | "failed";
  /** "" for a document from stdin. */
  path: string;
  /** Number of the row in a file of rows. */
  row?: number | undefined;
  /** For a failure: the line where that row begins. */
  line?: number | undefined;
  id: string;
  /** Reason for `skipped` or `failed`. */
  reason?: string | undefined;
  /** For a failure: a retry may succeed. */
  retryable?: boolean | undefined;
  /** For a failure: HTTP status. */
  httpStatus?: number | undefined;
  storedId?: string | undefined;
  /** Earlier path of the file. */
  renamedFrom?: string | undefined;
  warnings?: readonly string[] | undefined;
  images?: number | undefined;
  /** Facts that the run reports once for all documents. */
  notices?: readonly Notice[] | undefined;
  /** The service had the document, no record here says so, and this run did not send it before. */
  wasUnrecorded?: boolean | undefined;
  /** Bytes of the request's body. */
  sentBytes?: number | undefined;
  ms: number;
}

export interface RunRequest {
  /** Documents to send, in batches. */
  pending: AsyncIterable<Pending[]>;
  /** Reads documents again for their last attempt, by their numbers in the plan. */
  again: (numbers: readonly number[]) => AsyncIterable<Pending[]>;
  state: State;
  targets: Targets;
  /** Number of the run's options in the state; undefined where none are recorded. */
  options: number | undefined;
  /** The prefix of ids that are made of their path. */
  idPrefix: string;
  /** Keys of targets that share documents: an upload to one of them changes all of them. */
  sharedTargets: readonly string[];
  mappingKey: (path: string) => string;
  /** Earlier path of a file: a gone file with this content, or a rename that git reports. */
  renamedFrom: (content: string, path: string) => string | undefined;
  /** Send unchanged documents too. */
  force: boolean;
  /**
   * Sends one request body; resolves only on status 200. `spentMs` is the time that the document
   * has already used up of `documentMs`.
   */
  upload: (body: Uint8Array, document: ReadyDocument, spentMs: number) => Promise<Sent>;
  /** Time limit of one document, with its retries and its last attempt, in milliseconds. */
  documentMs: number;
  /** Passes the function to call with 1 when a document starts to wait for a retry, and with -1 after that. */
  followHeld?: (hold: (change: 1 | -1) => void) => void;
  /** Whether an earlier request of this run for a document got no answer: the service may have stored it. */
  wasUnanswered: (id: string) => boolean;
  /** Called with 1 when a document starts, and with -1 when it ends. */
  onSending?: (change: 1 | -1) => void;
  /** Returns the body to send; `last` is the last version that the target accepted. */
  adapt: (document: ReadyDocument, last: LastSent | undefined) => SentBody;
  /** Called for an accepted document that the service may not have indexed. */
  onSuspect?: (document: { target: string; id: string; why: Suspicion }) => void;
  /** Whether the service is considered down: then no failure counts as the document's own. */
  isGivenUp: () => boolean;
  /** The error that stops the run, for a failure that every document would have. */
  runFaultOf?: (error: unknown) => Error | undefined;
  /** Maximum number of documents in flight; those that wait for a retry do not count. */
  concurrency: number;
  maxFailures: number | undefined;
  /** Number of earlier failures: files that could not be read. Default 0. */
  failedBefore?: number;
  /** Stops starting new documents; documents in flight are awaited. */
  signal: AbortSignal;
  now: () => number;
}

/** Response to an accepted document; `answeredAtMs` as in AcceptedRecord. */
export type Sent = IngestionResult & { answeredAtMs?: number | undefined };

export interface SentBody {
  body: Uint8Array;
  /** `doc_updated_at` of the body. */
  updatedAt: string | undefined;
  /** Returns the date to record instead, if the service already had the document. */
  dateIfThere?: () => string | undefined;
}
