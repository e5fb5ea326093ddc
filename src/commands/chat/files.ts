import { createReadStream, statSync } from "node:fs";
import { basename, extname, resolve } from "node:path";
import type { Client } from "../../api/client.ts";
import { listFiles, uploadChatFile } from "../../api/files.ts";
import type { FileDescriptor, UserFile } from "../../api/schemas.ts";
import { CliError, codeOf } from "../../errors.ts";

/** A file of `--file`, looked at but not read. */
export interface LocalFile {
  path: string;
  name: string;
  sizeBytes: number;
}

/** MIME types by extension. The service decides by them what kind of file it has (observed-service.md 5). */
const types: Readonly<Record<string, string>> = {
  ".csv": "text/csv",
  ".doc": "application/msword",
  ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  ".eml": "message/rfc822",
  ".epub": "application/epub+zip",
  ".gif": "image/gif",
  ".htm": "text/html",
  ".html": "text/html",
  ".jpeg": "image/jpeg",
  ".jpg": "image/jpeg",
  ".json": "application/json",
  ".markdown": "text/markdown",
  ".md": "text/markdown",
  ".pdf": "application/pdf",
  ".png": "image/png",
  ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  ".tsv": "text/tab-separated-values",
  ".webp": "image/webp",
  ".xls": "application/vnd.ms-excel",
  ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  ".xml": "application/xml",
  ".yaml": "application/yaml",
  ".yml": "application/yaml",
};

function typeOf(name: string): string {
  return types[extname(name).toLowerCase()] ?? "text/plain";
}

/** Looks at the files of `--file` before anything is sent. Throws CliError `usage`. */
export function checkFiles(cwd: string, paths: readonly string[]): LocalFile[] {
  return paths.map((given) => {
    const path = resolve(cwd, given);
    let reason: string;
    try {
      const stats = statSync(path);
      if (stats.isFile()) return { path, name: basename(path), sizeBytes: stats.size };
      reason = "it is not a regular file";
    } catch (error) {
      reason = codeOf(error) === "ENOENT" ? "it does not exist" : (codeOf(error) ?? "failed");
    }
    throw new CliError("usage", `--file: cannot read ${given}: ${reason}`);
  });
}

function descriptorOf(file: UserFile): FileDescriptor {
  return {
    id: file.file_id,
    type: file.chat_file_type ?? "document",
    ...(file.name ? { name: file.name } : {}),
    // Without it the service takes the file for one of a project (observed-service.md 1.4).
    user_file_id: file.id,
  };
}

async function findFiles(client: Client, ids: readonly string[]): Promise<FileDescriptor[]> {
  if (ids.length === 0) return [];
  const known = await listFiles(client);
  return ids.map((id) => {
    const file = known.find((each) => each.file_id === id || each.id === id);
    if (file) return descriptorOf(file);
    throw new CliError("not-found", `--file-id: the service lists no file ${id}`, {
      hints: ["upload it with --file PATH"],
    });
  });
}

/**
 * Uploads files and finds those uploaded before; the descriptors for a question.
 * Throws ApiError, also for a file that the service rejects, and CliError
 * `not-found` for an unknown id.
 */
export async function describeFiles(
  client: Client,
  files: readonly LocalFile[],
  ids: readonly string[],
): Promise<FileDescriptor[]> {
  const found = await findFiles(client, ids);
  const uploaded: FileDescriptor[] = [];
  for (const { path, name, sizeBytes } of files) {
    const bytes = (): AsyncIterable<Uint8Array> => createReadStream(path);
    uploaded.push(
      descriptorOf(await uploadChatFile(client, { name, type: typeOf(name), sizeBytes, bytes })),
    );
  }
  return [...found, ...uploaded];
}
