import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder, createMachine, type Environment } from "../../config/find/folders.ts";
import { isInert } from "../../output/terminal/neutralise.ts";

/** Whose names: the same profile name may lead to another service tomorrow. */
export interface NameOwner {
  profile: string;
  /** As the configuration normalises it. */
  baseUrl: string;
}

/** Something of the service that has an id and a name; `text` says more of it. */
export interface Named {
  id: number;
  name: string;
  text: string;
}

export type NameKind = "connectors" | "agents" | "tools";

const oldestMs = 30 * 24 * 60 * 60 * 1000;
const largestFile = 1024 * 1024;
export const mostNames = 2000;
const longestName = 200;

/** Where names for completion are kept. */
export function namesFolder(env: Environment): string {
  return join(cacheFolder(createMachine({ env, uid: -1 })), "completion");
}

// Only tells files apart: what a file holds is compared in full. node:crypto takes time to load.
function shortHash(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) % 2n ** 64n;
  return hash.toString(16).padStart(16, "0");
}

/** The file of one kind of names. */
export function namesFile(env: Environment, kind: NameKind, owner: NameOwner): string {
  const key = shortHash(`${owner.profile}\0${owner.baseUrl}`);
  return join(namesFolder(env), `${kind}-${key}.json`);
}

/**
 * Whether a name may be offered to a shell: one line without control characters,
 * of a bounded length, and not to be taken for a flag. A name that is not like
 * this cannot be typed either, and a changed one would name nothing.
 */
export function isOffered(name: string): boolean {
  if (name === "" || name.length > longestName || name.startsWith("-")) return false;
  // The last two: separators that some programs break lines at.
  return isInert(name) && name.isWellFormed() && !/[\u0085\u2028\u2029]/.test(name);
}

function parseRow(row: unknown): Named[] {
  if (!Array.isArray(row)) return [];
  const [id, name, text] = row as unknown[];
  if (!Number.isSafeInteger(id) || typeof name !== "string" || typeof text !== "string") return [];
  return [{ id: id as number, name, text }];
}

/** Names that the last listing of this service gave, at most 30 days ago; none where that is not known. */
export function readNames(
  env: Environment,
  kind: NameKind,
  owner: NameOwner,
  now: number,
): Named[] {
  try {
    const path = namesFile(env, kind, owner);
    const stats = statSync(path);
    if (!stats.isFile() || stats.size > largestFile) return [];
    const kept = JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
    if (kept["version"] !== 1 || !Array.isArray(kept["names"])) return [];
    if (kept["profile"] !== owner.profile || kept["baseUrl"] !== owner.baseUrl) return [];
    const age = now - Number(kept["at"]);
    // A clock that was set back makes nothing fresh for ever.
    if (!(age > -oldestMs && age < oldestMs)) return [];
    return kept["names"].slice(0, mostNames).flatMap(parseRow);
  } catch {
    // Missing or damaged: the next listing writes it anew.
    return [];
  }
}
