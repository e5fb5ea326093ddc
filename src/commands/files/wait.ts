import { findFileStates } from "../../api/files.ts";
import type { UserFile } from "../../api/schemas.ts";
import { CliError } from "../../errors.ts";
import { neutraliseLine } from "../../output/terminal/neutralise.ts";
import { countOf } from "../../output/terminal/progress.ts";
import { createSpinner } from "../../output/terminal/spinner.ts";
import type { UploadWork } from "./upload.ts";

const firstWaitMs = 500;
const maxWaitMs = 10_000;
const defaultLimitMs = 300_000;

/** Statuses of a file that is not ready yet; every other status is final (observed-service.md 5). */
const pendingStates = new Set(["PROCESSING", "INDEXING", "UPLOADING"]);
const lostStates = new Set(["FAILED", "CANCELED", "DELETING"]);

function stateOf({ status }: UserFile): string {
  return (status ?? "").toUpperCase();
}

function nameOf({ name, file_id }: UserFile): string {
  return neutraliseLine(name || file_id).slice(0, 200);
}

/** Whether the file failed, so that no question can use it. */
export function isLost(file: UserFile): boolean {
  return lostStates.has(stateOf(file));
}

/** The error for files that the service accepted but could not process. */
export function lostError(files: readonly UserFile[]): CliError {
  const lines = files.map((file) => `${nameOf(file)}: ${stateOf(file).toLowerCase()}`);
  const [only = ""] = lines;
  const one = lines.length === 1;
  return new CliError(
    "server-error",
    one
      ? `the service could not process ${only}`
      : `the service could not process ${lines.length} files`,
    {
      details: one ? [] : lines.map((line) => `  ${line}`),
      hints: ["check that it is not encrypted and has text; upload it again, or ask without it"],
    },
  );
}

function tooLate(files: readonly UserFile[], waited: number): CliError {
  const names = files.map(nameOf).join(", ");
  const flags = files.map(({ file_id }) => `--file-id ${neutraliseLine(file_id)}`).join(" ");
  return new CliError(
    "timeout",
    `after ${Math.round(waited / 1000)} s the service is still processing ${names}`,
    { hints: [`wait longer with --timeout, or ask later with ${flags}`] },
  );
}

/**
 * Polls until the service has processed the files, with progress on stderr. Returns their
 * final state, including failed files. Throws CliError `timeout`, and ApiError.
 */
export async function waitForFiles(
  { context, client, output, timeoutSeconds }: UploadWork,
  files: readonly UserFile[],
): Promise<UserFile[]> {
  const known = new Map(files.map((file) => [file.id, file]));
  const pending = (): UserFile[] =>
    [...known.values()].filter((file) => pendingStates.has(stateOf(file)));
  const limitMs = timeoutSeconds === undefined ? defaultLimitMs : timeoutSeconds * 1000;
  const started = context.elapsed();
  const spinner = createSpinner(output);
  let slept = 0;
  let waitMs = firstWaitMs;
  try {
    for (let open = pending(); open.length > 0; open = pending()) {
      // A request may last longer than a wait.
      const waited = Math.max(slept, context.elapsed() - started);
      if (waited + waitMs > limitMs) throw tooLate(open, waited);
      const [first] = open;
      const what = open.length === 1 && first ? nameOf(first) : countOf(open.length, "file");
      spinner.start(`the service is processing ${what}`);
      await context.sleep(waitMs, context.signal);
      slept += waitMs;
      waitMs = Math.min(waitMs * 1.5, maxWaitMs);
      for (const file of await findFileStates(client, open)) known.set(file.id, file);
    }
  } finally {
    await spinner.stop();
  }
  return [...known.values()];
}
