import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { CliError, codeOf } from "../../errors.ts";

const reasons: Readonly<Record<string, string>> = {
  Z_BUF_ERROR: "gzip data that ends too early",
  Z_DATA_ERROR: "damaged gzip data",
  EISDIR: "it is a folder",
};

async function* chain(
  head: Buffer,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
  if (head.length > 0) yield head;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

/** The first bytes of a stream, two at least unless it ends before, and the stream with them. */
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

/** The first two bytes tell (RFC 1952): no text begins with them, nor does NDJSON. */
async function* unpacked(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const { head, all } = await peek(chunks);
  if (head[0] !== 0x1f || head[1] !== 0x8b) return yield* all;
  const gunzip = createGunzip();
  // Its error comes out of the iteration below.
  pipeline(all, gunzip, () => {});
  for await (const chunk of gunzip) yield chunk as Uint8Array;
}

/**
 * The bytes of a stream, unpacked when they are gzip, a piece at a time. Throws
 * CliError `usage` naming the stream `name` when it cannot be read to its end.
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
    throw new CliError("usage", `${name}: cannot be read to its end: ${reasons[code] ?? code}`, {
      cause: error,
    });
  }
}

/**
 * The bytes of a text as UTF-8: those of a text that begins with the byte order mark of UTF-16 are
 * recoded, a piece at a time, all others left as they are. Throws CliError `usage`
 * naming the stream `name` for what is no UTF-16 after all.
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
    throw new CliError("usage", `${name}: begins as UTF-16 and goes on as something else`, {
      hints: ["write it as UTF-8"],
      cause: error,
    });
  }
}
