import { isAscii, isUtf8 } from "node:buffer";
import { invalidUtf8At, refuse } from "./decode.ts";
import { recodeStream, unpackStream } from "./unpack-stream.ts";

const nulProblem = "a NUL byte (a binary file?)";
const utf8Problem = "not valid UTF-8";

/** Number of bytes at the end that begin a UTF-8 character without completing it. */
function incompleteBytes(bytes: Buffer): number {
  for (let length = 1; length <= Math.min(3, bytes.length); length++) {
    const byte = bytes[bytes.length - length] ?? 0;
    if (byte < 0x80) return 0;
    if (byte < 0xc0) continue;
    const expected = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return expected > length ? length : 0;
  }
  return 0;
}

/** The first byte that is not text, and why; undefined if all bytes are text. */
function faultIn(bytes: Buffer): { at: number; why: string } | undefined {
  const nul = bytes.indexOf(0);
  const invalid = isUtf8(bytes) ? -1 : invalidUtf8At(bytes);
  if (nul !== -1 && (invalid === -1 || nul < invalid)) return { at: nul, why: nulProblem };
  return invalid === -1 ? undefined : { at: invalid, why: utf8Problem };
}

function decode(bytes: Buffer): string {
  return isAscii(bytes) ? bytes.toString("latin1") : bytes.toString("utf8");
}

/**
 * Yields the text of a stream in pieces, decoded as by decodeFile(); unpacks gzip. Throws CliError
 * `usage` with the byte offset for bytes that are no text, after the text before them.
 */
export async function* decodeStream(
  chunks: AsyncIterable<Uint8Array>,
  path: string,
): AsyncGenerator<string, void> {
  let incomplete = Buffer.alloc(0);
  let at = 0;
  // CR and LF may be in two chunks: a CR at the end waits for the next chunk.
  let heldCr = "";
  for await (const chunk of recodeStream(unpackStream(chunks, path), path)) {
    const view = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const bytes = incomplete.length === 0 ? view : Buffer.concat([incomplete, view]);
    const whole = bytes.length - incompleteBytes(bytes);
    const fault = faultIn(bytes.subarray(0, whole));
    const end = fault ? fault.at : whole;
    let text = heldCr + decode(bytes.subarray(0, end));
    incomplete = Buffer.from(bytes.subarray(end));
    at += end;
    heldCr = text.endsWith("\r") ? "\r" : "";
    if (heldCr !== "") text = text.slice(0, -1);
    yield text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
    if (fault) refuse(path, at, fault.why);
  }
  if (incomplete.length > 0) refuse(path, at, utf8Problem);
  if (heldCr !== "") yield "\n";
}
