import { callTo } from "./call.ts";
import { ApiError } from "../errors.ts";
import type { Client } from "./client.ts";
import { dialects, type DialectName } from "./dialects.ts";
import { anything } from "./answers/words.ts";

/** Status of the response to an empty request. It holds no document, so the service must refuse it. */
async function statusOf(client: Client, path: string): Promise<number | undefined> {
  try {
    const call = callTo("probe ingestion", "POST", path, {});
    await client.call({ ...call, policy: "upsert", attempts: 1, key: "apiKey" }, anything);
    return 200;
  } catch (error) {
    if (error instanceof ApiError) return error.status;
    throw error;
  }
}

const isMissing = (status: number | undefined): boolean => status === 404 || status === 405;

/**
 * Whether the service lacks the ingestion endpoint of the client's dialect, and which other
 * dialect's endpoint it has. `other` is undefined if none responds. Sends at most two
 * requests, which store nothing.
 */
export async function findOtherDialect(
  client: Client,
): Promise<{ isMissing: boolean; other?: DialectName; path?: string }> {
  if (!isMissing(await statusOf(client, client.dialect.paths.ingestion)))
    return { isMissing: false };
  for (const { name, paths } of Object.values(dialects)) {
    if (name === client.dialect.name) continue;
    const status = await statusOf(client, paths.ingestion);
    // A refused request (401, 403) proves nothing.
    if (status === 400 || status === 422)
      return { isMissing: true, other: name, path: paths.ingestion };
  }
  return { isMissing: true };
}
