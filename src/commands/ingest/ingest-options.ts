import type { Shard } from "../../sync/plan/decide.ts";
import type { AccessFlags } from "./target/access.ts";
import type { ReportFlags } from "../../output/report/forms.ts";
import type { SessionRequest } from "./session.ts";

export interface IngestOptions extends SessionRequest, ReportFlags, AccessFlags {
  checksum?: boolean;
  force?: boolean;
  exitCode?: boolean;
  /** Of a million tokens, for the size of a dry run. */
  pricePerMillion?: number;
  /** Send documents that stand under another pair, too. */
  overwrite?: boolean;
  /** Send recorded documents under another id. */
  allowIdChange?: boolean;
  maxFailures?: number;
  allowEmpty?: boolean;
  shard?: Shard;
  /** Share the work with other runs on one shared record. */
  claim?: boolean;
  /** Name of the run of the workers that share it. */
  run?: string;
  /** Id of the document on stdin, when `format` is a text format. */
  id?: string;
  /** Print the project file that repeats this command line, and send nothing. */
  printConfig?: boolean;
  /** Of `retry`: send what verify did not find, not what failed. */
  missing?: boolean;
  /** Check that the sent documents are in the index. */
  verify?: boolean;
  /** With `verify`: how long to wait for the index, in milliseconds. */
  wait?: number;
  /** Upload again after changes, until a signal. */
  watch?: boolean;
  /** With `watch`: time between two full checks, in milliseconds. */
  every?: number;
  /** With `watch`: time without a change that ends a burst of changes, in milliseconds. */
  settle?: number;
  /** With `watch`: remove documents whose files are gone. */
  prune?: boolean;
  /** With `prune`: by a removal notice. */
  tombstone?: boolean;
}
