import type { IngestionResult } from "../../api/schemas.ts";
import type { Notice } from "../../documents/map/notices.ts";
import type { ReadyDocument } from "../../documents/inspect/inspection.ts";
import type { Pending, LastSent } from "./pending.ts";
import type { State } from "../state/state.ts";
import type { Targets } from "../state/target.ts";

export interface DocumentEvent {
  status: "created" | "updated" | "unchanged" | "skipped" | "failed";
  /** "" for what came from stdin. */
  path: string;
  /** Number of the row in a file of rows. */
  row?: number | undefined;
  /** Of a failure: the line where that row begins. */
  line?: number | undefined;
  id: string;
  /** Why it is skipped or failed. */
  reason?: string | undefined;
  /** Of a failure: another attempt may help. */
  retryable?: boolean | undefined;
  /** Of a failure: HTTP status. */
  httpStatus?: number | undefined;
  storedId?: string | undefined;
  /** The path that this file had when it was sent before. */
  renamedFrom?: string | undefined;
  warnings?: readonly string[] | undefined;
  images?: number | undefined;
  /** Facts that the run reports once for all documents. */
  notices?: readonly Notice[] | undefined;
  /** The service had the document, and nothing is recorded of it here. */
  wasUnrecorded?: boolean | undefined;
  /** Bytes of the request's body. */
  sentBytes?: number | undefined;
  ms: number;
}

export interface RunRequest {
  /** What is to be sent, in batches; read again for a last attempt by `again`. */
  pending: AsyncIterable<Pending[]>;
  /** What is to be attempted once more, by its positions in the spool. */
  again: (positions: readonly number[]) => AsyncIterable<Pending[]>;
  state: State;
  targets: Targets;
  /** Number of the run's options in the state; undefined where none are recorded. */
  options: number | undefined;
  /** Keys of targets that have one document under one id, whichever of them it is sent to. */
  sharedTargets: readonly string[];
  mappingKey: (path: string) => string;
  /** A gone file of this content, or one that git says was renamed. */
  renamedFrom: (content: string, path: string) => string | undefined;
  /** Send what is unchanged too. */
  force: boolean;
  /** Sends one request body; resolves only when the service answered 200. */
  upload: (body: Uint8Array, document: ReadyDocument) => Promise<IngestionResult>;
  /** Told when a document sets out (1), and when it is over (-1). */
  onSending?: (change: 1 | -1) => void;
  /** The body to send for a document; `last`: how the target got another version of it. */
  adapt: (document: ReadyDocument, last: LastSent | undefined) => SentBody;
  /** Whether the service as a whole has been given up: then no failure is a document's own. */
  isGivenUp: () => boolean;
  /** Most documents in flight. */
  concurrency: number;
  maxFailures: number | undefined;
  /** Documents that have failed before: files that could not be read. Default 0. */
  failedBefore?: number;
  /** Stops taking new documents; what is in flight is waited for. */
  signal: AbortSignal;
  now: () => number;
}

export interface SentBody {
  body: Uint8Array;
  /** `doc_updated_at` in it. */
  updatedAt: string | undefined;
  /** The date to record instead, asked for when the service turns out to have the document already. */
  dateIfThere?: () => string | undefined;
}
