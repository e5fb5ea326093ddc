import type { Connection } from "../../config/load.ts";
import type { Output } from "../../output/terminal/output.ts";
import { proxySecrets } from "../proxy-secrets.ts";
import type { DocumentSource } from "./options/settings.ts";

/**
 * The keys of the active profile, which no document may hold: those of the connection, or without
 * one those that can be read without it. What cannot be read is said.
 */
export async function ownKeys(
  output: Output,
  { config, raw }: DocumentSource,
  connection: Connection | undefined,
): Promise<string[]> {
  // Nothing is looked for then.
  if (raw.allowSecrets === true) return [];
  if (connection) {
    const { apiKey, accessToken, clientKeyPassphrase, proxy } = connection;
    const all = [apiKey, accessToken, clientKeyPassphrase, ...proxySecrets(proxy)];
    return [...new Set(all.filter((key) => key !== undefined))];
  }
  const { keys, unread } = await config.readableKeys();
  if (unread.length > 0) {
    const names = unread.join(" and ");
    await output.note(`cannot tell whether a document holds the ${names} of the profile: not read`);
  }
  return [...new Set([...keys, ...proxySecrets(config.values.proxy)])];
}
