import { listFiles } from "../../api/files.ts";
import type { UserFile } from "../../api/schemas.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { checkFormat, writeList, type Column } from "../../output/formats/formats.ts";
import { parseFilter, passes } from "../../output/formats/select.ts";
import { relativeTime } from "../../output/terminal/time.ts";
import { connect } from "../connect.ts";

export interface FilesListOptions extends GlobalFlags {
  limit?: number;
}

const hidden = { shown: false } as const;
const right = { align: "right" } as const;

/** Columns of `files list` and `files upload`. Pass `file_id` to --file-id. */
export function fileColumns(now: () => number): Column<UserFile>[] {
  const show = (value: unknown): string => relativeTime(String(value), now());
  return [
    { name: "file_id", value: (row) => row.file_id },
    { name: "name", value: (row) => row.name },
    { name: "type", value: (row) => row.chat_file_type },
    { name: "status", value: (row) => row.status },
    { name: "created", value: (row) => row["created_at"], show },
    { name: "id", value: (row) => row.id, ...hidden },
    { name: "mime", value: (row) => row["file_type"], ...hidden },
    { name: "project", value: (row) => row["project_id"], ...right, ...hidden },
    { name: "tokens", value: (row) => row["token_count"], ...right, ...hidden },
  ];
}

/** `files list`: lists the caller's files for chats. */
export async function filesList(
  context: Context,
  _args: string[],
  options: FilesListOptions,
): Promise<void> {
  checkFormat(options);
  const { client, output } = await connect(context, options);
  try {
    const columns = fileColumns(() => context.now());
    const filters = (options.filter ?? []).map(parseFilter);
    const files = await listFiles(client);
    const { limit } = options;
    const rows =
      limit === undefined
        ? files
        : files.filter((file) => passes(file, filters, columns)).slice(0, limit);
    const count = await writeList(output, options, columns, rows);
    if (count === 0) await output.note(files.length > 0 ? "no files match" : "there are no files");
  } finally {
    await client.close();
  }
}
