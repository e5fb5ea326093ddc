// Beside the schema, which is slow to load and not needed where these are.

/** Members of a profile that are secrets. */
export const secretMembers = ["accessToken", "apiKey", "clientKeyPassphrase"] as const;
export type SecretMember = (typeof secretMembers)[number];

/** Members that say where requests go, or which files are read for them. */
export const addressMembers = ["baseUrl", "proxy", "caFile", "clientCert", "clientKey"] as const;

/** Whether a member of a profile is a secret. */
export function isSecretName(name: string): boolean {
  return (secretMembers as readonly string[]).includes(name);
}
