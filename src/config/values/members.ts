// Not in the schema's file, which is slow to load.

/** Members of a profile that are secrets. */
export const secretMembers = ["accessToken", "apiKey", "clientKeyPassphrase"] as const;
export type SecretMember = (typeof secretMembers)[number];

/** Members that set where requests go, or name files that a connection reads. */
export const addressMembers = ["baseUrl", "proxy", "caFile", "clientCert", "clientKey"] as const;

/** Whether a member of a profile is a secret. */
export function isSecretName(name: string): boolean {
  return (secretMembers as readonly string[]).includes(name);
}
