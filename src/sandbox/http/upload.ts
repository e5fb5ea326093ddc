import type { Call } from "./call.ts";
import { refuseBody } from "./validation.ts";

export interface UploadedPart {
  name: string;
  mime: string;
  bytes: Uint8Array;
}

export interface Upload {
  files: UploadedPart[];
  /** The other members of the form. */
  fields: Record<string, string>;
}

const missing = () =>
  refuseBody([{ type: "missing", loc: ["body", "files"], msg: "Field required", input: null }]);

/** Reads a multipart form. Throws a Refusal (422) if the body is no form or has no file. */
export async function readUpload(call: Call): Promise<Upload> {
  const contentType = call.headers["content-type"] ?? "";
  if (!/^multipart\/form-data\s*;/i.test(contentType)) throw missing();
  let form;
  try {
    const headers = { "content-type": contentType };
    form = await new Response(new Uint8Array(call.body), { headers }).formData();
  } catch {
    throw missing();
  }
  const upload: Upload = { files: [], fields: {} };
  for (const [name, value] of form) {
    if (typeof value === "string") upload.fields[name] = value;
    else if (name === "files" || name === "file") {
      const bytes = new Uint8Array(await value.arrayBuffer());
      upload.files.push({
        name: value.name,
        mime: value.type || "application/octet-stream",
        bytes,
      });
    }
  }
  if (upload.files.length === 0) throw missing();
  return upload;
}
