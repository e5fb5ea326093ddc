import { hash } from "node:crypto";
import type { IngestionDocument } from "../../api/schemas.ts";

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
