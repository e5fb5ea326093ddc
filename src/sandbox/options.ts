import type { PairRecord } from "../api/schemas.ts";
import type { Clock } from "./clock.ts";
import type { FaultSpec } from "./http/faults.ts";
import type { LedgerMode } from "./store/ledger.ts";
import type { ModelServer } from "./chat/model/client.ts";
import type { Framing } from "./chat/packets.ts";
import type { PlayOptions } from "./chat/play.ts";
import type { DialectName } from "./http/reply.ts";

export interface SandboxOptions {
  /** 0 takes a free port. */
  port: number;
  /** Address to listen on; 127.0.0.1 without it. */
  host?: string;
  /** Holds the database file; made when it is missing. */
  dataFolder: string;
  /** The one key that all endpoints take. */
  key: string;
  dialect?: DialectName;
  /** Of the chat stream; without it the dialect's own: `standard` sse, `onyx` ndjson. */
  framing?: Framing;
  faults?: FaultSpec;
  clock?: Clock;
  onLog?(line: string): void;
  /** Instead of the seeded ones. Sent as they are, so tests may put anything into them. */
  pairs?: readonly PairRecord[];
  /** Model names per provider, for `llm_override`. */
  models?: Record<string, readonly string[]>;
  /** Answers questions with recorded streams instead. */
  play?: PlayOptions;
  /** Answers through this server instead of with quoted sentences. */
  model?: ModelServer;
  /** Pairs per document set. */
  documentSets?: Record<string, readonly number[]>;
  /** Pause before each word of an answer; 0 without it. */
  tokenDelayMs?: number;
  /** `full` without it; `off` keeps memory flat over any number of documents. */
  ledger?: LedgerMode;
  /** How often a file that was uploaded for a chat is still PROCESSING when looked at; 0 without it. */
  fileLooks?: number;
  /** Silence in a stream before a heartbeat packet; 15 s without it. */
  heartbeatMs?: number;
  /** Lets callers without a valid key chat, over public documents; false without it. */
  anonymous?: boolean;
}
