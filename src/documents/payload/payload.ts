import { hash } from "node:crypto";
import type { IngestionDocument, Section } from "../../api/schemas.ts";
import { appendText, beginBody, bytesFrom, takeBody } from "./body-bytes.ts";
import { jsonText } from "../json/json-text.ts";

/** The recorded hashes of a payload: they show whether it changed, and in which fields. */
export interface Fingerprint {
  /** Hash of the whole document: 22 characters, 132 bits of SHA-256. */
  whole: string;
  /** A short hash per field, as `name:hash` joined by spaces; shows which fields changed. */
  fields: string;
}

/** A document ready to be sent. */
export interface Payload {
  /** JSON of `{document, cc_pair_id}`, the same text as from JSON.stringify. */
  body: Buffer;
  fingerprint: Fingerprint;
}

const bodyStart = '{"document":';

// Up to this length a loop in JavaScript costs less than a call of the native hash.
const shortChars = 200;

// FNV-1a, 24 bits of it. It only names the changed fields; `whole` decides whether to send.
function shortHash(text: string): string {
  let sum = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    sum = Math.imul(sum ^ text.charCodeAt(index), 0x01000193);
  }
  // Decimal: in V8 other bases take several times as long as the hash.
  return String(sum >>> 8);
}

const usualNames: readonly (keyof IngestionDocument | keyof Section)[] = [
  "id",
  "semantic_identifier",
  "title",
  "sections",
  "source",
  "metadata",
  "doc_updated_at",
  "primary_owners",
  "secondary_owners",
  "text",
  "link",
  "image_file_id",
];
const keys = new Map<string, string>(usualNames.map((name) => [name, `"${name}":`]));

function memberStart(isFirst: boolean, name: string): string {
  const key = keys.get(name) ?? jsonText(name) + ":";
  return isFirst ? key : "," + key;
}

/**
 * Like JSON.stringify, but faster: JSON.stringify checks each character of a long text, and takes
 * as long for one small object as this function for a document. Undefined for values without JSON.
 */
function toJson(value: unknown): string | undefined {
  if (typeof value === "string") return jsonText(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  let json = "";
  if (Array.isArray(value)) {
    for (const each of value) json += (json === "" ? "" : ",") + (toJson(each) ?? "null");
    return "[" + json + "]";
  }
  for (const name of Object.keys(value)) {
    const text = toJson((value as Record<string, unknown>)[name]);
    if (text !== undefined) json += memberStart(json === "", name) + text;
  }
  return "{" + json + "}";
}

/**
 * Builds the body of a request, and the fingerprint of exactly the document in it. Converts each
 * field to text once. `volatile` names fields that can change while the content stays the same (a
 * date from the file system). They are sent, but their change causes no new upload, unless the
 * field appears or disappears. Without a pair, the body contains none.
 */
export function buildPayload(
  document: IngestionDocument,
  volatile: readonly (keyof IngestionDocument)[] = [],
  ccPairId?: number,
): Payload {
  beginBody();
  // Collects short texts and converts them to bytes together.
  let shortTexts = `${bodyStart}{`;
  let isFirst = true;
  let hashed = "";
  let fields = "";
  for (const name of Object.keys(document) as (keyof IngestionDocument)[]) {
    const text = toJson(document[name]);
    if (text === undefined) continue;
    // A long text is hashed once: `whole` uses its hash instead of the text. JSON contains no line
    // feed, so that no value can imitate the next field.
    const isLong = text.length > shortChars;
    const isHashed = !volatile.includes(name);
    let digest = "";
    shortTexts += memberStart(isFirst, name);
    isFirst = false;
    if (isLong) {
      appendText(shortTexts);
      shortTexts = "";
      const from = appendText(text);
      if (isHashed) digest = hash("sha256", bytesFrom(from), "hex");
    } else {
      shortTexts += text;
      if (isHashed) digest = shortHash(text);
    }
    if (fields !== "") fields += " ";
    if (!isHashed) {
      hashed += name + "~\n";
      fields += name + ":~";
    } else if (isLong) {
      hashed += name + "#" + digest + "\n";
      fields += name + ":" + digest.slice(0, 8);
    } else {
      hashed += name + "=" + text + "\n";
      fields += name + ":" + digest;
    }
  }
  appendText(`${shortTexts}}${ccPairId === undefined ? "" : `,"cc_pair_id":${ccPairId}`}}`);
  const whole = hash("sha256", hashed, "base64url").slice(0, 22);
  return { body: takeBody(), fingerprint: { whole, fields } };
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
