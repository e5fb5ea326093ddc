import { createHash } from "node:crypto";
import { neutraliseJson, neutraliseLine } from "../../terminal/neutralise.ts";
import { redactEach, writeFilePieces, type ReportFileOptions } from "../file.ts";
import type { ReportFailure } from "../record.ts";
import { bareReason, refusedRow } from "../text.ts";

/** Limit, because GitLab reads the whole file into memory and nobody reads more findings. */
export const maxFindings = 10_000;

// GitLab recognises a known finding by its fingerprint. Without the line: edits above change it.
function fingerprintOf({ path, id, reason }: ReportFailure, occurrence: number): string {
  const parts = [path, id ?? "", reason, occurrence];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

/**
 * The failures as GitLab's code quality report, in pieces: a JSON array
 * (https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format),
 * the first 10,000. `prefix` is the path of the project in the repository. A
 * fingerprint is unique in a run and the same in each run.
 */
export function* gitlabCodeQuality(
  failures: Iterable<ReportFailure>,
  prefix = "",
): Generator<string> {
  const seen = new Map<string, number>();
  let written = 0;
  yield "[";
  for (const failure of failures) {
    if (written === maxFindings) break;
    const reason = bareReason(failure);
    const same = fingerprintOf({ ...failure, reason }, 0);
    const occurrence = seen.get(same) ?? 0;
    seen.set(same, occurrence + 1);
    const finding = {
      description: neutraliseLine(refusedRow(failure) + reason).slice(0, 2000),
      check_name: "knowctl/ingest",
      fingerprint: occurrence === 0 ? same : fingerprintOf({ ...failure, reason }, occurrence),
      severity: failure.retryable ? "minor" : "major",
      location: { path: `${prefix}${failure.path}`, lines: { begin: failure.line ?? 1 } },
    };
    yield `${written === 0 ? "\n" : ",\n"}  ${neutraliseJson(JSON.stringify(finding))}`;
    written++;
  }
  yield written === 0 ? "]\n" : "\n]\n";
}

/** Writes gitlabCodeQuality() to a file. Throws CliError `local` when the write fails. */
export async function writeCodeQuality(
  path: string,
  failures: Iterable<ReportFailure>,
  { redact, prefix }: ReportFileOptions & { prefix?: string | undefined },
): Promise<void> {
  await writeFilePieces(path, gitlabCodeQuality(redactEach(failures, redact), prefix));
}
