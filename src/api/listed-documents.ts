import * as z from "zod/mini";
import { ApiError, CliError } from "../errors.ts";
import { nestsTooDeep } from "./answers/depth.ts";
import type { Client } from "./client.ts";
import { createElementSplitter } from "./json-elements.ts";

const Listed = z.looseObject({ document_id: z.string() });

function damaged(client: Client, path: string, reason: string, cause?: unknown): ApiError {
  const url = client.url(path);
  return new ApiError(
    "server-error",
    `list documents: GET ${url}: unexpected response (${reason})`,
    {
      method: "GET",
      url,
      hints: ["the list of documents is damaged or incomplete: run the command again"],
      cause,
    },
  );
}

function storedIdIn(element: string): string | undefined {
  const value: unknown = JSON.parse(element);
  if (nestsTooDeep(value, element)) return undefined;
  const listed = Listed.safeParse(value);
  return listed.success ? listed.data.document_id : undefined;
}

function pathOf({ dialect }: Client, ccPairId: number | undefined): string {
  const { ingestedDocuments, pairDocuments } = dialect.paths;
  const path = ccPairId === undefined ? ingestedDocuments : pairDocuments?.(ccPairId);
  if (path !== undefined) return path;
  const whose = ccPairId === undefined ? "documents" : "the documents of a pair";
  throw new CliError("not-found", `the ${dialect.name} interface cannot list ${whose}`);
}

/**
 * The ids under which the service stores the documents of a pair, or without a pair all documents
 * that were ingested, redacted, in batches. The response is not paged and may be long, so it is
 * never in memory as a whole. An error may follow ids: the list counts only after its end. Throws
 * ApiError (`auth` also for an unknown pair, `server-error` for a list that is cut or damaged), and
 * CliError `not-found` if the dialect cannot list.
 */
export async function* listDocuments(
  client: Client,
  ccPairId: number | undefined,
): AsyncGenerator<string[], void> {
  const path = pathOf(client, ccPairId);
  const { status, body } = await client.raw({
    what: "list documents",
    policy: "longList",
    method: "GET",
    path,
    key: "apiKey",
  });
  const splitter = createElementSplitter();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const readIds = (read: () => readonly string[]): string[] => {
    try {
      return read().map((element) => {
        const id = storedIdIn(element);
        if (id === undefined) throw new TypeError("an element without document_id");
        return client.secrets.redact(id);
      });
    } catch (error) {
      throw damaged(client, path, "not a JSON list of documents", error);
    }
  };
  try {
    for await (const chunk of body) {
      // 206 is a part of the list: its absent documents are not gone.
      if (status !== 200) throw damaged(client, path, `status ${status}`);
      const ids = readIds(() => splitter.push(decoder.decode(chunk, { stream: true })));
      if (ids.length > 0) yield ids;
    }
  } catch (error) {
    if (error instanceof ApiError && error.exit === "unreachable") {
      throw damaged(client, path, `cut: ${error.message}`, error);
    }
    throw error;
  }
  readIds(() => {
    decoder.decode();
    splitter.end();
    return [];
  });
}
