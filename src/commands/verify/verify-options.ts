import { CliError } from "../../errors.ts";
import type { SearchWay } from "./look/search.ts";
import type { IngestOptions } from "../ingest/ingest-options.ts";
import type { ReportFlags } from "../../output/report/forms.ts";

export interface VerifyOptions extends Omit<IngestOptions, "gitlabReport">, ReportFlags {
  sample?: number;
  /** Milliseconds. */
  wait?: number;
  depth?: "text" | "exists";
  /** A search in place of the look-ups. */
  via?: SearchWay | "assisted";
  /** Model calls that are allowed without asking. */
  allowTokens?: number;
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
  if (options.via === "assisted") {
    throw new CliError("usage", "--via assisted: this search names no document ids", {
      hints: ["use --via indexed, keyword or chat"],
    });
  }
  if (options.explain !== undefined && paths.length > 0) {
    throw new CliError("usage", "--explain names its file: omit other paths", {
      hints: ["for example `knowctl verify --explain docs/welcome.md`"],
    });
  }
}
