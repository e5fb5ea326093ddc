import { dialects } from "../../../src/api/dialects.ts";
import type { TestService } from "../../service.ts";

async function call(service: TestService, method: string, path: string, body?: object) {
  const response = await fetch(service.sandbox.url + path, {
    method,
    headers: {
      authorization: `Bearer ${service.env["KNOWCTL_API_KEY"]}`,
      "content-type": "application/json",
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`);
  return response;
}

/** The stored ids of a pair's documents. */
export async function storedIn(service: TestService, pair: number): Promise<string[]> {
  const response = await call(service, "GET", dialects.onyx.paths.pairDocuments!(pair));
  const documents = (await response.json()) as { document_id: string }[];
  return documents.map((each) => each.document_id).toSorted();
}

/** Deletes a document behind the tool's back; `id` is the sent id. */
export async function remove(service: TestService, id: string): Promise<void> {
  const { paths, storedId } = dialects.onyx;
  await call(service, "DELETE", paths.ingestedDocument!(storedId!(id)));
}

/** Sends a document as another tool does. */
export async function send(service: TestService, pair: number, id: string): Promise<void> {
  const document = {
    id,
    semantic_identifier: id,
    sections: [{ text: id }],
    metadata: {},
    source: "file",
  };
  await call(service, "POST", dialects.onyx.paths.ingestion, { document, cc_pair_id: pair });
}
