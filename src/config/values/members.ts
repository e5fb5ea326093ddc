// Not in the schema's file, which is slow to load.
import type { Profile, Secret } from "./schema.ts";

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
