import type { Client } from "../../api/client.ts";
import { uploadChatFile } from "../../api/files.ts";
import type { UserFile } from "../../api/schemas.ts";
import type { Context } from "../../context.ts";
import { ApiError, CliError, reworded } from "../../errors.ts";
import { neutraliseLine } from "../../output/terminal/neutralise.ts";
import type { Output } from "../../output/terminal/output.ts";
import { countOf } from "../../output/terminal/progress.ts";
import { createSpinner } from "../../output/terminal/spinner.ts";
import { steadyBytes, type LocalFile } from "./local.ts";

/** Dependencies of an upload. The signal also aborts the client's requests. */
export interface UploadWork {
  context: Pick<Context, "sleep" | "elapsed" | "now" | "signal">;
  client: Client;
  output: Output;
  /** `--timeout`: how long to wait for the files. */
  timeoutSeconds?: number | undefined;
}

/** A file that the service rejected, with the service's reason. */
export interface Rejected {
  name: string;
  reason: string;
}

export interface Uploaded {
  accepted: UserFile[];
  rejected: Rejected[];
}

const MB = 1_000_000;
/** Default size limit of the service; an administrator may raise it (observed-service.md 5). */
const defaultLimitBytes = 100 * 1024 * 1024;

function megabytes(bytes: number): string {
  return (bytes / MB).toFixed(1);
}

/** `uploading 2/3 plan.pdf 12.0/100.0 MB` */
function progressText(file: LocalFile, sent: number, place: string): string {
  const amount = file.sizeBytes < MB ? "" : ` ${megabytes(sent)}/${megabytes(file.sizeBytes)} MB`;
  return `uploading ${place}${file.name}${amount}`;
}

/** Adds a hint about the size limit to the error of a large file. */
function withLimit(error: unknown, file: LocalFile): unknown {
  if (!(error instanceof ApiError)) return error;
  if (error.status !== 413 && file.sizeBytes <= defaultLimitBytes) return error;
  return reworded(error, error.message, [...error.hints, limitHint(file)]);
}

function limitHint({ name, sizeBytes }: LocalFile): string {
  return `${name} has ${megabytes(sizeBytes)} MB; services accept 100 MB by default, a proxy may accept less`;
}

/**
 * Uploads files one after the other, with progress on stderr. Returns files that the service
 * rejects with a reason; throws any other failure.
 */
export async function uploadFiles(
  { client, output }: UploadWork,
  files: readonly LocalFile[],
  options: { projectId?: number } = {},
): Promise<Uploaded> {
  const spinner = createSpinner(output);
  const uploaded: Uploaded = { accepted: [], rejected: [] };
  try {
    for (const [index, file] of files.entries()) {
      const place = files.length > 1 ? `${index + 1}/${files.length} ` : "";
      const { name, type, sizeBytes } = file;
      const bytes = (): AsyncIterable<Uint8Array> => {
        let sent = 0;
        return steadyBytes(file, (count) => {
          sent += count;
          spinner.start(progressText(file, sent, place));
        });
      };
      spinner.start(progressText(file, 0, place));
      const answer = await uploadChatFile(client, { name, type, sizeBytes, bytes }, options).catch(
        (error: unknown) => {
          throw withLimit(error, file);
        },
      );
      if ("taken" in answer) uploaded.accepted.push(answer.taken);
      else {
        const hint = sizeBytes > defaultLimitBytes ? `; ${limitHint(file)}` : "";
        uploaded.rejected.push({ name, reason: answer.reason + hint });
      }
    }
  } finally {
    await spinner.stop();
  }
  return uploaded;
}

/** The error for rejected files, with the ids of the accepted files. */
export function rejectedError({ accepted, rejected }: Uploaded): CliError {
  const lines = rejected.map(({ name, reason }) => neutraliseLine(`${name}: ${reason}`));
  const [only = ""] = lines;
  const message =
    lines.length === 1
      ? `the service rejected ${only}`
      : `the service rejected ${countOf(lines.length, "file")}`;
  const hints = ["check the type and the size, or upload it on the web page"];
  if (accepted.length > 0) {
    const flags = accepted.map(({ file_id }) => `--file-id ${neutraliseLine(file_id)}`);
    hints.push(`do not upload the accepted files again: ${flags.join(" ")}`);
  }
  return new CliError("server-error", message, {
    details: lines.length === 1 ? [] : lines.map((line) => `  ${line}`),
    hints,
  });
}
