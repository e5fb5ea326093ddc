import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder, createMachine, type Environment } from "../../config/find/folders.ts";
import { isInert } from "../../output/terminal/neutralise.ts";

/** Owner of names. The URL counts too: a profile name may point to another service later. */
export interface NameOwner {
  profile: string;
  /** As the configuration normalises it. */
  baseUrl: string;
}

/** A named object of the service; `text` describes it. */
export interface Named {
  id: number;
  name: string;
  text: string;
}

export type NameKind = "connectors" | "agents" | "tools";

const maxAgeMs = 30 * 24 * 60 * 60 * 1000;
const maxFileBytes = 1024 * 1024;
export const mostNames = 2000;
const maxNameLength = 200;

/** The folder of cached names for completion. */
export function namesFolder(env: Environment): string {
  return join(cacheFolder(createMachine({ env, uid: -1 })), "completion");
}

// Only distinguishes files: owners are compared in full. Loading node:crypto costs time.
function shortHash(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) % 2n ** 64n;
  return hash.toString(16).padStart(16, "0");
}

/** The cache file of one kind of names. */
export function namesFile(env: Environment, kind: NameKind, owner: NameOwner): string {
  const key = shortHash(`${owner.profile}\0${owner.baseUrl}`);
  return join(namesFolder(env), `${kind}-${key}.json`);
}

/**
 * Whether a name may be offered to a shell: one line without control characters, of a
 * bounded length, and no leading dash, which would make it a flag. Other names are left
 * out, because a changed name would match nothing.
 */
export function isOffered(name: string): boolean {
  if (name === "" || name.length > maxNameLength || name.startsWith("-")) return false;
  // The last two are separators at which some programs break lines.
  return isInert(name) && name.isWellFormed() && !/[\u0085\u2028\u2029]/.test(name);
}

function parseRow(row: unknown): Named[] {
  if (!Array.isArray(row)) return [];
  const [id, name, text] = row as unknown[];
  if (!Number.isSafeInteger(id) || typeof name !== "string" || typeof text !== "string") return [];
  return [{ id: id as number, name, text }];
}

/** Names of the last listing of this service, at most 30 days old; empty without a valid cache file. */
export function readNames(
  env: Environment,
  kind: NameKind,
  owner: NameOwner,
  now: number,
): Named[] {
  try {
    const path = namesFile(env, kind, owner);
    const stats = statSync(path);
    if (!stats.isFile() || stats.size > maxFileBytes) return [];
    const kept = JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
    if (kept["version"] !== 1 || !Array.isArray(kept["names"])) return [];
    if (kept["profile"] !== owner.profile || kept["baseUrl"] !== owner.baseUrl) return [];
    const age = now - Number(kept["at"]);
    // After the clock is set back, a name must not stay fresh forever.
    if (!(age > -maxAgeMs && age < maxAgeMs)) return [];
    return kept["names"].slice(0, mostNames).flatMap(parseRow);
  } catch {
    // Missing or damaged: the next listing replaces the file.
    return [];
  }
}
