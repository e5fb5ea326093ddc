import * as z from "zod/mini";
import type { App, Call } from "../http/call.ts";
import { bodyOf, detail, invalidRequest, laxUuid, pathUuid, problem } from "../http/validation.ts";
import type { Service } from "../service.ts";
import { type Files, kindOf, maxFileBytes, type StoredFile } from "../store/files.ts";
import { naiveTime, zuluTime } from "../store/documents.ts";

/** The service's UserFile: observed-service.md 5. */
function toUserFile(file: StoredFile, status: string, timeOf = zuluTime) {
  return {
    id: file.id,
    temp_id: null,
    name: file.name,
    project_id: file.projectId,
    user_id: null,
    file_id: file.fileId,
    created_at: timeOf(file.createdAt),
    status,
    last_accessed_at: null,
    file_type: file.mime,
    chat_file_type: file.kind,
    token_count: null,
    chunk_count: null,
  };
}

interface UploadedPart {
  name: string;
  mime: string;
  bytes: Uint8Array;
}

/** Reads a multipart form. Throws a refusal (422) if the body is no form or has no file. */
async function readUpload(c: Call): Promise<{ parts: UploadedPart[]; projectId: number | null }> {
  const headers = { "content-type": c.env.incoming.headers["content-type"] ?? "" };
  const form = await new Response(new Uint8Array(c.env.body), { headers })
    .formData()
    .catch(() => new FormData());
  const files = [...form.getAll("files"), ...form.getAll("file")].filter(
    (value) => typeof value !== "string",
  );
  if (files.length === 0) {
    throw invalidRequest("body", [{ code: "missing", path: ["files"], message: "Field required" }]);
  }
  const project = form.get("project_id");
  return {
    projectId: project ? Number(project) : null,
    parts: await Promise.all(
      files.map(async (file) => ({
        name: file.name,
        mime: file.type || "application/octet-stream",
        bytes: new Uint8Array(await file.arrayBuffer()),
      })),
    ),
  };
}

/** Why a file is rejected, as a message for its sender. */
function rejectionOf({ mime, bytes }: UploadedPart): string | undefined {
  if (bytes.length === 0) return "File is empty";
  if (bytes.length > maxFileBytes) return `File is larger than ${maxFileBytes / 1024 / 1024} MB`;
  const isText = kindOf(mime) === "plain_text";
  return isText && bytes.subarray(0, 4_096).includes(0)
    ? "No text could be read from the file"
    : undefined;
}

async function uploadForChat(files: Files, c: Call): Promise<Response> {
  const { parts, projectId } = await readUpload(c);
  const rejected: { file_name: string; reason: string }[] = [];
  const accepted = parts.flatMap((part) => {
    const reason = rejectionOf(part);
    if (reason === undefined) {
      return [toUserFile(files.add({ ...part, projectId, listed: true }), "PROCESSING")];
    }
    rejected.push({ file_name: part.name, reason });
    return [];
  });
  // Status 200 even if no file was accepted: observed-service.md 5.
  return c.json({ user_files: accepted, rejected_files: rejected });
}

function addUnlisted(files: Files, parts: readonly UploadedPart[]): StoredFile[] {
  return parts.map((part) => files.add({ ...part, projectId: null, listed: false }));
}

async function uploadImages(files: Files, c: Call): Promise<Response> {
  const { parts } = await readUpload(c);
  for (const part of parts) {
    if (kindOf(part.mime) !== "image") {
      throw detail(400, `${part.name} is not an image (${part.mime})`);
    }
    const reason = rejectionOf(part);
    if (reason !== undefined) throw detail(400, `${part.name}: ${reason}`);
  }
  return c.json(addUnlisted(files, parts).map((file) => toUserFile(file, "COMPLETED")));
}

async function uploadForConnector(files: Files, c: Call): Promise<Response> {
  const stored = addUnlisted(files, (await readUpload(c)).parts);
  return c.json({
    file_paths: stored.map((file) => file.fileId),
    file_names: stored.map((file) => file.name),
    zip_metadata_file_id: null,
  });
}

function content(files: Files, c: Call): Response {
  const file = files.read(c.req.param("id") ?? "");
  if (!file) throw detail(404, "File not found");
  return c.body(new Uint8Array(file.bytes), 200, {
    "content-type": file.mime,
    // An uploaded file must not run as a page of this origin.
    "content-disposition": "attachment",
    "content-security-policy": "sandbox",
    "x-content-type-options": "nosniff",
  });
}

const Statuses = z.looseObject({ file_ids: z.array(laxUuid) });

/** Uploads for chats and images for documents: observed-service.md 5. */
export function fileRoutes(app: App, { files, dialect }: Service): void {
  const show = (file: StoredFile, timeOf = zuluTime) =>
    toUserFile(file, files.status(file), timeOf);
  app.post("/api/user/projects/file/upload", (c) => uploadForChat(files, c));
  if (dialect === "standard") {
    app.get("/api/user/projects/file/", (c) => c.json(files.list().map((file) => show(file))));
    app.post("/api/user/file/upload", (c) => uploadImages(files, c));
    return;
  }
  app.post("/api/manage/admin/connector/file/upload", (c) => uploadForConnector(files, c));
  app.get("/api/user/files/recent", (c) =>
    c.json(files.list().map((file) => show(file, naiveTime))),
  );
  app.get("/api/user/projects/file/:id", (c) => {
    const file = files.find(pathUuid(c, "id"));
    if (!file) throw problem(dialect, 404, "NOT_FOUND", "File not found");
    return c.json(show(file));
  });
  app.post("/api/user/projects/file/statuses", (c) => {
    const found = bodyOf(c, Statuses).file_ids.flatMap((id) => files.find(id) ?? []);
    return c.json(found.map((file) => show(file)));
  });
  app.get("/api/chat/file/:id", (c) => content(files, c));
}
