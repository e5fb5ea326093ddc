import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import type { Call } from "../../api/client.ts";
import { exactBytes } from "../../api/transport/multipart.ts";
import type { Context } from "../../context.ts";
import { CliError, codeOf, fileProblem } from "../../errors.ts";

type BodyParts = Pick<Call, "body" | "contentType" | "contentLength" | "attempts">;

/** A file up to this size is read once; a retry sends the same bytes. */
const bufferedBytes = 1024 * 1024;
/** Largest field value from a file or stdin. */
const maxFieldBytes = 64 * 1024 * 1024;

function unreadable(flag: string, path: string, error: unknown): CliError {
  return new CliError("usage", `${flag}: cannot read ${path}: ${fileProblem(codeOf(error))}`, {
    cause: error,
    hints: ["check the path; - stands for stdin"],
  });
}

function checkPiped({ stdin }: Context, flag: string): void {
  if (!stdin.isTTY) return;
  throw new CliError("usage", `${flag}: stdin is a terminal; nothing is piped in`, {
    hints: ["for example `knowctl api POST PATH --input - < body.json`"],
  });
}

async function* stdinChunks({ stdin, signal }: Context): AsyncGenerator<Uint8Array> {
  const { stream } = stdin;
  const stop = (): void => void stream.destroy();
  signal.addEventListener("abort", stop, { once: true });
  try {
    yield* stdin;
  } catch (error) {
    signal.throwIfAborted();
    throw new CliError("local", "cannot read stdin", { cause: error });
  } finally {
    signal.removeEventListener("abort", stop);
    // The service may respond before the whole body is sent; then nothing more is read.
    stream.destroy();
  }
}

/**
 * The body of --input: a file, or stdin with `-`, sent while it is read. Only a body
 * that can be read twice is retried. Throws CliError `usage` for a file that cannot
 * be read; while sending, `local` for a file that changes.
 */
export async function inputBody(context: Context, input: string): Promise<BodyParts> {
  const contentType = "application/json";
  if (input === "-") {
    checkPiped(context, "--input -");
    return { contentType, attempts: 1, body: () => stdinChunks(context) };
  }
  const path = resolve(context.cwd, input);
  try {
    const info = await stat(path);
    if (info.isFile() && info.size <= bufferedBytes)
      return { contentType, body: await readFile(path) };
    if (info.isDirectory()) throw Object.assign(new Error("a folder"), { code: "EISDIR" });
    if (!info.isFile()) return { contentType, attempts: 1, body: () => createReadStream(path) };
    const bytes = () => createReadStream(path);
    const file = { name: basename(path), type: contentType, sizeBytes: info.size, bytes };
    return { contentType, contentLength: info.size, body: () => exactBytes(file) };
  } catch (error) {
    throw unreadable("--input", input, error);
  }
}

async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    all.push(chunk);
    if ((size += chunk.length) > maxFieldBytes) break;
  }
  return Buffer.concat(all);
}

/** The text of a file, or of stdin with `-`, for a field. Throws CliError `usage`. */
export async function fieldText(context: Context, name: string, file: string): Promise<string> {
  const flag = `--field ${name}`;
  if (file === "-") checkPiped(context, flag);
  let bytes: Buffer;
  try {
    const path = resolve(context.cwd, file);
    bytes = await readAll(file === "-" ? stdinChunks(context) : createReadStream(path));
  } catch (error) {
    context.signal.throwIfAborted();
    throw unreadable(flag, file, error);
  }
  if (bytes.length > maxFieldBytes) {
    throw new CliError("usage", `${flag}: ${file} is larger than ${maxFieldBytes} bytes`, {
      hints: ["send the whole body with --input, which has no limit"],
    });
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new CliError("usage", `${flag}: ${file} is not UTF-8`, {
      cause: error,
      hints: ["a field must be text; `knowctl files upload` sends files of any kind"],
    });
  }
}
