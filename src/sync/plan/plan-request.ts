import type { Listed } from "../../documents/find/source-file.ts";
import type { FileFacts } from "../../documents/map/facts.ts";
import type { PeekingInspector } from "../../documents/inspect/inspection.ts";
import type { FormatName } from "../../documents/read/reader.ts";
import type { PathRange } from "../../documents/find/scope.ts";
import type { SpoolHead } from "../run/pending.ts";
import type { Shard } from "./shard.ts";
import type { Spool } from "../run/spool.ts";
import type { State } from "../state/state.ts";
import type { Targets } from "../state/target.ts";

/** What the plan knows of the run's options. */
export interface RunOptions {
  /** Their number in the state; undefined where the state does not have them. */
  number: number | undefined;
  /** In which way they differ from those of this number, e.g. `sections headings → whole`; "" where they don't, or nobody knows. */
  differenceFrom: (number: number) => string;
}

export interface PlanRequest {
  /** Project root. */
  root: string;
  /** Lists the files by name, ordered by path; those that only links lead to come last. */
  list: () => Iterable<Listed>;
  /** Where the recorded files of the same inputs lie. */
  ranges: readonly PathRange[];
  /** Whether a recorded file that is not listed counts as gone. */
  isInScope: (path: string) => boolean;
  /** Whether a pattern leaves a recorded file out. */
  isExcluded?: ((path: string) => boolean) | undefined;
  /** With `--since`: whether a file is looked at; the others stay as they are. */
  isSelected: ((listed: Listed) => boolean) | undefined;
  state: State;
  targets: Targets;
  /** The options of this run, to be compared with those of the records. */
  options: RunOptions;
  /** Hash of everything except the file's bytes that shapes its payload. */
  mappingKey: (path: string) => string;
  /** What ids that are paths begin with; often "". */
  idPrefix: string;
  /** How every file is read, whatever its extension says. */
  format?: FormatName | undefined;
  /** What others say of a file. */
  factsOf?: ((path: string) => FileFacts | undefined) | undefined;
  inspector: PeekingInspector;
  /** Compare the content of every file even when its stamp is the recorded one. */
  checksum: boolean;
  /** Plan to send what is unchanged too. */
  force: boolean;
  /** Takes what is to be sent; undefined for a dry run, which leaves the state as it is. */
  spool: Spool<SpoolHead> | undefined;
  /**
   * Where there are more new files than so many, they are read when their turn
   * comes, wherever a glance tells their id; what others give is kept with the
   * plan. Till that is known they wait, and recorded ones go before them. Default,
   * and without a spool: any number is read, in the order of paths.
   */
  mostReadFirst?: number | undefined;
  shard: Shard | undefined;
  /** Ends the plan between two batches. */
  signal: AbortSignal;
  /** Milliseconds of a clock that is never set. */
  elapsed: () => number;
  /** Called now and then with the number of files looked at. */
  onProgress?: (files: number) => void;
  /** Called once when many documents are to be sent: what that takes can be begun. */
  onManyPending?: (() => void) | undefined;
  /** Whether a recorded file still is as it was recorded. */
  isCurrent: (path: string) => boolean;
  /** A root-relative path as people read it, for what is refused. */
  shown?: ((path: string) => string) | undefined;
  /** The id under which the service stores a document; undefined where it stores them as they are. */
  storedId?: ((id: string) => string) | undefined;
}
