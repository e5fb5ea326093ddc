import type { CollisionCheck } from "./collisions.ts";
import type { Listed, FileFacts } from "../../documents/files/source-file.ts";
import type { PlanInspector } from "../../documents/inspect/inspection.ts";
import type { FormatName } from "../../documents/formats/format.ts";
import type { PathRange } from "../../documents/find/scope.ts";
import type { Shard } from "./shard.ts";
import type { State } from "../state/state.ts";
import type { Targets } from "../state/target.ts";

/** The options of a run, for comparison with recorded options. */
export interface RunOptions {
  /** Their number in the state; undefined where the state does not contain them. */
  number: number | undefined;
  /** Difference from the options with a number, e.g. `sections headings → whole`; "" for none or unknown. */
  differenceFrom: (number: number) => string;
}

export interface PlanRequest extends CollisionCheck {
  /** Project root. */
  root: string;
  /** Lists the files ordered by path; files that only links lead to are last. */
  list: () => Iterable<Listed>;
  /** Path ranges of the recorded files of the same inputs. */
  ranges: readonly PathRange[];
  /** Whether a recorded file that is not listed counts as deleted. */
  isInScope: (path: string) => boolean;
  /** Whether a pattern excludes a recorded file. */
  isExcluded?: ((path: string) => boolean) | undefined;
  /**
   * With `--since`: whether a file is inspected; other files are left unchanged. `parts` are the
   * recorded ones, see partsText().
   */
  isSelected: ((listed: Listed, parts?: string) => boolean) | undefined;
  state: State;
  targets: Targets;
  options: RunOptions;
  /** Hash of everything except the file's bytes that shapes its payload. */
  mappingKey: (path: string) => string;
  /** Prefix that turns a path into an id; often "". */
  idPrefix: string;
  /** Format of a file, regardless of its extension; undefined where the extension decides. */
  formatFor?: ((path: string) => FormatName | undefined) | undefined;
  /** Facts from git and CODEOWNERS about a file. */
  factsOf?: ((path: string) => FileFacts | undefined) | undefined;
  inspector: PlanInspector;
  /** Compare the content of every file even when its stamp is unchanged. */
  checksum: boolean;
  /** Send unchanged documents too. */
  force: boolean;
  /** Nothing is sent and the state does not change: all files are read, to show what would be sent. */
  isDry: boolean;
  shard: Shard | undefined;
  /** Ends the plan between two batches. */
  signal: AbortSignal;
  /** Milliseconds of a monotonic clock. */
  elapsed: () => number;
  /** Called from time to time with the number of files found. */
  onProgress?: (files: number) => void;
  /** In a dry run: called with the body of each document that would be sent. */
  onPlanned?: ((body: Uint8Array) => void) | undefined;
  /** Called once when many documents are pending, so that the caller can prepare the upload. */
  onManyPending?: (() => void) | undefined;
}
