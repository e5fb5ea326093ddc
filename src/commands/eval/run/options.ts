import type { StateFlag } from "../../files-in-state.ts";
import type { GlobalFlags } from "../../../config/global-flags.ts";
import type { WayName } from "../../search/ways.ts";

/** Flags of `eval retrieval` and `eval answers`. */
export interface EvalOptions extends GlobalFlags, StateFlag {
  /** Retrieval only. */
  via?: WayName;
  /** Retrieval only. */
  k?: number;
  /** Answers only. */
  judge?: boolean;
  /** Questions in flight. */
  concurrency?: number;
  /** Most model calls. */
  allowTokens?: number;
  /** A JSON report of an earlier run. */
  baseline?: string;
  failOn?: string;
  report?: string[];
  record?: string;
  replay?: string;
}
