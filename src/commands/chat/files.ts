import type { Client } from "../../api/client.ts";
import { listFiles } from "../../api/files.ts";
import type { FileDescriptor, UserFile } from "../../api/schemas.ts";
import { CliError } from "../../errors.ts";
import type { LocalFile } from "../files/local.ts";
import { rejectedError, uploadFiles, type UploadWork } from "../files/upload.ts";
import { isLost, lostError, waitForFiles } from "../files/wait.ts";

export { checkFiles, type LocalFile } from "../files/local.ts";

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
