import { CliError } from "../../errors.ts";
import type { IngestOptions } from "../ingest/ingest-options.ts";
import type { ReportFlags } from "../ingest/report/report-files.ts";

export interface VerifyOptions extends Omit<IngestOptions, "gitlabReport">, ReportFlags {
  sample?: number;
  /** Milliseconds. */
  wait?: number;
  depth?: "text" | "exists";
  /** Profile whose view is checked. */
  reader?: string;
  expect?: "hidden";
  sinceLast?: boolean;
  /** File whose evidence is printed. */
  explain?: string;
}

/** Throws CliError `usage` for flags that cannot be combined. */
export function checkVerifyOptions(paths: readonly string[], options: VerifyOptions): void {
  if (paths.includes("-")) {
    throw new CliError("usage", "verify reads no documents from stdin", {
      hints: ["`knowctl ingest - --verify` checks what it has just sent"],
    });
  }
  if (options.explain !== undefined && paths.length > 0) {
    throw new CliError("usage", "--explain names its file: omit other paths", {
      hints: ["for example `knowctl verify --explain docs/leave.md`"],
    });
  }
}
