import type { Connection } from "../../config/load.ts";
import type { Output } from "../../output/terminal/output.ts";
import { proxySecrets } from "../proxy-secrets.ts";
import type { DocumentSource } from "./options/settings.ts";

/**
 * The keys of the active profile, which no document may contain. Without a connection, only the
 * keys that can be read; a note names the others.
 */
export async function ownKeys(
  output: Output,
  { config, raw }: DocumentSource,
  connection: Connection | undefined,
): Promise<string[]> {
  // With --allow-secrets documents are not checked.
  if (raw.allowSecrets === true) return [];
  if (connection) {
    const { apiKey, accessToken, clientKeyPassphrase, proxy } = connection;
    const all = [apiKey, accessToken, clientKeyPassphrase, ...proxySecrets(proxy)];
    return [...new Set(all.filter((key) => key !== undefined))];
  }
  const { keys, unread } = await config.readableKeys();
  if (unread.length > 0) {
    const names = unread.join(" and ");
    await output.note(`cannot check documents for the ${names} of the profile: not readable`);
  }
  return [...new Set([...keys, ...proxySecrets(config.values.proxy)])];
}
