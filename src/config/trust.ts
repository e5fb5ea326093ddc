import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { CliError } from "../errors.ts";
import { checkPrivate, writeWhole } from "./files.ts";
import { stateFolder, type Machine } from "./folders.ts";
import { guardsOf } from "./restrict.ts";
import { addressMembers, secretMembers } from "./members.ts";
import type { ParsedFile } from "./parse.ts";
import type { ConfigContent, Secret } from "./schema.ts";
import { withoutCredentials } from "./url.ts";

/** An address or secret reference that a project file names, or what it lets through. */
export interface Claim {
  /** `profiles.production.baseUrl` */
  key: string;
  /** For people: the address, or what would be read. */
  text: string;
}

function referenceText(secret: Secret): string | undefined {
  if (typeof secret === "string") return undefined;
  if ("env" in secret) return `reads the variable ${secret.env}`;
  if ("file" in secret) return `reads the file ${secret.file}`;
  return `runs ${secret.command.join(" ")}`;
}

/** What lets documents with secrets in them through, by key. */
function exceptionsOf({ ingest, profiles = {} }: ConfigContent): [key: string, string[]][] {
  const all = [
    ["ingest", ingest] as const,
    ...Object.entries(profiles).map(
      ([name, each]) => [`profiles.${name}.ingest`, each.ingest] as const,
    ),
  ];
  return all.flatMap(([key, settings]): [string, string[]][] => {
    const patterns = settings?.allowSecrets ?? [];
    return patterns.length === 0 ? [] : [[`${key}.allowSecrets`, patterns]];
  });
}

/** All addresses, secret references and exceptions for secrets of a file: what trusting it is about. */
export function claimsOf(content: ConfigContent): Claim[] {
  const exceptions = exceptionsOf(content).map(([key, patterns]) => ({
    key,
    text: `sends documents with secrets in them: ${patterns.join(", ")}`,
  }));
  return [...profileClaims(content), ...exceptions];
}

function profileClaims(content: ConfigContent): Claim[] {
  return Object.entries(content.profiles ?? {}).flatMap(([name, profile]) => {
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
}

async function hashOf(content: ConfigContent): Promise<string> {
  const claims = Object.entries(content.profiles ?? {}).map(([name, profile]) => {
    const reference = (secret: Secret | undefined) => (typeof secret === "object" ? secret : null);
    const addresses = addressMembers.map((member) => profile[member] ?? null);
    return [name, ...addresses, ...secretMembers.map((member) => reference(profile[member]))];
  });
  const all = [...claims, ...guardsOf(content), ...exceptionsOf(content)];
  const sorted = all.map((claim) => JSON.stringify(claim)).toSorted();
  // Slow to load, and most runs meet no project file.
  const { createHash } = await import("node:crypto");
  return createHash("sha256").update(sorted.join("\n")).digest("hex");
}

/** The file that remembers what was trusted: real path to hash of the claims. */
export function trustStore(machine: Machine): string {
  return join(stateFolder(machine), "trust.json");
}

function readStore(machine: Machine): Map<string, string> {
  const path = trustStore(machine);
  if (!existsSync(path)) return new Map();
  try {
    // A store that others can write would let them trust themselves.
    checkPrivate(path, { uid: machine.uid, holdsKey: false, warn: () => {} });
    const { files } = JSON.parse(readFileSync(path, "utf8")) as { files: Record<string, string> };
    return new Map(Object.entries(files).filter(([, hash]) => typeof hash === "string"));
  } catch {
    // Nothing is trusted then; trusting again writes a good one.
    return new Map();
  }
}

/** Whether this file, as it claims now, was approved before. */
export async function isTrusted(file: ParsedFile, machine: Machine): Promise<boolean> {
  return readStore(machine).get(realpathSync(file.path)) === (await hashOf(file.content));
}

/** Remembers the file with its claims of now. Throws CliError `local` when that cannot be written. */
export async function rememberTrust(file: ParsedFile, machine: Machine): Promise<void> {
  const hash = await hashOf(file.content);
  const files = readStore(machine);
  files.set(realpathSync(file.path), hash);
  const text = JSON.stringify({ version: 1, files: Object.fromEntries(files) }, null, 2);
  writeWhole(trustStore(machine), `${text}\n`);
}

/** The error for an untrusted file whose addresses or references would be needed. */
export function untrusted(file: ParsedFile): CliError {
  const claims = claimsOf(file.content);
  return new CliError(
    "not-configured",
    `${file.path} is not trusted: its addresses and keys are not used`,
    {
      details: claims.map((claim) => `${claim.key}: ${claim.text}`),
      hints: [
        "look at it, then trust it once: knowctl config trust",
        `or name it for this run: --config ${file.path}`,
        "in a pipeline that owns its checkout: KNOWCTL_TRUST_PROJECT=1",
      ],
    },
  );
}
