import { hash } from "node:crypto";
import { effectiveFor } from "./effective.ts";
import type { FileFacts } from "./facts.ts";
import type { DocumentSettings } from "./settings.ts";

/**
 * Hash (32 hex digits) of everything except the file's own bytes and path that
 * shapes its payload: settings, the rules for its path, what others say of it,
 * the version of the mapping. A file whose stamp and mapping key are the
 * recorded ones gives the recorded payload and need not be read.
 */
export function mappingKey(path: string, settings: DocumentSettings, facts?: FileFacts): string {
  const { key } = effectiveFor(path, settings);
  if (!facts) return key;
  return hash("sha256", `${key} ${JSON.stringify(facts)}`, "hex").slice(0, 32);
}

/** The id of a file that names none: prefix and root-relative path (NFC, "/"). */
export function defaultId(path: string, settings: DocumentSettings): string {
  return settings.idPrefix + path;
}
