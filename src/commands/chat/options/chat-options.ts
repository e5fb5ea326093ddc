import type { StateFlag } from "../../files-in-state.ts";
import type { GlobalFlags } from "../../../config/global-flags.ts";
import type { RenderMode } from "../../../output/chat/markdown.ts";

export interface ChatOptions extends GlobalFlags, StateFlag {
  agent?: number;
  project?: number;
  session?: string;
  continue?: boolean;
  parent?: number;
  /** PROVIDER/VERSION */
  model?: string;
  provider?: string;
  modelVersion?: string;
  temperature?: number;
  tool?: number[];
  /** False for `--no-tools`. */
  tools?: boolean;
  forceTool?: number;
  file?: string[];
  fileId?: string[];
  sourceType?: string[];
  documentSet?: string[];
  filterTag?: string[];
  since?: string;
  deepResearch?: boolean;
  /** False for `--no-stream`. */
  stream?: boolean;
  payload?: string;
  live?: boolean;
  /** False for `--no-sources`. */
  sources?: boolean;
  show?: string;
  render?: RenderMode;
  /** False for `--no-remember`. */
  remember?: boolean;
  save?: string;
  record?: string;
  /** Replace the file of `--record`. */
  force?: boolean;
  replay?: string;
  replaySpeed?: number;
  /** NDJSON file of questions, or `-`. */
  batch?: string;
  concurrency?: number;
  /** Results file of an earlier batch. */
  resume?: string;
  /** False for `--no-reask`. */
  reask?: boolean;
  /** Bytes of the longest line of a stream. */
  maxPacket?: number;
}
