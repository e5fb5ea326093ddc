// Not in the schema's file, which is slow to load.
import type { Profile, Secret } from "./schema.ts";
import { withoutCredentials } from "./url.ts";

/** Members of a profile that are secrets. */
export const secretMembers = ["accessToken", "apiKey", "clientKeyPassphrase"] as const;
export type SecretMember = (typeof secretMembers)[number];

/** Members that set where requests go, or name files that a connection reads. */
export const addressMembers = ["baseUrl", "proxy", "caFile", "clientCert", "clientKey"] as const;

/** Whether a member of a profile is a secret. */
export function isSecretName(name: string): boolean {
  return (secretMembers as readonly string[]).includes(name);
}

/** The secrets that a profile has, by their path in it: its keys, and its headers. */
export function secretsOf(profile: Profile): { path: string[]; secret: Secret }[] {
  const keys = secretMembers.map((member) => ({ path: [member], secret: profile[member] }));
  const headers = Object.entries(profile.headers ?? {}).map(([name, secret]) => ({
    path: ["headers", name],
    secret,
  }));
  return [...keys, ...headers].flatMap(({ path, secret }) =>
    secret === undefined ? [] : [{ path, secret }],
  );
}

const masked = "***";

/** Describes a secret in one line, for tables. */
export function describeSecret(secret: Secret | undefined): string {
  if (secret === undefined) return "";
  if (typeof secret === "string") return secret.trim() === "" ? "(empty)" : masked;
  if ("env" in secret) return `variable ${secret.env}`;
  if ("file" in secret) return `file ${secret.file}`;
  // Arguments of a command may hold secrets of their own.
  return `command ${secret.command[0] ?? ""}`;
}

const maskCommand = ([program = "", ...args]: readonly string[]): string[] =>
  args.length > 0 ? [program, masked] : [program];

/** Masks the value of a secret; a reference to a secret stays visible. */
function maskSecret(secret: Secret): unknown {
  if (typeof secret === "string") return masked;
  if (!("command" in secret)) return secret;
  return { command: maskCommand(secret.command) };
}

/** A copy of any part of a configuration that is safe to show. `key` is the last word of its path. */
export function maskValue(value: unknown, key: string): unknown {
  if (value === undefined) return undefined;
  if (isSecretName(key) || key === "url") return maskSecret(value as Secret);
  if (key === "headers" && typeof value === "object" && value !== null) {
    const headers = Object.entries(value as Record<string, Secret>);
    return Object.fromEntries(headers.map(([name, secret]) => [name, maskSecret(secret)]));
  }
  if ((key === "baseUrl" || key === "proxy") && typeof value === "string")
    return withoutCredentials(value);
  if (key === "notify" && Array.isArray(value)) {
    return value.map((each: unknown) => maskValue(each, ""));
  }
  if (key === "command" && Array.isArray(value)) return maskCommand(value as string[]);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  // Users choose the names in metadata: a name like apiKey marks no secret there.
  if (key === "metadata" || key === "tags") return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, maskValue(inner, name)]),
  );
}
