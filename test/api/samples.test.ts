import { readdirSync, readFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { listAgents } from "../../src/api/agents.ts";
import { askWhole, streamChat } from "../../src/api/chat/chat.ts";
import { parseStreamLine } from "../../src/api/chat/packets.ts";
import type { Client } from "../../src/api/client.ts";
import { listConnectors } from "../../src/api/connectors.ts";
import { upsertDocument } from "../../src/api/documents.ts";
import { findChunk, findDocumentSize } from "../../src/api/evidence.ts";
import { listDocuments } from "../../src/api/listed-documents.ts";
import { searchAssisted, searchIndexed, searchKeyword } from "../../src/api/search.ts";
import { listProviders } from "../../src/api/models.ts";
import {
  countPairErrors,
  countWaiting,
  listPairErrors,
  listPairStatuses,
  readLastAttempt,
  readPairStatus,
} from "../../src/api/pair-status.ts";
import { createSession, getSession, listSessions, renameSession } from "../../src/api/sessions.ts";
import { listTools } from "../../src/api/tools.ts";
import { closeAll, openClient, startHttp } from "./support.ts";

afterEach(closeAll);

interface Sample {
  endpoint: string;
  status: number;
  note: string;
  body: unknown;
}

const folder = new URL("../fixtures/samples/", import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, folder), "utf8");
const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
/** Endpoints that only the sandbox has: no command needs them. */
const notCalled = new Set([
  "GET /manage/admin/connector/failed-indexing-status",
  "POST /manage/admin/indexing/targeted-reindex",
  "GET /manage/admin/indexing/targeted-reindex/{job_id}",
  "GET /manage/document-set",
  "GET /manage/user-groups/minimal",
  "GET /manage/admin/user-group",
  "GET /admin/chat-session-history",
  "GET /admin/chat-session-history/{uuid}",
  "GET /query/valid-tags",
  "GET /admin/query-history/list",
  "POST /admin/query-history/start-export",
  "GET /admin/query-history/export-status",
]);
const samples = files
  .flatMap((name) => (JSON.parse(read(name)) as { responses: Sample[] }).responses)
  .filter(({ status, endpoint }) => status === 200 && !notCalled.has(endpoint));
/** A search that fails under 200 is an error; a stream of it is not read. */
const failed = ({ endpoint, note }: Sample): boolean =>
  endpoint.includes("send-search-message") && note.startsWith("failed");
const read200 = samples.filter((each) => each.body !== undefined && !failed(each));

async function firstPage(client: Client): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const session of listSessions(client)) {
    found.push(session);
    // The sample says that a page follows, and is the only one.
    if (found.length === 3) break;
  }
  return found;
}

async function listed(client: Client, pair?: number): Promise<string[]> {
  const ids: string[] = [];
  for await (const batch of listDocuments(client, pair)) ids.push(...batch);
  return ids;
}

async function firstErrors(client: Client): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const error of listPairErrors(client, 2, { resolved: true })) {
    found.push(error);
    // The sample says that pages follow, and is the only one.
    if (found.length === 2) break;
  }
  return found;
}

const query = { query: "leave" };
const id = "00000000-0000-4000-8000-000000000001";

/** What reads the response of an endpoint. */
const calls: Record<string, (client: Client) => Promise<unknown>> = {
  "GET /manage/admin/connector/status": (client) => listConnectors(client),
  "POST /manage/admin/connector/indexing-status": listPairStatuses,
  "GET /manage/admin/cc-pair/{id}": (client) => readPairStatus(client, 2),
  "GET /manage/admin/cc-pair/{id}/index-attempts": async (client) =>
    (await readLastAttempt(client, 2)) ?? null,
  "GET /manage/admin/cc-pair/{id}/get-docs-sync-status": (client) => countWaiting(client, 2),
  "GET /manage/admin/cc-pair/{id}/errors and GET /manage/admin/indexing/failed-documents": async (
    client,
  ) => [await countPairErrors(client, 2), await firstErrors(client)],
  "GET /persona": listAgents,
  "GET /tool": (client) => listTools(client),
  "GET /llm/provider, GET /llm/persona/{id}/providers": (client) => listProviders(client, 60_000),
  "GET /onyx-api/connector-docs/{cc_pair_id}, GET /onyx-api/ingestion": async (client) => {
    const ids = await listed(client);
    // Both endpoints have the same shape.
    expect(await listed(client, 2)).toEqual(ids);
    return ids;
  },
  "GET /document/document-size-info?document_id=": (client) => findDocumentSize(client, "a"),
  "GET /document/chunk-info?document_id=&chunk_id=": (client) => findChunk(client, "a", 0),
  "POST /search": (client) => searchAssisted(client, query),
  "POST /admin/search": (client) => searchKeyword(client, query),
  "POST /search/send-search-message (Enterprise)": (client) => searchIndexed(client, query),
  "POST /onyx-api/ingestion": (client) => upsertDocument(client, "{}"),
  "GET /chat/get-user-chat-sessions": firstPage,
  "GET /chat/get-chat-session/{uuid}": (client) => getSession(client, id),
  "POST /chat/create-chat-session": (client) => createSession(client),
  "PUT /chat/rename-chat-session": (client) => renameSession(client, id, "Leave"),
  "POST /chat/send-chat-message (stream=false)": (client) => askWhole(client, { message: "x" }),
};

