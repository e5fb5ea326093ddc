import { readFileSync } from "node:fs";
import { request } from "node:http";
import { describe, expect, it } from "vitest";
import { key, start, type Started } from "./start.ts";

interface Row {
  endpoint: string;
  /** Status of the observed service. 200: its schema accepts the body. */
  status: number;
  body: unknown;
}

const rows = readFileSync(new URL("../fixtures/statuses.ndjson", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Row);

const endpoints = [...new Set(rows.map(({ endpoint }) => endpoint))];

/** Stand for a session and for an answer that exist. Status 200 says only that the schema accepts them. */
const rowSession = "11111111-2222-4333-8444-555555555555";
const rowAnswer = 13;

async function useStored(sandbox: Started, all: readonly Row[]): Promise<Row[]> {
  const { chat_session_id, message_id } = await sandbox.whole("leave");
  const stored = (name: string, value: unknown): unknown => {
    if (name === "chat_session_id" && value === rowSession) return chat_session_id;
    return name === "chat_message_id" && value === rowAnswer ? message_id : value;
  };
  return JSON.parse(JSON.stringify(all), stored) as Row[];
}

/** `fetch` sends no body with GET; the service reads one. */
async function getWithBody(port: number, path: string, body: unknown): Promise<number> {
  const text = body === null ? "" : JSON.stringify(body);
  const headers = {
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
  };
  return await new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on("error", reject).end(text);
  });
}

describe("onyx: the sandbox answers with the status of the service", () => {
  const send = async (sandbox: Started, { endpoint, body }: Row): Promise<number> => {
    const [method = "", path = ""] = endpoint.split(" ");
    if (method === "GET") return await getWithBody(sandbox.port, `/api${path}`, body);
    return (await sandbox.send(method, `/api${path}`, body)).status;
  };

  it.each(endpoints)("%s", async (endpoint) => {
    const sandbox = await start({ dialect: "onyx" });
    const wrong: unknown[] = [];
    const own = rows.filter((each) => each.endpoint === endpoint);
    for (const row of await useStored(sandbox, own)) {
      const status = await send(sandbox, row);
      if (status !== row.status) wrong.push({ status, expected: row });
    }
    expect(wrong).toEqual([]);
  });

  it("an unknown path is 404 before the key is looked at, a known one 403", async () => {
    const { send: request } = await start({ dialect: "onyx" });
    const headers = { authorization: "Bearer wrong" };
    const status = async (method: string, path: string): Promise<number> =>
      (await request(method, path, undefined, headers)).status;
    expect(await status("GET", "/api/")).toBe(404);
    expect(await status("GET", "/api/none")).toBe(404);
    expect(await status("GET", "/api/chat/send-chat-message")).toBe(405);
    expect(await status("GET", "/api/tool")).toBe(403);
  });

  it("a result of a search names no document id", async () => {
    const sandbox = await start({ dialect: "onyx" });
    await sandbox.ingest({
      id: "a.md",
      semantic_identifier: "A",
      sections: [{ text: "Twenty-five days of leave." }],
      source: "file",
      metadata: {},
    });
    await sandbox.idle();
    const { results } = (await sandbox.send("POST", "/api/search", { query: "leave" })).json() as {
      results: object[];
    };
    const members = "citation_id content link source_type title updated_at";
    expect(results.map((each) => Object.keys(each).toSorted().join(" "))).toEqual([members]);
  });
});
