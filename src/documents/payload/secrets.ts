import type { SourceFile } from "../find/source-file.ts";
import { decodeFile } from "../read/decode.ts";
import { readContent } from "../read/content.ts";
import type { DocumentSettings } from "../map/settings.ts";

/** A text in a document that must not be sent. */
export interface FoundSecret {
  /** The text itself, only to find its place. Never show it. */
  text: string;
  /** For messages: what it is, without its value. */
  kind: string;
}

/** Finds a secret in a request body. Undefined without one, or if `path` may contain secrets. */
export type SecretCheck = (path: string, body: Buffer) => FoundSecret | undefined;

/** Minimum length of a key to search for, in characters: a shorter key could be any word. */
export const shortestKey = 16;

interface Needle {
  key: string;
  /** The key as written in JSON. */
  bytes: Buffer;
  /** The end of `bytes`, which the search uses. */
  end: Buffer;
  /** Where `end` begins in `bytes`. */
  from: number;
}

// Buffer.indexOf() stops at each occurrence of the first byte. If this byte is a capital letter or
// a digit, which are rare in texts, the search takes a tenth of the time.
function needleOf(key: string): Needle {
  const bytes = Buffer.from(JSON.stringify(key).slice(1, -1));
  const isRare = (byte: number): boolean => byte < 0x61 && byte > 0x2f;
  const from = Math.max(0, bytes.subarray(0, bytes.length - 8).findIndex(isRare));
  return { key, bytes, from, end: bytes.subarray(from) };
}

function containsKey(body: Buffer, { bytes, end, from }: Needle): boolean {
  for (let at = body.indexOf(end); at !== -1; at = body.indexOf(end, at + 1)) {
    const start = at - from;
    if (start < 0) continue;
    if (body.compare(bytes, 0, bytes.length, start, at + end.length) === 0) return true;
  }
  return false;
}

const mark = Buffer.from("PRIVATE KEY");
// Characters allowed between the lines of a block: line ends (also as escapes or after a
// backslash), indentation, and the prefixes of lines in comments, quotes and strings of programs.
// Each character fits one branch only: two readings of `\n` would multiply with each header line.
const between = String.raw`(?:\\[nr]|\\(?![nr])|[\s"'>#*+,|]){1,40}`;
const header = String.raw`-{4,5} ?BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}`;
// PEM of all kinds (RFC 7468, RFC 1421), OpenSSH, PGP (RFC 9580), SSH2 (RFC 4716). Header lines may
// be first: "Proc-Type: 4,ENCRYPTED". A document with only a BEGIN line contains no key.
const block = new RegExp(
  String.raw`(${header})${between}(?:[A-Za-z][A-Za-z0-9-]{0,30}: [^\n\\]{0,200}${between}){0,8}[A-Za-z0-9+/=]{16}`,
);

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

/** The first line of a private key in a JSON body. */
function privateKeyIn(body: Buffer): string | undefined {
  if (!body.includes(mark)) return undefined;
  for (const text of textsIn(JSON.parse(body.toString()))) {
    const found = block.exec(text)?.[1];
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Creates the check of a run. It searches the whole request body for the exact keys of the profile
 * (those with 16 characters or more) and for blocks of private keys.
 */
export function createSecretCheck(
  keys: readonly string[],
  { allowsSecrets }: Pick<DocumentSettings, "allowsSecrets">,
): SecretCheck {
  const needles = keys.filter((key) => key.length >= shortestKey).map(needleOf);
  return (path, body) => {
    const key = needles.find((needle) => containsKey(body, needle))?.key;
    const block = key === undefined ? privateKeyIn(body) : undefined;
    if ((key ?? block) === undefined || allowsSecrets(path)) return undefined;
    if (key === undefined) return { text: block ?? "", kind: `a private key (${block})` };
    const value = `"${key.slice(0, 2)}…", ${key.length} characters`;
    return { text: key, kind: `a key of a profile (${value})` };
  };
}

/** Why a document is not sent. */
export function secretReason(place: string, { kind }: FoundSecret): string {
  return `${place}: it contains ${kind}; remove it, or send it with --allow-secrets`;
}

/** `path:line` of a text in a text file; only the path if the file does not contain this text. */
export function placeInFile(file: SourceFile, settings: DocumentSettings, text: string): string {
  try {
    const { maxFileBytes } = settings;
    const { bytes } = readContent(file, maxFileBytes);
    return placeInText(file.path, decodeFile(bytes, file.path, maxFileBytes), text);
  } catch {
    // The format is not text, or the file was deleted. The secret is reported anyway.
    return file.path;
  }
}

/** `name:line` of the first `text` in `whole`; only `name` if it is not found. */
export function placeInText(name: string, whole: string, text: string): string {
  const at = whole.indexOf(text);
  return at === -1 ? name : `${name}:${whole.slice(0, at).split("\n").length}`;
}
