import { isAscii, isUtf8 } from "node:buffer";
import { invalidUtf8At, refuse } from "./decode.ts";
import { recodeStream, unpackStream } from "./unpack-stream.ts";

const nulProblem = "a NUL byte (a binary file?)";

/** Length of the start of a UTF-8 character at the end of `bytes`, whose rest may follow. */
function openCharacter(bytes: Buffer): number {
  for (let length = 1; length <= Math.min(3, bytes.length); length++) {
    const byte = bytes[bytes.length - length] ?? 0;
    if (byte < 0x80) return 0;
    if (byte < 0xc0) continue;
    const expected = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return expected > length ? length : 0;
  }
  return 0;
}

/** The first byte that is no text, and why; undefined if all are. */
function faultIn(bytes: Buffer): { at: number; why: string } | undefined {
  const nul = bytes.indexOf(0);
  const invalid = isUtf8(bytes) ? -1 : invalidUtf8At(bytes);
  if (nul !== -1 && (invalid === -1 || nul < invalid)) return { at: nul, why: nulProblem };
  return invalid === -1 ? undefined : { at: invalid, why: "not valid UTF-8" };
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
  let open = Buffer.alloc(0);
  let at = 0;
  // CR and LF may be in two chunks: a CR at the end waits for the next chunk.
  let held = "";
  for await (const chunk of recodeStream(unpackStream(chunks, path), path)) {
    const view = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const bytes = open.length === 0 ? view : Buffer.concat([open, view]);
    const whole = bytes.length - openCharacter(bytes);
    const fault = faultIn(bytes.subarray(0, whole));
    const end = fault ? fault.at : whole;
    let text = held + decode(bytes.subarray(0, end));
    open = Buffer.from(bytes.subarray(end));
    at += end;
    held = text.endsWith("\r") ? "\r" : "";
    if (held !== "") text = text.slice(0, -1);
    yield text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
    if (fault) refuse(path, at, fault.why);
  }
  if (open.length > 0) refuse(path, at, "not valid UTF-8");
  if (held !== "") yield "\n";
}
