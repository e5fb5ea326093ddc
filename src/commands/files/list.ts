import { listFiles } from "../../api/files.ts";
import type { UserFile } from "../../api/schemas.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import type { Column } from "../../output/formats/formats.ts";
import { relativeTime } from "../../output/terminal/time.ts";
import { listResource } from "../resource.ts";

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
