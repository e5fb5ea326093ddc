import { hash } from "node:crypto";
import { effectiveFor } from "./effective.ts";
import type { FileFacts } from "./facts.ts";
import type { DocumentSettings } from "./settings.ts";

/**
 * Hash (32 hex digits) of everything that determines the payload, except the bytes and the path of
 * the file: settings, rules for its path, facts, mapping version. If stamp and mapping key equal
 * the recorded ones, so does the payload, and the file need not be read.
 */
export function mappingKey(path: string, settings: DocumentSettings, facts?: FileFacts): string {
  const { key } = effectiveFor(path, settings);
  if (!facts) return key;
  return hash("sha256", `${key} ${JSON.stringify(facts)}`, "hex").slice(0, 32);
}

/** The id of a file that sets no id: prefix and root-relative path (NFC, "/"). */
export function defaultId(path: string, settings: DocumentSettings): string {
  return settings.idPrefix + path;
}
