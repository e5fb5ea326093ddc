import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { CliError } from "../errors.ts";
import { checkPrivate, refuseSpecial, writeWhole } from "./file/files.ts";
import { whileLocked } from "./file/lock.ts";
import { stateFolder, type Machine } from "./find/folders.ts";
import { addressMembers, secretMembers } from "./values/members.ts";
import type { ParsedFile } from "./file/parse.ts";
import { shapingOf } from "./restrict.ts";
import type { ConfigContent, Secret } from "./values/schema.ts";
import { withoutCredentials } from "./values/url.ts";

/** A setting that needs trust: an address, a secret reference, or one that shapes ids, target or a check. */
export interface Claim {
  /** `profiles.production.baseUrl` */
  key: string;
  /** For display: the address, the secret reference, or the value. */
  text: string;
}

function referenceText(secret: Secret): string | undefined {
  if (typeof secret === "string") return undefined;
  if ("env" in secret) return `reads the variable ${secret.env}`;
  if ("file" in secret) return `reads the file ${secret.file}`;
  return `runs ${secret.command.join(" ")}`;
}

/** All settings of a file that need trust. */
export function claimsOf(content: ConfigContent): Claim[] {
  const named = Object.entries(content.profiles ?? {}).flatMap(([name, profile]) => {
    const addresses = addressMembers.flatMap((member) => {
      const value = profile[member];
      if (value === undefined) return [];
      const isAddress = member === "baseUrl" || member === "proxy";
      return [{ key: member, text: isAddress ? withoutCredentials(value) : value }];
    });
    const references = secretMembers.flatMap((member) => {
      const text = profile[member] === undefined ? undefined : referenceText(profile[member]);
      return text === undefined ? [] : [{ key: member, text }];
    });
    return [...addresses, ...references].map(({ key, text }) => ({
      key: `profiles.${name}.${key}`,
      text,
    }));
  });
  return [...named, ...shapingOf(content).map(({ key, text }) => ({ key, text }))];
}

async function hashOf(content: ConfigContent): Promise<string> {
  const claims = Object.entries(content.profiles ?? {}).map(([name, profile]) => {
    const reference = (secret: Secret | undefined) => (typeof secret === "object" ? secret : null);
    const addresses = addressMembers.map((member) => profile[member] ?? null);
    return [name, ...addresses, ...secretMembers.map((member) => reference(profile[member]))];
  });
  const shaping = shapingOf(content).map(({ key, value }) => [key, value]);
  const sorted = [...claims, ...shaping].map((claim) => JSON.stringify(claim)).toSorted();
  // Loaded on demand: it is slow, and most runs have no project file.
  const { createHash } = await import("node:crypto");
  return createHash("sha256").update(sorted.join("\n")).digest("hex");
}

/** Path of the file that records trust: real path of each project file to the hash of its claims. */
export function trustStore(machine: Machine): string {
  return join(stateFolder(machine), "trust.json");
}

function readStore(machine: Machine): Map<string, string> {
  const path = trustStore(machine);
  if (!existsSync(path)) return new Map();
  refuseSpecial(path);
  try {
    // Others who can write the store could trust their own files.
    checkPrivate(path, { uid: machine.uid, holdsKey: false, warn: () => {} });
    const { files } = JSON.parse(readFileSync(path, "utf8")) as { files: Record<string, string> };
    return new Map(Object.entries(files).filter(([, hash]) => typeof hash === "string"));
  } catch {
    // Treat a broken store as empty; the next trust replaces it.
    return new Map();
  }
}

/** Whether the user trusted this file with exactly its current claims. */
export async function isTrusted(file: ParsedFile, machine: Machine): Promise<boolean> {
  return readStore(machine).get(realpathSync(file.path)) === (await hashOf(file.content));
}

/** Records trust in the file with its current claims. Throws CliError `local` if that cannot be written. */
export async function rememberTrust(file: ParsedFile, machine: Machine): Promise<void> {
  const hash = await hashOf(file.content);
  await whileLocked(trustStore(machine), async () => {
    const files = readStore(machine);
    files.set(realpathSync(file.path), hash);
    const text = JSON.stringify({ version: 1, files: Object.fromEntries(files) }, null, 2);
    await Promise.resolve(writeWhole(trustStore(machine), `${text}\n`));
  });
}

/** Error for an untrusted file with claims: it would change the target or the ids of an upload. */
function untrusted(file: ParsedFile): CliError {
  const claims = claimsOf(file.content);
  return new CliError(
    "not-configured",
    `${file.path} is not trusted: it sets addresses, keys, ids or the target`,
    {
      details: claims.map((claim) => `${claim.key}: ${claim.text}`),
      hints: [
        "look at it, then trust it once: knowctl config trust",
        `or name it for this run: --config ${file.path}`,
        "in a pipeline that owns its checkout: KNOWCTL_TRUST_PROJECT=1, or trust-project: true for the action",
      ],
    },
  );
}

/** What a flag or variable sets instead of a value of a file, by the member of the file. */
const replacedBy: Readonly<Record<string, readonly string[]>> = {
  baseUrl: ["baseUrl"],
  proxy: ["proxy"],
  caFile: ["caFile"],
  clientCert: ["clientCert"],
  clientKey: ["clientKey"],
  clientKeyPassphrase: ["clientKeyPassphrase"],
  apiKey: ["apiKey"],
  accessToken: ["accessToken"],
  dialect: ["dialect"],
  defaultProfile: ["profile"],
  ccPairId: ["ccPairId", "connector"],
  connector: ["ccPairId", "connector"],
  idPrefix: ["idPrefix"],
  map: ["map"],
  linkBase: ["linkBase"],
  images: ["images"],
  requireAccess: ["requireAccess"],
  allowSecrets: ["allowSecrets"],
};

/**
 * Whether flags or variables give the value of a dotted key of a file: then that of an untrusted file
 * has no effect. A rule sends some documents elsewhere, whatever the target of the others is.
 */
export function isGiven(key: string, given: Readonly<Record<string, unknown>>): boolean {
  if (key.startsWith("ingest.rules[") || key.includes(".ingest.rules[")) return false;
  const names = replacedBy[key.slice(key.lastIndexOf(".") + 1)] ?? [];
  return names.some((name) => given[name] !== undefined);
}

/** The claims of a file that count: of an untrusted file no value applies that is given otherwise. */
export function openClaims(
  content: ConfigContent,
  given: Readonly<Record<string, unknown>>,
): Claim[] {
  return claimsOf(content).filter(({ key }) => !isGiven(key, given));
}

/**
 * The error for every command that sends requests; undefined if no file with claims lacks trust.
 * `given`: values of flags and variables.
 */
export function refusedTrust(
  files: readonly (ParsedFile & { trusted: boolean })[],
  given: Readonly<Record<string, unknown>>,
): CliError | undefined {
  const file = files.find((each) => !each.trusted && openClaims(each.content, given).length > 0);
  return file && untrusted(file);
}
