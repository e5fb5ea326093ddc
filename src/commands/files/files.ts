import { listFiles, uploadImage } from "../../api/files.ts";
import type { UserFile } from "../../api/schemas.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { type Column, checkSelection, writeList } from "../../output/formats/formats.ts";
import { relativeTime } from "../../output/terminal/progress.ts";
import { listResource } from "../resource.ts";
import { CliError } from "../../errors.ts";
import { createSpinner } from "../../output/terminal/spinner.ts";
import { withConnection } from "../connect.ts";
import { checkFiles, steadyBytes, type LocalFile } from "./local.ts";
import {
  rejectedError,
  uploadFiles,
  type UploadWork,
  isLost,
  lostError,
  waitForFiles,
} from "./upload.ts";

export interface FilesListOptions extends GlobalFlags {
  limit?: number;
}

/** Columns of `files list` and `files upload`. Pass `file_id` to --file-id. */
export const fileColumns: readonly Column<UserFile>[] = [
  { name: "file_id" },
  { name: "name" },
  { name: "type", value: "chat_file_type" },
  { name: "status" },
  { name: "created", value: "created_at", show: relativeTime },
  { name: "id", shown: false },
  { name: "mime", value: "file_type", shown: false },
  { name: "project", value: "project_id", align: "right", shown: false },
  { name: "tokens", value: "token_count", align: "right", shown: false },
];

/** `files list`: lists the caller's files for chats. */
export async function filesList(
  context: Context,
  _args: string[],
  options: FilesListOptions,
): Promise<void> {
  await listResource(context, options, { name: "files", columns: fileColumns, list: listFiles });
}

export interface FilesUploadOptions extends GlobalFlags {
  project?: number;
  /** Upload images for documents instead of files for chats. */
  image?: boolean;
  /** False for `--no-wait`. */
  wait?: boolean;
}

interface UploadedImage {
  image_file_id: string;
  name: string;
}

const imageColumns: Column<UploadedImage>[] = [{ name: "image_file_id" }, { name: "name" }];

/**
 * The members of an uploaded file (observed-service.md 5). An unknown member in --fields is
 * refused before anything is uploaded.
 */
const sampleFile: UserFile = {
  id: "",
  temp_id: null,
  name: "",
  project_id: null,
  user_id: null,
  file_id: "",
  created_at: "",
  status: "",
  last_accessed_at: null,
  file_type: "",
  chat_file_type: "",
  token_count: null,
  chunk_count: null,
};

async function* uploadedImages(
  { client, output }: UploadWork,
  files: readonly LocalFile[],
): AsyncGenerator<UploadedImage> {
  const spinner = createSpinner(output);
  try {
    for (const file of files) {
      const { name, type, sizeBytes } = file;
      spinner.start(`uploading ${name}`);
      const bytes = (): AsyncIterable<Uint8Array> => steadyBytes(file, () => {});
      const id = await uploadImage(client, { name, type, sizeBytes, bytes });
      await spinner.stop();
      yield { image_file_id: id, name };
    }
  } finally {
    await spinner.stop();
  }
}

/** A partly failed upload exits with `partial`; without any success, with the failure itself. */
function failureOf(error: CliError, done: number): CliError {
  if (done === 0) return error;
  return new CliError("partial", error.message, {
    details: error.details,
    hints: error.hints,
    cause: error,
  });
}

async function uploadForChats(
  work: UploadWork,
  files: readonly LocalFile[],
  options: FilesUploadOptions,
): Promise<void> {
  const { output } = work;
  const project = options.project === undefined ? {} : { projectId: options.project };
  const uploaded = await uploadFiles(work, files, project);
  let ready: UserFile[] = uploaded.accepted;
  let failure: CliError | undefined;
  try {
    if (options.wait !== false) ready = await waitForFiles(work, uploaded.accepted);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    failure = error;
  }
  // The ids are the command's result, so they are written even if other files failed.
  await writeList(output, options, fileColumns, ready);
  const lost = ready.filter(isLost);
  if (uploaded.rejected.length > 0) {
    throw failureOf(rejectedError({ ...uploaded, accepted: [] }), ready.length - lost.length);
  }
  if (failure !== undefined) throw failure;
  if (lost.length > 0) throw failureOf(lostError(lost), ready.length - lost.length);
}

/**
 * `files upload PATH...`: uploads files for chats, waits until they are processed, and
 * prints their ids. With --image it uploads images for documents. Throws CliError
 * `partial` if the service accepted only some of the files.
 */
export async function filesUpload(
  context: Context,
  args: string[],
  options: FilesUploadOptions,
): Promise<void> {
  if (options.image === true) checkSelection(options, imageColumns);
  else checkSelection(options, fileColumns, sampleFile);
  if (options.image === true && options.project !== undefined) {
    throw new CliError("usage", "--image and --project exclude each other", {
      hints: ["images for documents belong to no project: leave out --project"],
    });
  }
  const files = checkFiles(context.cwd, args, "files upload");
  const other = options.image === true && files.find(({ type }) => !type.startsWith("image/"));
  if (other) {
    throw new CliError("usage", `--image: ${other.name} is not an image (${other.type})`, {
      hints: ["leave out --image to upload a file for questions"],
    });
  }
  await withConnection(context, options, async ({ client, output }) => {
    const work = { context, client, output, timeoutSeconds: options.timeout };
    if (options.image === true) {
      await writeList(output, options, imageColumns, uploadedImages(work, files));
    } else await uploadForChats(work, files, options);
  });
}
