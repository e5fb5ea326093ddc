import type { ConnectorStatus } from "../api/schemas.ts";

const masked = "***";

/** Members of a credential without a secret: service-interface.md 2.3. Any other may be a secret. */
const openMembers = new Set([
  "id",
  "name",
  "source",
  "admin_public",
  "curator_public",
  "user_id",
  "user_email",
  "groups",
  "time_created",
  "time_updated",
]);

function maskValues(value: unknown): unknown {
  if (value === null || value === undefined) return value;
  if (typeof value !== "object" || Array.isArray(value)) return masked;
  return Object.fromEntries(Object.keys(value).map((name) => [name, masked]));
}

function maskMember(name: string, value: unknown): unknown {
  if (openMembers.has(name) || value === null) return value;
  return name === "credential_json" ? maskValues(value) : masked;
}

/**
 * Replaces every value that may be a secret by `***`; names stay. Masked are all
 * values of credential.credential_json and connector.connector_specific_config
 * (passwords, addresses with user names), and every member of the credential that
 * is not known to be harmless.
 */
export function maskConnector(record: ConnectorStatus): ConnectorStatus {
  const { connector, credential } = record;
  const masked = { ...record };
  if (connector && "connector_specific_config" in connector) {
    const config = maskValues(connector.connector_specific_config);
    masked.connector = { ...connector, connector_specific_config: config } as typeof connector;
  }
  if (credential) {
    const members = Object.entries(credential);
    masked.credential = Object.fromEntries(
      members.map(([name, value]) => [name, maskMember(name, value)]),
    ) as typeof credential;
  }
  return masked;
}
