import { hash } from "node:crypto";
import type { IngestionDocument } from "../../api/schemas.ts";
import { CliError } from "../../errors.ts";

/** The recorded hashes of a payload: they show whether it changed, and in which fields. */
export interface Fingerprint {
  /** Hash of the whole document: 22 characters, 132 bits of SHA-256. */
  whole: string;
  /** A short hash per field, as `name:hash` joined by spaces; shows which fields changed. */
  fields: string;
}

/** A document ready to be sent. */
interface Payload {
  /** JSON of `{document, cc_pair_id}`, the same text as from JSON.stringify. */
  body: Uint8Array;
  fingerprint: Fingerprint;
}

const bodyStart = '{"document":';
const utf8 = new TextEncoder();

/**
 * Builds the body of a request, and the fingerprint of exactly the document in it. Converts each
 * field to text once. `volatile` names fields that can change while the content stays the same (a
 * date from the file system). They are sent, but their change causes no new upload, unless the
 * field appears or disappears. Without a pair, the body contains none. The body has memory of its
 * own, so that it can go to another thread.
 */
export function buildPayload(
  document: IngestionDocument,
  volatile: readonly (keyof IngestionDocument)[] = [],
  ccPairId?: number,
): Payload {
  const members: string[] = [];
  const hashes: string[] = [];
  for (const name of Object.keys(document) as (keyof IngestionDocument)[]) {
    const json = JSON.stringify(document[name]) as string | undefined;
    if (json === undefined) continue;
    members.push(`${JSON.stringify(name)}:${json}`);
    hashes.push(`${name}:${volatile.includes(name) ? "~" : hash("sha256", json, "base64url")}`);
  }
  const pair = ccPairId === undefined ? "" : `,"cc_pair_id":${ccPairId}`;
  return {
    body: utf8.encode(`${bodyStart}{${members.join(",")}}${pair}}`),
    fingerprint: {
      whole: hash("sha256", hashes.join(" "), "base64url").slice(0, 22),
      fields: hashes.map((each) => each.slice(0, each.indexOf(":") + 7)).join(" "),
    },
  };
}

/** JSON of the document in a body that buildPayload() built for the same pair. */
export function documentJsonIn(body: Uint8Array, ccPairId: number | undefined): string {
  const json = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
  const end = ccPairId === undefined ? -1 : -`,"cc_pair_id":${ccPairId}}`.length;
  return json.slice(bodyStart.length, end);
}

/** The fingerprint alone, see buildPayload(). */
export function fingerprintOf(
  document: IngestionDocument,
  volatile: readonly (keyof IngestionDocument)[] = [],
): Fingerprint {
  return buildPayload(document, volatile).fingerprint;
}

/** Names of the fields that differ between two `fields` texts, sorted. */
export function changedFields(before: string, after: string): string[] {
  const parse = (text: string): Map<string, string> =>
    new Map(text.split(" ").map((each) => each.split(":") as [string, string]));
  const [old, fresh] = [parse(before), parse(after)];
  const names = new Set([...old.keys(), ...fresh.keys()]);
  return [...names].filter((name) => old.get(name) !== fresh.get(name)).toSorted();
}

const defaultKey = "knowctl_version";

/** Metadata key of the version; undefined if documents get none. */
export function versionKeyOf(setting: boolean | string | undefined): string | undefined {
  if (setting === true) return defaultKey;
  return setting === false ? undefined : setting;
}

/**
 * Adds the fingerprint of the document, without this entry, to its metadata. Fields in `volatile`
 * do not count. Throws CliError `usage` if the document has the key itself. `path` is for messages.
 */
export function addVersionTag(
  document: IngestionDocument,
  volatile: readonly (keyof IngestionDocument)[],
  { key, path }: { key: string; path: string },
): void {
  const { metadata } = document;
  if (Object.hasOwn(metadata, key)) {
    throw new CliError("usage", `${path}: metadata ${key}: ingest.versionTag uses this key`, {
      hints: ["rename the key in the document, or name another one in ingest.versionTag"],
    });
  }
  const { whole } = fingerprintOf(document, volatile);
  // Unlike an assignment, this also works for `__proto__`.
  document.metadata = Object.fromEntries([...Object.entries(metadata), [key, whole]]);
}

/** What documents cost the service, as far as their text tells. */
export interface Size {
  /** Characters of the text. */
  characters: number;
  /** Estimated, see estimateTokens(). */
  tokens: number;
  /** Estimated: one for each 512 tokens of a document that are begun. */
  chunks: number;
  /** In the currency of the price; undefined without a price. */
  cost?: number;
}

export const noSize = (): Size => ({ characters: 0, tokens: 0, chunks: 0 });

/** Adds what a service pays for the tokens, at a price for a million of them. */
export function priced(size: Size, perMillion: number | undefined): Size {
  if (perMillion === undefined) return size;
  return { ...size, cost: Math.round(size.tokens * perMillion) / 1_000_000 };
}

const tokensInChunk = 512;

/**
 * Estimated number of tokens in a text: one for each Chinese, Japanese or Korean character, and one
 * for each four other characters.
 */
export function estimateTokens(text: string): number {
  let ideographs = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x1100 || code > 0xffdc) continue;
    const isWide = code <= 0x11ff || (code >= 0x2e80 && code <= 0xd7ff) || code >= 0xf900;
    if (isWide) ideographs++;
  }
  return Math.round(ideographs + (text.length - ideographs) / 4);
}

/** Adds the text of the document in a request's body. */
export function addSize(sum: Size, body: Uint8Array): void {
  const json = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
  const { document } = JSON.parse(json) as { document: IngestionDocument };
  let tokens = 0;
  for (const { text = "" } of document.sections) {
    sum.characters += text?.length ?? 0;
    tokens += estimateTokens(text ?? "");
  }
  sum.tokens += tokens;
  sum.chunks += Math.max(1, Math.ceil(tokens / tokensInChunk));
}
