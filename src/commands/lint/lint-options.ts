import { resolve } from "node:path";
import type { MappingFlags } from "../ingest/options/mapping-flags.ts";
import type { ReportFlags } from "../../output/report/forms.ts";
import { readBaseline, type BaselineEntry } from "../../checks/lint/baseline.ts";
import { CliError } from "../../errors.ts";

export interface LintOptions extends MappingFlags, ReportFlags {
  /** The only rules to run, by name. */
  rule?: string[];
  maxWarnings?: number;
  baseline?: string;
  writeBaseline?: boolean;
  fix?: boolean;
}

/** The baseline of a run. */
export interface Baseline {
  /** Absolute. */
  path: string;
  entries: BaselineEntry[];
}

/** Reads the file of --baseline. With --write-baseline it may be missing. Throws CliError `usage`. */
export function openBaseline(
  { baseline, writeBaseline = false }: LintOptions,
  cwd: string,
): Baseline | undefined {
  if (baseline === undefined) return undefined;
  const path = resolve(cwd, baseline);
  return { path, entries: readBaseline(path, baseline, writeBaseline) };
}

/** Throws CliError `usage` for arguments that lint cannot check. */
export function checkPaths(paths: readonly string[]): void {
  if (!paths.includes("-")) return;
  throw new CliError("usage", "lint reads no documents from stdin", {
    hints: ["name files; `knowctl ingest -` checks for secrets what it sends"],
  });
}
