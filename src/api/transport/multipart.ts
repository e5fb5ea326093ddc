import { CliError, codeOf, fileProblem } from "../../errors.ts";
import type { Client } from "../client.ts";

/** A file to upload. `bytes` is called once per attempt. */
export interface UploadFile {
  /** Name that the service shows; the caller reduces a path to its last part. */
  name: string;
  /** MIME type, by which the service decides the kind of file (observed-service.md 5). */
  type: string;
  sizeBytes: number;
  bytes(): AsyncIterable<Uint8Array>;
}

interface Multipart {
  contentType: string;
  contentLength: number;
  body: () => AsyncIterable<Uint8Array>;
}

// Escapes characters that would end the quoted name, as browsers do (HTML, multipart/form-data encoding).
function quoted(text: string): string {
  return text.replace(/[\r\n"]/g, (mark) => encodeURIComponent(mark));
}

function partHead(boundary: string, field: string, file: UploadFile | undefined): string {
  const disposition = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(field)}"`;
  if (!file) return `${disposition}\r\n\r\n`;
  const type = /^[\w.+-]+\/[\w.+-]+(?:; ?[\w.+-]+=[\w.+-]+)*$/.test(file.type)
    ? file.type
    : "application/octet-stream";
  return `${disposition}; filename="${quoted(file.name)}"\r\nContent-Type: ${type}\r\n\r\n`;
}

/** The file's bytes, exactly as many as announced. Throws CliError `local`. */
export async function* exactBytes(file: UploadFile): AsyncGenerator<Uint8Array> {
  let left = file.sizeBytes;
  try {
    for await (const chunk of file.bytes()) {
      left -= chunk.length;
      if (left < 0) break;
      yield chunk;
    }
  } catch (error) {
    // The file's own error already explains the problem.
    if (error instanceof CliError) throw error;
    throw new CliError("local", `cannot read ${file.name}: ${fileProblem(codeOf(error))}`, {
      hints: ["check the file, then run the command again"],
      cause: error,
    });
  }
  if (left === 0) return;
  throw new CliError("local", `${file.name} changed while it was uploaded`, {
    hints: ["run the command again"],
  });
}

/**
 * Creates a multipart/form-data body with plain fields, then the files under one field name.
 * Files are read only while the body is sent. The body throws CliError `local` if a file
 * cannot be read, or has more or fewer bytes than the announced length.
 */
export function createMultipart(
  field: string,
  files: readonly UploadFile[],
  fields: Readonly<Record<string, string>> = {},
): Multipart {
  const boundary = `knowctl-${crypto.randomUUID()}`;
  const texts = Object.entries(fields).map(([name, value]) =>
    Buffer.from(`${partHead(boundary, name, undefined)}${value}\r\n`),
  );
  const heads = files.map((file) => Buffer.from(partHead(boundary, field, file)));
  const lineEnd = Buffer.from("\r\n");
  const tail = Buffer.from(`--${boundary}--\r\n`);
  const fixed = [...texts, ...heads, tail].reduce((sum, part) => sum + part.length, 0);
  const sizes = files.reduce((sum, file) => sum + file.sizeBytes + lineEnd.length, 0);
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    contentLength: fixed + sizes,
    async *body() {
      yield* texts;
      for (const [index, file] of files.entries()) {
        yield heads[index] ?? lineEnd;
        yield* exactBytes(file);
        yield lineEnd;
      }
      yield tail;
    },
  };
}

/**
 * The URL of a file that a tool made, for display. `path` is a URL, a path of the service
 * with or without `/api`, or the file's id.
 */
export function urlOfFile(client: Client, path: string): string {
  if (/^https?:\/\//i.test(path)) return path;
  if (!path.startsWith("/")) {
    // encodeURIComponent throws for a lone surrogate.
    return client.url(client.dialect.paths.madeFile(path.toWellFormed()));
  }
  return client.url(path.startsWith("/api/") ? path : `/api${path}`);
}
