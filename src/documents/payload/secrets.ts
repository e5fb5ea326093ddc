import type { SourceFile } from "../find/source-file.ts";
import { decodeFile } from "../read/decode.ts";
import { readContent } from "../read/content.ts";
import type { DocumentSettings } from "../map/settings.ts";

/** A text in a document that must not be sent. */
export interface FoundSecret {
  /** The text itself: for finding its place, never for people. */
  text: string;
  /** For people: what it is, without its value. */
  kind: string;
}

/** Looks for secrets in the body of the document of a path; undefined where there is none, or they may be sent. */
export type SecretCheck = (path: string, body: Buffer) => FoundSecret | undefined;

/** Characters of a key that is looked for: a shorter one could be any word. */
export const shortestKey = 16;

interface Needle {
  key: string;
  /** As it stands in JSON. */
  bytes: Buffer;
  /** The end of `bytes` that is searched for, and where it begins. */
  end: Buffer;
  from: number;
}

// The search of Buffer stops at each byte that is the first one of what it looks for. With a
// capital letter or a digit there, which texts seldom hold, it takes a tenth of the time.
function needleOf(key: string): Needle {
  const bytes = Buffer.from(JSON.stringify(key).slice(1, -1));
  const isRare = (byte: number): boolean => byte < 0x61 && byte > 0x2f;
  const from = Math.max(0, bytes.subarray(0, bytes.length - 8).findIndex(isRare));
  return { key, bytes, from, end: bytes.subarray(from) };
}

function holds(body: Buffer, { bytes, end, from }: Needle): boolean {
  for (let at = body.indexOf(end); at !== -1; at = body.indexOf(end, at + 1)) {
    const start = at - from;
    if (start < 0) continue;
    if (body.compare(bytes, 0, bytes.length, start, at + end.length) === 0) return true;
  }
  return false;
}

const mark = Buffer.from("PRIVATE KEY");
// What may stand between the lines of a block: line ends, also written as escapes or behind a
// backslash, indentation, and what comments, quotes and strings of programs put in front of a line.
// Each character fits one branch only: two readings of `\n` would multiply with each header line.
const between = String.raw`(?:\\[nr]|\\(?![nr])|[\s"'>#*+,|]){1,40}`;
const header = String.raw`-{4,5} ?BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}`;
// PEM of all kinds (RFC 7468, RFC 1421), OpenSSH, PGP (RFC 9580), SSH2 (RFC 4716): lines such as
// "Proc-Type: 4,ENCRYPTED" may come first. A document that only names the first line holds no key.
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
 * The check of a run: for the keys of its profile, those of 16 characters or more, word for word,
 * and for blocks of private keys. All that is sent of a document is looked at.
 */
export function createSecretCheck(
  keys: readonly string[],
  { allowsSecrets }: Pick<DocumentSettings, "allowsSecrets">,
): SecretCheck {
  const needles = keys.filter((key) => key.length >= shortestKey).map(needleOf);
  return (path, body) => {
    const key = needles.find((needle) => holds(body, needle))?.key;
    const block = key === undefined ? privateKeyIn(body) : undefined;
    if ((key ?? block) === undefined || allowsSecrets(path)) return undefined;
    if (key === undefined) return { text: block ?? "", kind: `a private key (${block})` };
    const value = `"${key.slice(0, 2)}…", ${key.length} characters`;
    return { text: key, kind: `a key of the active profile (${value})` };
  };
}

/** Why a document is not sent. */
export function secretReason(place: string, { kind }: FoundSecret): string {
  return `${place}: it holds ${kind}; take it out, or send it with --allow-secrets`;
}

/** `path:line` of a text in a text file; the path alone where the text does not stand there as it is. */
export function placeInFile(file: SourceFile, settings: DocumentSettings, text: string): string {
  try {
    const { maxFileBytes } = settings;
    const { bytes } = readContent(file, maxFileBytes);
    return placeInText(file.path, decodeFile(bytes, file.path, maxFileBytes), text);
  } catch {
    // A format that is no text, or the file has gone: the finding stands all the same.
    return file.path;
  }
}

/** `name:line` of the first place where `text` stands in `whole`. */
export function placeInText(name: string, whole: string, text: string): string {
  const at = whole.indexOf(text);
  return at === -1 ? name : `${name}:${whole.slice(0, at).split("\n").length}`;
}
