import type { IngestionDocument, PairRecord } from "../api/schemas.ts";
import type { Clock } from "./clock.ts";
import type { AttemptHistory } from "./store/seeds.ts";
import type { FaultSpec } from "./http/faults.ts";
import type { LedgerMode } from "./store/ledger.ts";
import type { ModelServer } from "./chat/model/client.ts";
import type { Framing } from "./chat/packets.ts";
import type { PlayOptions } from "./chat/play.ts";
import type { DialectName } from "./http/validation.ts";

/** The key of a sandbox on loopback without a key of its own. It is no secret. */
export const publicKey = "sandbox";

/** Only this machine reaches it. */
export const defaultHost = "127.0.0.1";

export interface SandboxOptions {
  /** 0 selects a free port. */
  port: number;
  /** Address to listen on (default defaultHost). */
  host?: string;
  /** Folder of the database file; created if missing. */
  dataFolder: string;
  /** The administrator's key, which all endpoints accept. */
  key: string;
  /**
   * Further keys, which read and administer nothing, and the groups of their accounts.
   * Default: the key with `-reader` after it, in no group.
   */
  readers?: readonly { key: string; groups?: readonly number[] }[];
  /**
   * Personal tokens of the administrator with scopes.
   * Default: the key with `-scoped` after it, which may chat and search.
   */
  tokens?: readonly { key: string; scopes: readonly string[] }[];
  dialect?: DialectName;
  /** Framing of the chat stream (default by dialect: `standard` sse, `onyx` ndjson). */
  framing?: Framing;
  faults?: FaultSpec;
  clock?: Clock;
  onLog?(line: string): void;
  /** Replaces the seeded pairs. Sent unchanged, so tests may use any value. */
  pairs?: readonly PairRecord[];
  /** Replaces the seeded attempts of crawled pairs. */
  attempts?: AttemptHistory;
  /** Model names per provider, for `llm_override`. */
  models?: Record<string, readonly string[]>;
  /** Answers questions with recorded streams. */
  play?: PlayOptions;
  /** Answers with a model of this server, instead of quoted sentences. */
  model?: ModelServer;
  /** Pairs per document set. */
  documentSets?: Record<string, readonly number[]>;
  /** Pause before each word of an answer (default 0). */
  tokenDelayMs?: number;
  /** Default `full`; `off` keeps memory constant for any number of documents. */
  ledger?: LedgerMode;
  /** Called with each stored document, as it was sent. */
  onDocument?(document: IngestionDocument): void;
  /** How many polls report an uploaded chat file as PROCESSING (default 0). */
  fileLooks?: number;
  /** Silence in a stream before a heartbeat packet (default 15 s). */
  heartbeatMs?: number;
  /** Allows chat without a valid key, over public documents (default false). */
  anonymous?: boolean;
}
