import type { Shard } from "../../sync/plan/shard.ts";
import type { AccessFlags } from "./target/access.ts";
import type { ReportFlags } from "./report/report-files.ts";
import type { SessionRequest } from "./session.ts";

export interface IngestOptions extends SessionRequest, ReportFlags, AccessFlags {
  checksum?: boolean;
  force?: boolean;
  exitCode?: boolean;
  /** False for `--no-overwrite`. */
  overwrite?: boolean;
  maxFailures?: number;
  allowEmpty?: boolean;
  shard?: Shard;
  /** Of the one document that stdin is, with a `format` of texts. */
  id?: string;
  /** Write the options of this command line into the project file. */
  saveOptions?: boolean;
  /** Change differing values there without asking. */
  yes?: boolean;
}
