import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder, createMachine, type Environment } from "../../config/find/folders.ts";
import { isInert } from "../../output/terminal/neutralise.ts";
import { replaceFile } from "../../replace-file.ts";
import { makeFolder } from "../../make-folder.ts";

/** Owner of names. The URL counts too: a profile name may point to another service later. */
interface NameOwner {
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
const mostNames = 2000;
const maxNameLength = 200;
const maxFiles = 100;

/** The folder of cached names for completion. */
export function namesFolder(env: Environment): string {
  return join(cacheFolder(createMachine({ env, uid: -1 })), "completion");
}

/** The cache file of one kind of names. Its name only distinguishes files: owners are compared in full. */
function namesFile(env: Environment, kind: NameKind, { profile, baseUrl }: NameOwner): string {
  const owner = encodeURIComponent(`${profile} ${baseUrl}`).slice(0, maxNameLength);
  return join(namesFolder(env), `${kind}-${owner}.json`);
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

function dropOldest(folder: string): void {
  const names = readdirSync(folder);
  if (names.length <= maxFiles) return;
  const timeOf = (name: string): number =>
    statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const dated = names.map((name) => ({ name, time: timeOf(name) }));
  for (const { name } of dated.toSorted((a, b) => b.time - a.time).slice(maxFiles)) {
    rmSync(join(folder, name), { force: true });
  }
}

/**
 * Caches the names of a listing for completion in a file of mode 0600: at most 2,000
 * names, without names that must not be offered to a shell. Does nothing in CI, where
 * nobody types. Never fails: completion is not worth an error.
 */
export function rememberNames(
  { env, now }: { env: Environment; now: () => number },
  kind: NameKind,
  { config, connection }: { config: { profile: string }; connection: { baseUrl: string } },
  names: readonly Named[],
): void {
  if (env["CI"]) return;
  const owner = { profile: config.profile, baseUrl: connection.baseUrl };
  const rows = names.filter(({ name }) => isOffered(name)).slice(0, mostNames);
  const kept = {
    version: 1,
    ...owner,
    at: now(),
    names: rows.map(({ id, name, text }) => [id, name, text]),
  };
  const folder = namesFolder(env);
  try {
    makeFolder(folder, 0o700);
    const text = `${JSON.stringify(kept)}\n`;
    replaceFile(namesFile(env, kind, owner), [text], { exactMode: 0o600, flush: false });
    dropOldest(folder);
  } catch {
    // A read-only home or a full disk: then there are no candidates.
  }
}
