import { createHash } from "node:crypto";
import type { IngestionDocument } from "../api/schemas.ts";

/** What is remembered of a payload: enough to tell whether it changed, and where. */
export interface Fingerprint {
  /** Hash of the whole document. */
  whole: string;
  /** Per field a short hash, as `name:hash` joined by spaces; tells which fields changed. */
  fields: string;
}

// FNV-1a, 32 bit: only names the changed fields, the decision to send rests on `whole`.
function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0).toString(36);
}

/**
 * Fingerprint of exactly what would be sent. `volatile` names fields that
 * change without the content changing (a date taken from the file system);
 * they are sent but do not cause a re-send.
 */
export function fingerprintOf(
  document: IngestionDocument,
  volatile: readonly (keyof IngestionDocument)[] = [],
): Fingerprint {
  const entries = Object.entries(document).filter(
    ([name]) => !volatile.includes(name as keyof IngestionDocument),
  );
  const texts = entries.map(([name, value]) => [name, JSON.stringify(value)] as const);
  const whole = createHash("sha256");
  for (const [name, text] of texts) whole.update(`${name}=${text}\n`);
  return {
    whole: whole.digest("base64url"),
    fields: texts.map(([name, text]) => `${name}:${shortHash(text)}`).join(" "),
  };
}

/** Names of the fields that differ between two `fields` texts, sorted. */
export function changedFields(before: string, after: string): string[] {
  const parse = (text: string): Map<string, string> =>
    new Map(text.split(" ").map((each) => each.split(":") as [string, string]));
  const [old, fresh] = [parse(before), parse(after)];
  const names = new Set([...old.keys(), ...fresh.keys()]);
  return [...names].filter((name) => old.get(name) !== fresh.get(name)).toSorted();
}
