import type { Client } from "../../api/client.ts";
import { uploadChatFile, findFileStates, listFiles } from "../../api/files.ts";
import type { UserFile, FileDescriptor } from "../../api/schemas.ts";
import type { Context } from "../../context.ts";
import { ApiError, CliError, reworded } from "../../errors.ts";
import { neutraliseLine } from "../../output/terminal/neutralise.ts";
import type { Output } from "../../output/terminal/output.ts";
import { countOf } from "../../output/terminal/progress.ts";
import { createSpinner } from "../../output/terminal/spinner.ts";
import { steadyBytes, type LocalFile } from "./local.ts";
import { poll } from "./poll.ts";

/** Dependencies of an upload. The signal also aborts the client's requests. */
export interface UploadWork {
  context: Pick<Context, "sleep" | "elapsed" | "now" | "signal">;
  client: Client;
  output: Output;
  /** `--timeout`: how long to wait for the files. */
  timeoutSeconds?: number | undefined;
}

/** A file that the service rejected, with the service's reason. */
interface Rejected {
  name: string;
  reason: string;
}

interface Uploaded {
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

/** An error about one file, or about several with a line for each. */
function filesError(what: string, lines: readonly string[], hints: readonly string[]): CliError {
  const [only = ""] = lines;
  if (lines.length === 1) return new CliError("server-error", `${what} ${only}`, { hints });
  return new CliError("server-error", `${what} ${countOf(lines.length, "file")}`, {
    details: lines.map((line) => `  ${line}`),
    hints,
  });
}

const flagsOf = (files: readonly UserFile[]): string =>
  files.map(({ file_id }) => `--file-id ${neutraliseLine(file_id)}`).join(" ");

/** The error for rejected files, with the ids of the accepted files. */
export function rejectedError({ accepted, rejected }: Uploaded): CliError {
  const lines = rejected.map(({ name, reason }) => neutraliseLine(`${name}: ${reason}`));
  const hints = ["check the type and the size, or upload it on the web page"];
  if (accepted.length > 0) {
    hints.push(`do not upload the accepted files again: ${flagsOf(accepted)}`);
  }
  return filesError("the service rejected", lines, hints);
}

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
  return filesError("the service could not process", lines, [
    "check that it is not encrypted and has text; upload it again, or ask without it",
  ]);
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
  const spinner = createSpinner(output);
  let isFirst = true;
  const lookUp = async (): Promise<UserFile[] | undefined> => {
    const states = isFirst ? [] : await findFileStates(client, pending());
    isFirst = false;
    for (const file of states) known.set(file.id, file);
    return pending().length === 0 ? [...known.values()] : undefined;
  };
  try {
    return await poll(context, { firstMs: firstWaitMs, maxMs: maxWaitMs, limitMs }, lookUp, {
      onWait() {
        const [first, ...more] = pending();
        const what = first && more.length === 0 ? nameOf(first) : countOf(more.length + 1, "file");
        spinner.start(`the service is processing ${what}`);
      },
      onLate(waited) {
        const names = pending().map(nameOf).join(", ");
        const message = `after ${Math.round(waited / 1000)} s the service is still processing ${names}`;
        const hints = [`wait longer with --timeout, or ask later with ${flagsOf(pending())}`];
        return new CliError("timeout", message, { hints });
      },
    });
  } finally {
    await spinner.stop();
  }
}

function descriptorOf(file: UserFile): FileDescriptor {
  return {
    id: file.file_id,
    type: file.chat_file_type ?? "document",
    ...(file.name ? { name: file.name } : {}),
    // Without this id the service treats the file as a project file (observed-service.md 1.4).
    user_file_id: file.id,
  };
}

async function findFiles(client: Client, ids: readonly string[]): Promise<UserFile[]> {
  if (ids.length === 0) return [];
  const known = await listFiles(client);
  return ids.map((id) => {
    const file = known.find((each) => each.file_id === id || each.id === id);
    if (file) return file;
    throw new CliError("not-found", `--file-id: the service lists no file ${id}`, {
      hints: ["see `knowctl files list`, or upload it with --file PATH"],
    });
  });
}

/**
 * Uploads new files, finds earlier uploads by id, and waits until the service has
 * processed all files. Returns the descriptors for a question. Throws before the question
 * is sent if a file is rejected or unusable: CliError `server-error`, `timeout`,
 * `not-found` for an unknown id, `local` for a file that changed.
 */
export async function describeFiles(
  work: UploadWork,
  files: readonly LocalFile[],
  ids: readonly string[],
): Promise<FileDescriptor[]> {
  const found = await findFiles(work.client, ids);
  const uploaded = await uploadFiles(work, files);
  if (uploaded.rejected.length > 0) throw rejectedError(uploaded);
  const ready = await waitForFiles(work, [...found, ...uploaded.accepted]);
  const failed = ready.filter(isLost);
  if (failed.length > 0) throw lostError(failed);
  return ready.map(descriptorOf);
}
