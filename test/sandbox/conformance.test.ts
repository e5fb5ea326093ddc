import { readFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { askWhole, stopChat, streamChat } from "../../src/api/chat/chat.ts";
import type { ChatReply } from "../../src/api/chat-schemas.ts";
import { createClient, type Client } from "../../src/api/client.ts";
import { listConnectors } from "../../src/api/connectors.ts";
import { upsertDocument } from "../../src/api/documents.ts";
import {
  findFileStates,
  listFiles,
  uploadChatFile,
  type UploadFile,
  uploadImage,
} from "../../src/api/files.ts";
import { listTools } from "../../src/api/tools.ts";
import { readServiceWords } from "../../src/api/answers/words.ts";
import { documentOf, key, type Line, linesOf, start, type Started } from "./start.ts";

const folder = new URL("../fixtures/wire/", import.meta.url);
const text = (name: string): string => readFileSync(new URL(name, folder), "utf8");
const fixture = (name: string) => JSON.parse(text(name)) as Record<string, never>;

function clientOf(sandbox: Started, dialect: "standard" | "onyx"): Client {
  const client = createClient({
    baseUrl: sandbox.url,
    dialect,
    accessToken: key,
    apiKey: key,
    secrets: {
      redact: (text) => text,
      redactLast: (text) => text,
      mayHold: () => false,
      openTail: () => 0,
      redactAll: (value) => value,
    },
    allowInsecureTls: false,
    clock: { now: Date.now, elapsed: () => 0, sleep: () => Promise.resolve(), random: Math.random },
    signal: new AbortController().signal,
  });
  onTestFinished(() => client.close());
  return client;
}

const fileOf = (name: string, type: string, bytes: number[]): UploadFile => ({
  name,
  type,
  sizeBytes: bytes.length,
  async *bytes() {
    yield Uint8Array.from(bytes);
  },
});

const members = (value: object | undefined): string[] => Object.keys(value ?? {}).toSorted();
const dialects = ["standard", "onyx"] as const;

describe("what the sandbox sends has the members of the observed service", () => {
  it.each(dialects)("%s: lines and packets", async (dialect) => {
    const { ask, ingest, idle } = await start({ dialect });
    await ingest(documentOf({ sections: [{ text: "Twenty-five days of leave a year." }] }));
    await idle();
    const own = await ask("leave");
    const observed = linesOf(text("answer.ndjson"));
    const byType = (lines: Line[]) =>
      new Map(
        lines.map((line) => [
          line.obj?.type ?? members(line).join(),
          { line: members(line), placement: members(line.placement), obj: members(line.obj) },
        ]),
      );
    const known = byType(observed);
    for (const [type, shape] of byType(own)) {
      // The observed answer timed nothing.
      shape.obj = shape.obj.filter((name) => name !== "pre_answer_processing_seconds");
      const expected = known.get(type);
      if (expected) {
        expected.obj = expected.obj.filter((name) => name !== "pre_answer_processing_seconds");
      }
      expect([type, shape]).toEqual([type, expected]);
    }
    const documentOfLines = (lines: Line[]) => {
      const start = lines.find((line) => line.obj?.type === "message_start");
      return members((start!.obj!["final_documents"] as object[])[0]);
    };
    expect(documentOfLines(own)).toEqual(documentOfLines(observed));
  });

  it.each(dialects)("%s: the whole reply", async (dialect) => {
    const { whole, ingest, idle } = await start({ dialect });
    await ingest(documentOf({ sections: [{ text: "Twenty-five days of leave a year." }] }));
    await idle();
    const own = await whole("leave");
    const observed = fixture("reply.json");
    expect(members(own)).toEqual(members(observed));
    for (const list of ["tool_calls", "top_documents", "citation_info"] as const) {
      expect(members(own[list]![0])).toEqual(members(observed[list]![0]));
    }
  });

  it("the answers to an upload", async () => {
    const { ingest } = await start();
    const document = documentOf({ id: "handbook/leave.md", sections: [{ text: "Leave." }] });
    const observed = fixture("ingestion.json");
    expect((await ingest(document)).json()).toEqual(observed["created"]);
    expect((await ingest(document)).json()).toEqual(observed["updated"]);
  });

  it.each(dialects)("%s: connectors, tools, uploads", async (dialect) => {
    const { get, send } = await start({ dialect });
    const [pair] = (await get("/api/manage/admin/connector/status")).json() as {
      connector: object;
      credential: object;
    }[];
    const [observed] = fixture("connector-status.json") as unknown as {
      connector: object;
      credential: object;
    }[];
    expect(members(pair)).toEqual(members(observed));
    expect(members(pair!.connector)).toEqual(members(observed!.connector));
    expect(members(pair!.credential)).toEqual(members(observed!.credential));
    const [tool] = (await get("/api/tool")).json() as object[];
    expect(members(tool)).toEqual(
      expect.arrayContaining(members((fixture("tools.json") as unknown as object[])[0])),
    );
    const form = new FormData();
    form.append("files", new File(["x"], "a.txt", { type: "text/plain" }));
    const upload = (await send("POST", "/api/user/projects/file/upload", form)).json() as {
      user_files: object[];
    };
    const expected = fixture("uploads.json")["chatFile"] as unknown as { user_files: object[] };
    expect(members(upload)).toEqual(members(expected));
    expect(members(upload.user_files[0])).toEqual(members(expected.user_files[0]));
  });

  it("a stored session", async () => {
    const sandbox = await start({ dialect: "onyx" });
    await sandbox.ingest(documentOf({ sections: [{ text: "Twenty-five days of leave a year." }] }));
    await sandbox.idle();
    const { chat_session_id } = await sandbox.whole("leave");
    type Session = { messages: Record<string, unknown>[] };
    const path = `/api/chat/get-chat-session/${chat_session_id}`;
    const own = (await sandbox.get(path)).json() as Session;
    const observed = fixture("stored-session.json") as unknown as Session;
    expect(members(observed)).toEqual(expect.arrayContaining(members(own)));
    const all = new Set(observed.messages.flatMap(members));
    const [root, question, answer] = own.messages;
    for (const message of [root, question, answer]) expect(new Set(members(message))).toEqual(all);
    const roles = own.messages.map((message) => message["message_type"]);
    expect(roles).toEqual(observed.messages.slice(0, 3).map((message) => message["message_type"]));
    expect(answer!["citations"]).toEqual({ 1: "a.md" });
  });

  it("error lines", async () => {
    const { ask } = await start();
    const own = await ask("x", { chat_session_id: "none" });
    expect(own).toEqual(linesOf(text("session-error.ndjson")));
  });
});

describe("look-ups and searches in onyx have the members of the samples", () => {
  const folder = new URL("../fixtures/samples/", import.meta.url);
  /** The first body with status 200 in a file of samples. */
  const sampleOf = (name: string): Record<string, never> => {
    const text = readFileSync(new URL(`${name}.json`, folder), "utf8");
    return (JSON.parse(text) as { responses: { body: Record<string, never> }[] }).responses[0]!
      .body;
  };
  const document = documentOf({
    sections: [{ text: "Twenty-five days of leave a year.", link: "https://a.example/leave" }],
    metadata: { team: "people" },
  });
  const filters = {};
  const calls: Record<string, [method: string, path: string, body?: object]> = {
    "size-info": ["GET", "/api/document/document-size-info?document_id=a.md"],
    "chunk-info": ["GET", "/api/document/chunk-info?document_id=a.md&chunk_id=0"],
    "valid-tags": ["GET", "/api/query/valid-tags"],
    "connector-docs": ["GET", "/api/onyx-api/connector-docs/2"],
    "admin-search": ["POST", "/api/admin/search", { query: "leave", filters }],
    search: ["POST", "/api/search", { query: "leave" }],
    "send-search-message": [
      "POST",
      "/api/search/send-search-message",
      { search_query: "leave", include_content: true },
    ],
  };

  it.each(Object.entries(calls))("%s", async (name, [method, path, body]) => {
    const sandbox = await start({ dialect: "onyx" });
    await sandbox.ingest(document);
    await sandbox.idle();
    // A list is compared by its first element, by the same way as a list in a member.
    const whole = (value: object) => (Array.isArray(value) ? { list: value } : value);
    const own = whole((await sandbox.send(method, path, body)).json());
    const sample = whole(sampleOf(name));
    expect(members(own)).toEqual(members(sample));
    for (const [member, value] of Object.entries(sample)) {
      if (!Array.isArray(value) || typeof value[0] !== "object") continue;
      const list = (own as Record<string, unknown>)[member] as object[];
      expect(members(list[0])).toEqual(members(value[0] as object));
    }
  });

  const listings: Record<string, string> = {
    agents: "/api/persona",
    "llm-providers": "/api/llm/provider",
    tools: "/api/tool",
    "session-list": "/api/chat/get-user-chat-sessions",
    "document-sets": "/api/manage/document-set",
    "user-groups": "/api/manage/user-groups/minimal",
  };

  /** The first record of each list in a value, with the members of the value itself. */
  const shapeOf = (value: unknown): object =>
    Array.isArray(value)
      ? [members(value[0] as object)]
      : Object.fromEntries(
          Object.entries(value as object).map(([name, inner]) => [
            name,
            Array.isArray(inner) ? members(inner[0] as object) : null,
          ]),
        );

  it.each(Object.entries(listings))("the listing %s", async (name, path) => {
    const sandbox = await start({ dialect: "onyx" });
    await sandbox.whole("leave");
    const own = (await sandbox.get(path)).json();
    expect(shapeOf(own)).toEqual(shapeOf(sampleOf(name)));
  });

  it("a stored session has no other members than the sample", async () => {
    const sandbox = await start({ dialect: "onyx" });
    const { chat_session_id } = await sandbox.whole("leave");
    type Session = { messages: object[] };
    const own: Session = (
      await sandbox.get(`/api/chat/get-chat-session/${chat_session_id}`)
    ).json();
    const sample: Session = sampleOf("session-detail") as never;
    expect(members(sample)).toEqual(expect.arrayContaining(members(own)));
    expect(members(sample.messages[0])).toEqual(expect.arrayContaining(members(own.messages[0])));
  });

  it("the administrators' listing of groups", async () => {
    const { get } = await start({ dialect: "onyx" });
    const url = new URL("user-groups.json", folder);
    const { responses } = JSON.parse(readFileSync(url, "utf8")) as {
      responses: { endpoint: string; body: object[] }[];
    };
    const sample = responses.find(({ endpoint }) => endpoint.endsWith("/admin/user-group"))!;
    const [own] = (await get("/api/manage/admin/user-group")).json() as object[];
    expect(members(own)).toEqual(members(sample.body[0]));
  });

  it("every pair has a name that is a text, and connectors have a listing", async () => {
    const { get } = await start({ dialect: "onyx" });
    const pairs = (await get("/api/manage/admin/connector/status")).json() as { name: unknown }[];
    expect(pairs.map(({ name }) => typeof name)).toEqual(pairs.map(() => "string"));
    const connectors = (await get("/api/manage/connector")).json() as { source: string }[];
    expect(connectors.map(({ source }) => source)).not.toContain("ingestion_api");
    expect(connectors.length).toBeGreaterThan(0);
    expect((await get("/api/user/projects")).json()).toEqual([]);
    expect((await get("/api/admin/persona")).json()).toHaveLength(1);
    expect((await get("/api/persona/0")).json()).toMatchObject({ id: 0 });
    expect((await get("/api/admin/llm/provider")).json()).toMatchObject({ providers: [{ id: 1 }] });
  });

  it("a document that is not found", async () => {
    const { get } = await start({ dialect: "onyx" });
    const answer = await get("/api/document/document-size-info?document_id=a.md");
    expect([answer.status, answer.json()]).toEqual([404, { detail: "Document not found" }]);
  });
});

describe("the client understands the sandbox", () => {
  it.each(dialects)("%s", async (dialect) => {
    const sandbox = await start({ dialect });
    const client = clientOf(sandbox, dialect);
    expect((await listConnectors(client)).map((pair) => pair.cc_pair_id)).toContain(2);
    expect((await listTools(client)).map((tool) => tool.name)).toContain("internal_search");
    const document = documentOf({ sections: [{ text: "Twenty-five days of leave a year." }] });
    const body = JSON.stringify({ document, cc_pair_id: 2 });
    expect(await upsertDocument(client, body)).toMatchObject({ already_existed: false });
    await sandbox.idle();
    const events = [];
    for await (const event of streamChat(client, { message: "leave" }))
      events.push(...[event].flat());
    expect(events.map((event) => event.kind).slice(0, 2)).toEqual(["session", "ids"]);
    expect(events.filter((event) => event.kind === "unknown" || event.kind === "failure")).toEqual(
      [],
    );
    const reply = (await askWhole(client, { message: "leave" })) as ChatReply;
    expect(reply.answer).toContain("Twenty-five days");
    const uploaded = await uploadChatFile(client, fileOf("a.txt", "text/plain", [120]));
    expect(uploaded).toMatchObject({ taken: { file_id: expect.any(String) } });
    const { taken } = uploaded as Extract<typeof uploaded, { taken: object }>;
    expect((await listFiles(client)).map((each) => each.file_id)).toEqual([taken.file_id]);
    expect(await findFileStates(client, [taken])).toMatchObject([{ status: "COMPLETED" }]);
    const image = fileOf("p.png", "image/png", [137, 80, 78, 71]);
    expect(await uploadImage(client, image)).toMatch(/^[0-9a-f-]{36}$/);
    await stopChat(client, reply.chat_session_id!);
  });

  it("reads the words of a 422", async () => {
    const { ingest } = await start();
    const answer = await ingest(documentOf({ semantic_identifier: undefined as never }));
    const body = Buffer.from(answer.text);
    expect(readServiceWords(body, "application/json", 422).text).toBe(
      "body.document.semantic_identifier: Field required",
    );
  });
});
