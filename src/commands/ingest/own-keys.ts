import type { Connection } from "../../config/load.ts";
import { shortestKey } from "../../checks/lint/secrets/find-secrets.ts";
import type { Output } from "../../output/terminal/output.ts";
import { proxySecrets, storedSecrets } from "../secrets.ts";
import type { DocumentSource } from "./options/settings.ts";

/**
 * The keys that no document may contain: those of the active profile, and of other profiles those
 * that stand in the configuration files. Without a connection, only the keys of the active profile
 * that can be read; a note names the others.
 */
export async function ownKeys(
  output: Output,
  { config, raw }: DocumentSource,
  connection: Connection | undefined,
): Promise<string[]> {
  // With --allow-secrets documents are not checked.
  if (raw.allowSecrets === true) return [];
  const stored = storedSecrets(config).keys.filter((key) => key.length >= shortestKey);
  for (const key of stored) output.secrets.add(key);
  if (connection) {
    const { apiKey, accessToken, clientKeyPassphrase, proxy } = connection;
    const all = [...stored, apiKey, accessToken, clientKeyPassphrase, ...proxySecrets(proxy)];
    return [...new Set(all.filter((key) => key !== undefined))];
  }
  const { keys, unread } = await config.readableKeys();
  if (unread.length > 0) {
    const names = unread.join(" and ");
    await output.note(`cannot check documents for the ${names} of the profile: not readable`);
  }
  return [...new Set([...stored, ...keys, ...proxySecrets(config.values.proxy)])];
}
