import * as z from "zod/mini";
import { ApiError } from "../errors.ts";
import { callTo, type Call } from "./call.ts";
import type { Client } from "./client.ts";
import type { Gate } from "./retry/gate.ts";
import { createMultipart, type UploadFile } from "./transport/multipart.ts";
import { FileUpload, UserFile } from "./schemas.ts";
import { shorten } from "./answers/words.ts";

export type { UploadFile } from "./transport/multipart.ts";

async function uploadTo<T>(
  client: Client,
  what: string,
  path: string,
  form: { files: readonly UploadFile[]; fields?: Record<string, string> },
  schema: z.ZodMiniType<T>,
  more: Partial<Pick<Call, "policy" | "gate" | "onFailure">> = {},
): Promise<T> {
  const { body, contentType, contentLength } = createMultipart("files", form.files, form.fields);
  const call = { ...callTo(what, "POST", path), body, contentType, contentLength };
  return client.call({ ...call, policy: "upload", ...more }, schema);
}

/** The service's reasons for rejecting a file despite status 200. */
function rejectionOf(upload: FileUpload): string {
  const reasons = (upload.rejected_files ?? []).map(({ reason }) =>
    shorten(reason?.trim() || "no reason given", 300),
  );
  return reasons.join("; ") || "the service accepted no file and gave no reason";
}

function rejectedError(client: Client, path: string, name: string, upload: FileUpload): ApiError {
  const url = client.url(path);
  const why = rejectionOf(upload);
  return new ApiError("server-error", `upload ${name}: POST ${url}: rejected: ${why}`, {
    method: "POST",
    url,
    status: 200,
    hints: ["check the file's type and size, or upload it on the web page"],
  });
}

/**
 * Uploads one file for use in chats. The `file_id`, `chat_file_type`, `name` and `id` of an
 * accepted file make a file descriptor. For a file that the service rejects with status 200,
 * returns the reason. Throws ApiError.
 */
export async function uploadChatFile(
  client: Client,
  file: UploadFile,
  options: { projectId?: number } = {},
): Promise<{ taken: UserFile } | { reason: string }> {
  const path = client.dialect.paths.chatFileUpload;
  const fields: Record<string, string> =
    options.projectId === undefined ? {} : { project_id: String(options.projectId) };
  const form = { files: [file], fields };
  const upload = await uploadTo(client, `upload ${file.name}`, path, form, FileUpload);
  const [taken] = upload.user_files;
  return taken ? { taken } : { reason: rejectionOf(upload) };
}

const FileList = z.union([
  z.array(UserFile),
  z.pipe(
    z.looseObject({ user_files: z.array(UserFile) }),
    z.transform((answer) => answer.user_files),
  ),
]);

/** The caller's files for chats. Throws ApiError. */
export async function listFiles(client: Client): Promise<UserFile[]> {
  return client.call(callTo("list files", "GET", client.dialect.paths.chatFiles), FileList);
}

/** States from the listing; a file missing there gets the status `absent`. */
async function listedStates(
  client: Client,
  files: readonly UserFile[],
  absent: string | null,
): Promise<UserFile[]> {
  const listed = new Map((await listFiles(client)).map((file) => [file.id, file]));
  return files.map((file) => listed.get(file.id) ?? { ...file, status: absent });
}

/**
 * The current states of files, for polling: one request per file, or the listing where the
 * dialect has no such endpoint. A file that is found in neither is DELETING. Where there is
 * only the listing, a file missing there has no status. Throws ApiError.
 */
export async function findFileStates(
  client: Client,
  files: readonly UserFile[],
): Promise<UserFile[]> {
  const { chatFile } = client.dialect.paths;
  if (chatFile === undefined) return await listedStates(client, files, null);
  const states: UserFile[] = [];
  for (const file of files) {
    const call = callTo("read the file status", "GET", chatFile(file.id));
    try {
      states.push(await client.call(call, UserFile));
    } catch (error) {
      if (!(error instanceof ApiError) || error.exit !== "not-found") throw error;
      // No such file, or a service without this endpoint.
      states.push(...(await listedStates(client, [file], "DELETING")));
    }
  }
  return states;
}

const StoredFile = z.looseObject({
  file_id: z.optional(z.nullable(z.string())),
  id: z.optional(z.nullable(z.union([z.string(), z.int()]))),
});

/** All forms of the response to an image upload (observed-service.md 5). */
const ImageUpload = z.union([
  z.array(StoredFile),
  z.looseObject({ file_paths: z.array(z.string()) }),
  z.looseObject({
    user_files: z.array(StoredFile),
    rejected_files: FileUpload.shape.rejected_files,
  }),
  z.looseObject({ file_id: z.string() }),
  z.looseObject({ id: z.string() }),
]);

function imageIdOf(upload: z.infer<typeof ImageUpload>): string | undefined {
  if (!Array.isArray(upload)) {
    if ("file_paths" in upload && Array.isArray(upload.file_paths)) return upload.file_paths[0];
    if ("user_files" in upload && Array.isArray(upload.user_files))
      return imageIdOf(upload.user_files);
  }
  const stored = StoredFile.safeParse(Array.isArray(upload) ? upload[0] : upload);
  if (!stored.success) return undefined;
  const id = stored.data.file_id ?? stored.data.id;
  return id === null || id === undefined || id === "" ? undefined : String(id);
}

export interface ImageUploadOptions {
  gate?: Gate | undefined;
  /**
   * The caller caches ids by content and never uploads the same content again. Then an
   * upload whose response was lost is retried, up to 3 attempts.
   */
  isRemembered?: boolean;
  /** Called for each attempt that may have left a file of unknown id in the service. */
  onOrphan?(): void;
}

/**
 * Uploads an image and returns its `image_file_id`. Each upload creates a new id: without
 * `isRemembered` it is retried only if nothing was sent for sure. Throws ApiError, or the
 * gate's reason if the run was stopped.
 */
export async function uploadImage(
  client: Client,
  file: UploadFile,
  { gate, isRemembered = false, onOrphan }: ImageUploadOptions = {},
): Promise<string> {
  const path = client.dialect.paths.imageUpload;
  const upload = await uploadTo(
    client,
    `upload ${file.name}`,
    path,
    { files: [file] },
    ImageUpload,
    {
      policy: isRemembered ? "rememberedUpload" : "upload",
      gate,
      onFailure: (kind) => {
        if (kind === "connection" || kind === "timeout" || kind === "shape") onOrphan?.();
      },
    },
  );
  const id = imageIdOf(upload);
  if (id !== undefined) return id;
  const rejected = FileUpload.safeParse(upload);
  const none = { user_files: [] };
  throw rejectedError(client, path, file.name, rejected.success ? rejected.data : none);
}