async function clientFor(body: string, type = "application/json"): Promise<Client> {
  const { url } = await startHttp((_request, response) => {
    response.writeHead(200, { "content-type": type }).end(body);
  });
  return openClient(url, { dialect: "onyx" });
}

describe("samples of the wire", () => {
  it.each(read200)("$endpoint: $note", async ({ endpoint, body }) => {
    const call = calls[endpoint];
    expect(call, endpoint).toBeDefined();
    const result = await call!(await clientFor(JSON.stringify(body)));
    // A record that the schema replaces is lost without an error.
    if (Array.isArray(body) && typeof result !== "number") expect(result).toHaveLength(body.length);
    const [list] = Object.values(body as object).filter(Array.isArray) as unknown[][];
    if (/search|tags/.test(endpoint)) {
      const members = body as { search_docs?: unknown[] };
      expect(result).toHaveLength((members.search_docs ?? list)!.length);
    }
    const cleared = JSON.stringify(result).match(/"cc_pair_id":null/);
    expect(cleared).toBeNull();
  });

  it("every endpoint that is called has a sample", () => {
    const sampled = new Set(samples.map(({ endpoint }) => endpoint));
    expect(Object.keys(calls).filter((endpoint) => !sampled.has(endpoint))).toEqual([]);
  });

  it("a look-up that finds nothing is no error, and a missing endpoint is one", async () => {
    const answer = async (detail: string) => {
      const { url } = await startHttp((_request, response) => {
        response.writeHead(404, { "content-type": "application/json" });
        response.end(JSON.stringify({ detail }));
      });
      return openClient(url, { dialect: "onyx" });
    };
    expect(await findDocumentSize(await answer("Document not found"), "a")).toBeUndefined();
    expect(await findChunk(await answer("Chunk not found"), "a", 7)).toBeUndefined();
    await expect(findDocumentSize(await answer("Not Found"), "a")).rejects.toMatchObject({
      exit: "not-found",
    });
  });

  it("a search that failed under status 200 is an error of the service", async () => {
    const { body } = samples.find(failed)!;
    await expect(searchIndexed(await clientFor(JSON.stringify(body)), query)).rejects.toMatchObject(
      {
        exit: "server-error",
        message: expect.stringContaining("keyword search is not supported"),
      },
    );
  });

  it("keep all members of a connector", async () => {
    const { body } = samples.find(({ endpoint }) => endpoint.endsWith("/connector/status"))!;
    expect(await listConnectors(await clientFor(JSON.stringify(body)))).toEqual(body);
  });

  it("tell the state of each pair, and of no federated source", async () => {
    const { body } = samples.find(({ endpoint }) => endpoint.endsWith("/indexing-status"))!;
    const [first] = body as { indexing_statuses: unknown[] }[];
    const read = await listPairStatuses(await clientFor(JSON.stringify(body)));
    expect(read).toEqual(first!.indexing_statuses);
  });

  it("count what waits, and read the last run and the errors", async () => {
    const sampleOf = async (end: string) => {
      const { body } = samples.find(({ endpoint }) => endpoint.endsWith(end))!;
      return await clientFor(JSON.stringify(body));
    };
    expect(await countWaiting(await sampleOf("/get-docs-sync-status"), 2)).toBe(2);
    expect(await readLastAttempt(await sampleOf("/index-attempts"), 2)).toBe(
      "2026-03-04T04:06:07.250000+00:00",
    );
    expect(await countPairErrors(await sampleOf("/failed-documents"), 2)).toBe(41);
  });

  it("keep the named provider beside the nameless one", async () => {
    const { body } = samples.find(({ endpoint }) => endpoint.includes("/llm/provider"))!;
    expect(await listProviders(await clientFor(JSON.stringify(body)), 60_000)).toEqual([
      { name: "Acme EU", models: ["model-a-2026", "model-b"] },
    ]);
  });
});

describe("samples of a stream", () => {
  const lines = read("packets.ndjson").trimEnd().split("\n");
  it.each(lines)("%.120s", (line) => {
    const event = parseStreamLine(line);
    expect(["unknown", "damaged"]).not.toContain(event.kind);
  });

  it("are read as a whole up to the first end", async () => {
    const body = lines.map((line) => `${line}\n`).join("");
    const client = await clientFor(body, "text/event-stream");
    const kinds = new Set<string>();
    for await (const events of streamChat(client, { message: "x" })) {
      for (const event of events) kinds.add(event.kind);
    }
    expect([...kinds]).toEqual(["session", "ids", "models", "packet"]);
  });
});
