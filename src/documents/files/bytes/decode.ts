import { isAscii, isUtf8 } from "node:buffer";
import { CliError } from "../../../errors.ts";
import { gunzip, recodeStream, unpackStream } from "./unpack.ts";
import { isPacked } from "../file-name.ts";
import { refusePointer } from "./file-bytes.ts";

/** Throws CliError `usage` for bytes that are no text. */
function refuse(path: string, offset: number, why: string): never {
  throw new CliError("usage", `${path}: ${why} at byte ${offset}`, {
    hints: ["save the file as UTF-8 (or UTF-16 with a byte order mark)"],
  });
}

const continuation = (byte: number | undefined): boolean =>
  byte !== undefined && (byte & 0xc0) === 0x80;

/** Length of the valid UTF-8 sequence at an offset, 0 for an invalid one (Unicode 15, table 3-7). */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  const second = bytes[at + 1];
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4 || !continuation(second) || second === undefined) return 0;
  if (first < 0xe0) return 2;
  if (!continuation(bytes[at + 2])) return 0;
  if (first < 0xf0) {
    const isOverlong = first === 0xe0 && second < 0xa0;
    const isSurrogate = first === 0xed && second > 0x9f;
    return isOverlong || isSurrogate ? 0 : 3;
  }
  const isOutside = (first === 0xf0 && second < 0x90) || (first === 0xf4 && second > 0x8f);
  return isOutside || !continuation(bytes[at + 3]) ? 0 : 4;
}

/** Offset of the first byte that is not valid UTF-8; -1 if all bytes are valid. */
export function invalidUtf8At(bytes: Uint8Array): number {
  for (let at = 0; at < bytes.length;) {
    const length = sequenceLength(bytes, at);
    if (length === 0) return at;
    at += length;
  }
  return -1;
}

function decodeUtf16(bytes: Buffer, path: string, isBigEndian: boolean): string {
  if (bytes.length % 2 !== 0) refuse(path, bytes.length - 1, "half a UTF-16 character");
  const little = isBigEndian ? Buffer.from(bytes).swap16() : bytes;
  const text = little.toString("utf16le", 2);
  const bad = /[\p{Surrogate}\0]/u.exec(text);
  if (bad) {
    const what = bad[0] === "\0" ? "a NUL character" : "half a surrogate pair";
    refuse(path, 2 + bad.index * 2, what);
  }
  return text;
}

function decodeUtf8(bytes: Buffer, path: string): string {
  if (!isUtf8(bytes)) refuse(path, invalidUtf8At(bytes), "not valid UTF-8");
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return bytes.toString("utf8", hasMark ? 3 : 0);
}

/**
 * Decodes the text of a file without replacement characters: UTF-8 with or without byte order mark,
 * UTF-16 with one. Line endings become LF, so that a checkout on Windows results in the same
 * document. Throws CliError `usage` with the byte offset for anything else.
 */
export function decodeText(bytes: Buffer, path: string): string {
  let text: string;
  if (bytes[0] === 0xff && bytes[1] === 0xfe) text = decodeUtf16(bytes, path, false);
  else if (bytes[0] === 0xfe && bytes[1] === 0xff) text = decodeUtf16(bytes, path, true);
  else {
    const nul = bytes.indexOf(0);
    if (nul !== -1) refuse(path, nul, "a NUL byte (a binary file?)");
    // One byte per character: no need to decode.
    if (isAscii(bytes)) text = bytes.toString("latin1");
    else text = decodeUtf8(bytes, path);
  }
  return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
}

/**
 * Like decodeText(), but first unpacks the bytes (to at most `maxBytes`) if the name ends in `.gz`.
 * Throws CliError `usage`.
 */
export function decodeFile(bytes: Buffer, path: string, maxBytes: number): string {
  if (!isPacked(path)) return decodeText(bytes, path);
  const unpacked = gunzip(bytes, path, maxBytes);
  refusePointer(unpacked, path);
  return decodeText(unpacked, path);
}

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
