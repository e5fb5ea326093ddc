import { searchKeyword } from "../../api/search.ts";
import { ApiError } from "../../errors.ts";
import type { VersionTag } from "./expected.ts";
import type { Look, Reader } from "./look.ts";

/** Statuses after which no other document is looked up by its version. */
const refusals = [401, 403, 404, 405, 501];

/**
 * Looks up a document by the version in its metadata: a hit proves text and metadata together.
 * Undefined if the search fails or is not allowed.
 */
export async function findByVersion(
  reader: Reader,
  { id, storedId }: { id: string; storedId: string },
  { key, value }: VersionTag,
): Promise<Look | "not found" | undefined> {
  const { client, gate } = reader;
  if (reader.lacksSearch || !client.dialect.paths.keywordSearch) return undefined;
  try {
    const found = await searchKeyword(client, { query: "", tags: [[key, value]] }, { gate });
    reader.hasAnswered = true;
    // Responses are redacted: an id may contain a secret of the profile.
    const ids = [storedId, id].map((each) => client.secrets.redact(each));
    // Hidden from everybody but administrators: the other evidence says so.
    const hit = found.find((each) => each.hidden !== true && ids.includes(each.document_id));
    if (!hit) return "not found";
    const request = `POST /admin/search, tag ${key}=${value}`;
    const proves = "the index holds the text and the metadata that were sent";
    const facts = { chunks: "some", text: "same" } as const;
    return { facts, evidence: [{ request, status: 200, proves }] };
  } catch (error) {
    if (!(error instanceof ApiError) || gate.state().stopped !== undefined) throw error;
    if (refusals.includes(error.status ?? 0)) reader.lacksSearch = true;
    return undefined;
  }
}
