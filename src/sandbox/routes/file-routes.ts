import * as z from "zod/mini";
import type { Call } from "../http/call.ts";
import { type Files, kindOf, maxFileBytes, toUserFile } from "../store/files.ts";
import { pathUuid } from "../http/query.ts";
import { naiveTime } from "../store/identity.ts";
import { detail, type DialectName, json, problem, Refusal, type Reply } from "../http/reply.ts";
import { onyxGet, type Route } from "../http/routes.ts";
import { readUpload, type UploadedPart } from "../http/upload.ts";
import { laxUuid, parseBody } from "../http/validation.ts";

/** Why a file is rejected, as a message for its sender. */
function rejectionOf({ mime, bytes }: UploadedPart): string | undefined {
  if (bytes.length === 0) return "File is empty";
  if (bytes.length > maxFileBytes) return `File is larger than ${maxFileBytes / 1024 / 1024} MB`;
  const kind = kindOf(mime);
  if (kind === "plain_text" && bytes.subarray(0, 4_096).includes(0)) {
    return "No text could be read from the file";
  }
  return undefined;
}

async function uploadForChat(files: Files, call: Call): Promise<Reply> {
  const { files: parts, fields } = await readUpload(call);
  const projectId = fields["project_id"] ? Number(fields["project_id"]) : null;
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
  return json(200, { user_files: accepted, rejected_files: rejected });
}

async function uploadImages(files: Files, call: Call): Promise<Reply> {
  const { files: parts } = await readUpload(call);
  for (const part of parts) {
    if (kindOf(part.mime) !== "image") {
      throw new Refusal(detail(400, `${part.name} is not an image (${part.mime})`));
    }
    const reason = rejectionOf(part);
    if (reason !== undefined) throw new Refusal(detail(400, `${part.name}: ${reason}`));
  }
  const stored = parts.map((part) => files.add({ ...part, projectId: null, listed: false }));
  return json(
    200,
    stored.map((file) => toUserFile(file, "COMPLETED")),
  );
}

async function uploadForConnector(files: Files, call: Call): Promise<Reply> {
  const { files: parts } = await readUpload(call);
  const stored = parts.map((part) => files.add({ ...part, projectId: null, listed: false }));
  return json(200, {
    file_paths: stored.map((file) => file.fileId),
    file_names: stored.map((file) => file.name),
    zip_metadata_file_id: null,
  });
}

function oneFile(files: Files, dialect: DialectName, call: Call): Reply {
  const file = files.find(pathUuid(call, "id"));
  return file
    ? json(200, toUserFile(file, files.status(file)))
    : problem(dialect, 404, "NOT_FOUND", "File not found");
}

const StatusesBody = z.looseObject({ file_ids: z.array(laxUuid) });

function statuses(files: Files, call: Call): Reply {
  const { file_ids } = parseBody(StatusesBody, call.json());
  const found = file_ids.flatMap((id) => files.find(id) ?? []);
  return json(
    200,
    found.map((file) => toUserFile(file, files.status(file))),
  );
}

function content(files: Files, call: Call): Reply {
  const file = files.read(call.parameters["id"]!);
  if (!file) return detail(404, "File not found");
  const headers = {
    "content-type": file.mime,
    // An uploaded file must not run as a page of this origin.
    "content-disposition": "attachment",
    "content-security-policy": "sandbox",
    "x-content-type-options": "nosniff",
  };
  return { status: 200, headers, body: file.bytes };
}

/** Uploads for chats and images for documents: observed-service.md 5. */
export function fileRoutes(files: Files, dialect: DialectName): Route[] {
  const bodyLimit = 2 * maxFileBytes;
  const onyx = { dialect: "onyx" } as const;
  const listing = (timeOf?: typeof naiveTime) => (): Reply =>
    json(
      200,
      files.list().map((file) => toUserFile(file, files.status(file), timeOf)),
    );
  return [
    {
      method: "POST",
      path: "/api/user/projects/file/upload",
      bodyLimit,
      handle: (call) => uploadForChat(files, call),
    },
    { method: "GET", path: "/api/user/projects/file/", dialect: "standard", handle: listing() },
    {
      method: "POST",
      path: "/api/user/file/upload",
      dialect: "standard",
      bodyLimit,
      handle: (call) => uploadImages(files, call),
    },
    {
      ...onyx,
      method: "POST",
      path: "/api/manage/admin/connector/file/upload",
      bodyLimit,
      handle: (call) => uploadForConnector(files, call),
    },
    onyxGet("/api/user/files/recent", listing(naiveTime)),
    onyxGet("/api/user/projects/file/:id", (call) => oneFile(files, dialect, call)),
    onyxGet("/api/chat/file/:id", (call) => content(files, call)),
    {
      ...onyx,
      method: "POST",
      path: "/api/user/projects/file/statuses",
      bodyLimit: 1024 * 1024,
      handle: (call) => statuses(files, call),
    },
  ];
}
