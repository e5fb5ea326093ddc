import { gunzipSync, createGunzip } from "node:zlib";
import { CliError, codeOf, fileProblem } from "../../../errors.ts";
import { pipeline } from "node:stream";

/** For messages: `1.5 MiB`. Rounded up: one byte above a limit must not look like the limit. */
export const mebibytes = (count: number): string =>
  `${(Math.ceil((count / 1024 / 1024) * 10) / 10).toFixed(1)} MiB`;

function reasonOf(error: unknown, maxBytes: number): string {
  const reasons: Record<string, string> = {
    ERR_BUFFER_TOO_LARGE: `unpacked, it is larger than the limit of ${mebibytes(maxBytes)} per file`,
    Z_BUF_ERROR: "the gzip data ends too early",
    Z_DATA_ERROR: "not gzip, or damaged",
  };
  return reasons[codeOf(error) ?? ""] ?? "the gzip data cannot be unpacked";
}

/** Whether gunzip() failed because of its limit. */
export function isOverLimit(error: unknown): boolean {
  return error instanceof CliError && codeOf(error.cause) === "ERR_BUFFER_TOO_LARGE";
}

/**
 * Unpacks gzip (RFC 1952) of one or several members to at most `maxBytes`, and never keeps more in
 * memory. Throws CliError `usage` with `path`.
 */
export function gunzip(bytes: Uint8Array, path: string, maxBytes: number): Buffer {
  // For empty input, only some versions of zlib report "unexpected end of file".
  if (bytes.length === 0) {
    throw new CliError("usage", `${path}: not gzip: it is empty`, {
      hints: ["pack it again, or exclude it"],
    });
  }
  try {
    return gunzipSync(bytes, { maxOutputLength: Math.max(1, maxBytes) });
  } catch (error) {
    const hints = ["check it with `gzip -t`, or exclude it"];
    throw new CliError("usage", `${path}: ${reasonOf(error, maxBytes)}`, { hints, cause: error });
  }
}

const reasons: Readonly<Record<string, string>> = {
  Z_BUF_ERROR: "the gzip data ends too early",
  Z_DATA_ERROR: "the gzip data is damaged",
};

async function* chain(
  head: Buffer,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
  if (head.length > 0) yield head;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

/** Reads the first bytes of a stream, at least two if it has them. `all` also contains them. */
async function peek(
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ head: Buffer; all: AsyncGenerator<Uint8Array, void> }> {
  const source = chunks[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  while (head.length < 2) {
    const next = await source.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  return { head, all: chain(head, source) };
}

/** Detects gzip by its first two bytes (RFC 1952): neither text nor NDJSON begins with them. */
async function* unpacked(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const { head, all } = await peek(chunks);
  if (head[0] !== 0x1f || head[1] !== 0x8b) return yield* all;
  const gunzip = createGunzip();
  // The iteration below throws its error.
  pipeline(all, gunzip, () => {});
  for await (const chunk of gunzip) yield chunk as Uint8Array;
}

/**
 * Yields the bytes of a stream piece by piece. Unpacks gzip. Throws CliError `usage` with the name
 * `name` when the stream cannot be read completely.
 */
export async function* unpackStream(
  chunks: AsyncIterable<Uint8Array>,
  name: string,
): AsyncGenerator<Uint8Array, void> {
  try {
    yield* unpacked(chunks);
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined) throw error;
    throw new CliError(
      "usage",
      `${name}: cannot be read completely: ${reasons[code] ?? fileProblem(code)}`,
      {
        cause: error,
      },
    );
  }
}

/**
 * Yields the bytes of a text as UTF-8, piece by piece. Recodes a text that begins with the byte
 * order mark of UTF-16; passes on any other text unchanged. Throws CliError `usage` with the name
 * `name` for invalid UTF-16.
 */
export async function* recodeStream(
  chunks: AsyncIterable<Uint8Array>,
  name: string,
): AsyncGenerator<Uint8Array, void> {
  const { head, all } = await peek(chunks);
  const mark = head.toString("hex", 0, 2);
  if (mark !== "fffe" && mark !== "feff") return yield* all;
  const decoder = new TextDecoder(mark === "fffe" ? "utf-16le" : "utf-16be", { fatal: true });
  try {
    for await (const chunk of all) yield Buffer.from(decoder.decode(chunk, { stream: true }));
    decoder.decode();
  } catch (error) {
    if (codeOf(error) !== "ERR_ENCODING_INVALID_ENCODED_DATA") throw error;
    throw new CliError("usage", `${name}: begins as UTF-16, but is not valid UTF-16`, {
      hints: ["write it as UTF-8"],
      cause: error,
    });
  }
}
