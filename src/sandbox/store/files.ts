import { randomUUID } from "node:crypto";
import type { Database, Row } from "../../database.ts";

/** Maximum size of one uploaded file. */
export const maxFileBytes = 25 * 1024 * 1024;

export interface NewFile {
  name: string;
  /** MIME type from the part's header; it alone determines the kind of file. */
  mime: string;
  bytes: Uint8Array;
  projectId: number | null;
  /** Whether the list of chat files contains it. */
  listed: boolean;
}

export interface StoredFile {
  /** UUID of the listing. */
  id: string;
  /** Id in the file store. */
  fileId: string;
  name: string;
  mime: string;
  kind: string;
  projectId: number | null;
  createdAt: number;
}

/** `chat_file_type` by MIME type, independent of the name: observed-service.md 5. */
export function kindOf(mime: string): "image" | "tabular" | "plain_text" | "document" {
  const type = mime.toLowerCase().split(";")[0]!.trim();
  if (type.startsWith("image/")) return "image";
  if (
    type === "text/csv" ||
    type === "text/tab-separated-values" ||
    /spreadsheet|ms-excel/.test(type)
  ) {
    return "tabular";
  }
  if (/^application\/(?:pdf|msword|epub)|officedocument|opendocument|rfc822/.test(type))
    return "document";
  return "plain_text";
}

function toFile(row: Row): StoredFile {
  return {
    id: String(row["id"]),
    fileId: String(row["file_id"]),
    name: String(row["name"]),
    mime: String(row["mime"]),
    kind: String(row["kind"]),
    projectId: row["project_id"] === null ? null : Number(row["project_id"]),
    createdAt: Number(row["created_at"]),
  };
}

const columns = "id, file_id, name, mime, kind, project_id, created_at";

export type Files = ReturnType<typeof createFiles>;

/**
 * Uploaded files and images, stored in the database. The first `polls` of a chat file report
 * PROCESSING: a count, not a time, so that every polling client sees it.
 */
export function createFiles(database: Database, now: () => number, polls = 0) {
  const pollsLeft = new Map<string, number>();
  const findBy = (member: "id" | "file_id") =>
    database.prepare(`SELECT ${columns} FROM files WHERE ${member} = ?`);
  const byId = findBy("id");
  const byFileId = findBy("file_id");
  return {
    add(file: NewFile): StoredFile {
      const stored: StoredFile = {
        id: randomUUID(),
        fileId: randomUUID(),
        name: file.name,
        mime: file.mime,
        kind: kindOf(file.mime),
        projectId: file.projectId,
        createdAt: now(),
      };
      database
        .prepare(
          "INSERT INTO files(file_id, id, name, mime, kind, project_id, in_list, bytes, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )
        .run(
          stored.fileId,
          stored.id,
          stored.name,
          stored.mime,
          stored.kind,
          stored.projectId,
          file.listed ? 1 : 0,
          file.bytes,
          stored.createdAt,
        );
      if (file.listed && polls > 0) pollsLeft.set(stored.id, polls);
      return stored;
    },
    /** The status of a file at this poll: PROCESSING, then COMPLETED or FAILED. */
    status({ id, mime }: StoredFile): "PROCESSING" | "COMPLETED" | "FAILED" {
      const left = pollsLeft.get(id) ?? 0;
      if (left > 1) pollsLeft.set(id, left - 1);
      else pollsLeft.delete(id);
      if (left > 0) return "PROCESSING";
      if (!/^application\/pdf\b/i.test(mime)) return "COMPLETED";
      const start = database.prepare("SELECT substr(bytes, 1, 5) AS start FROM files WHERE id = ?");
      const bytes = start.get(id)?.["start"];
      return bytes && Buffer.from(bytes as Uint8Array).toString("latin1") === "%PDF-"
        ? "COMPLETED"
        : "FAILED";
    },
    find(id: string): StoredFile | undefined {
      const row = byId.get(id);
      return row && toFile(row);
    },
    /** Whether an image with this id was uploaded. */
    hasImage: (fileId: string): boolean => byFileId.get(fileId)?.["kind"] === "image",
    /** A file by its id in the store; `text` only for text files. */
    read(
      fileId: string,
    ): { name: string; mime: string; bytes: Uint8Array; text: string | undefined } | undefined {
      const row = database
        .prepare("SELECT name, mime, kind, bytes FROM files WHERE file_id = ?")
        .get(fileId);
      if (!row) return undefined;
      database.prepare("UPDATE files SET accessed_at = ? WHERE file_id = ?").run(now(), fileId);
      const bytes = row["bytes"] as Uint8Array;
      const readable = row["kind"] === "plain_text" || row["kind"] === "tabular";
      return {
        name: String(row["name"]),
        mime: String(row["mime"]),
        bytes,
        text: readable ? new TextDecoder().decode(bytes) : undefined,
      };
    },
    list(): StoredFile[] {
      return database
        .prepare(
          `SELECT ${columns} FROM files WHERE in_list = 1 ORDER BY created_at DESC, rowid DESC`,
        )
        .all()
        .map(toFile);
    },
  };
}
