import { describe, expect, it } from "vitest";
import type { FaultRule } from "../../../src/sandbox/http/faults.ts";
import { defaultPairs } from "../../../src/sandbox/store/pairs/connectors.ts";
import { documentOf, key, start, type Started } from "../start.ts";

const reader = { authorization: `Bearer ${key}-reader` };
const sizePath = (id: string): string =>
  `/api/document/document-size-info?document_id=${encodeURIComponent(id)}`;
const chunkPath = (id: string, chunk: number): string =>
  `/api/document/chunk-info?document_id=${encodeURIComponent(id)}&chunk_id=${chunk}`;
const status = async (sandbox: Started, id: string, headers = {}): Promise<number> =>
  (await sandbox.get(sizePath(id), headers)).status;
const listed = async (sandbox: Started, pair: number): Promise<string[]> => {
  const answer = await sandbox.get(`/api/onyx-api/connector-docs/${pair}`);
  return (answer.json() as { document_id: string }[]).map(({ document_id }) => document_id);
};
const adminSearch = async (sandbox: Started, query: string, filters = {}) => {
  const answer = await sandbox.send("POST", "/api/admin/search", { query, filters });
  return (answer.json() as { documents: { document_id: string; hidden: boolean }[] }).documents;
};

async function withFault(index: FaultRule["do"], document = documentOf()): Promise<Started> {
  const faults = { rules: [{ when: { documentId: "a.md" }, do: index }] };
  const sandbox = await start({ dialect: "onyx", faults });
  const answer = await sandbox.ingest(document);
  expect(answer.status).toBe(200);
  await sandbox.idle();
  return sandbox;
}

describe("the chunks of a document", () => {
  it("hold every word once, and are kept apart from the title", async () => {
    const sandbox = await start({ dialect: "onyx" });
    const words = Array.from({ length: 3_000 }, (_, index) => `word${index}`);
    const sections = [0, 1, 2].map((part) => ({
      text: words.slice(part * 1_000, (part + 1) * 1_000).join(" "),
    }));
    await sandbox.ingest(documentOf({ id: "a b/c.md", title: "Wombat", sections }));
    await sandbox.idle();
    const id = "a_b%2Fc.md";
    const size = (await sandbox.get(sizePath(id))).json() as {
      num_chunks: number;
      num_tokens: number;
    };
    expect(size.num_chunks).toBeGreaterThan(5);
    const chunks: { content: string; num_tokens: number }[] = [];
    for (let index = 0; index < size.num_chunks; index += 1) {
      chunks.push((await sandbox.get(chunkPath(id, index))).json());
    }
    const text = chunks.map(({ content }) => content).join(" ");
    expect(text.match(/word\d+/g)).toEqual(words);
    expect(text).not.toContain("Wombat");
    expect(chunks.reduce((sum, chunk) => sum + chunk.num_tokens, 0)).toBe(size.num_tokens);
    expect((await sandbox.get(chunkPath(id, size.num_chunks))).json()).toEqual({
      detail: "Chunk not found",
    });
  });

  it("are one without text where there is only a title", async () => {
    const sandbox = await start({ dialect: "onyx" });
    await sandbox.ingest(documentOf({ sections: [] }));
    await sandbox.idle();
    expect((await sandbox.get(sizePath("a.md"))).json()).toEqual({ num_chunks: 1, num_tokens: 0 });
    expect((await sandbox.get(chunkPath("a.md", 0))).json()).toEqual({
      content: "",
      num_tokens: 0,
    });
  });
});

describe("who sees a document", () => {
  it("is decided by its pairs, for an administrator too", async () => {
    const pairs = [
      { access_type: "public" },
      { access_type: "private" },
      { access_type: "private", groups: [7] },
      { access_type: "sync" },
    ].map((more, at) => ({ ...defaultPairs[0]!, ...more, cc_pair_id: at + 2 }));
    pairs[2]!.credential = { ...pairs[2]!.credential, user_id: "somebody else" };
    const member = { key: "member", groups: [7] };
    const readers = [{ key: `${key}-reader` }, member];
    const sandbox = await start({ dialect: "onyx", pairs, readers });
    for (const pair of [2, 3, 4, 5]) await sandbox.ingest(documentOf({ id: `p${pair}` }), pair);
    await sandbox.idle();
    const seen = async (headers?: Record<string, string>) =>
      await Promise.all([2, 3, 4, 5].map((pair) => status(sandbox, `p${pair}`, headers)));
    expect(await seen()).toEqual([200, 200, 404, 404]);
    expect(await seen(reader)).toEqual([200, 404, 404, 404]);
    expect(await seen({ authorization: "Bearer member" })).toEqual([200, 404, 200, 404]);
  });

  it.each(["standard", "onyx"] as const)("is the same in chat: %s", async (dialect) => {
    const pairs = ["public", "private"].map((access_type, at) => ({
      ...defaultPairs[0]!,
      access_type,
      cc_pair_id: at + 2,
    }));
    const sandbox = await start({ dialect, pairs });
    const sections = [{ text: "Wombats sleep in burrows." }];
    await sandbox.ingest(documentOf({ id: "open", sections }), 2);
    await sandbox.ingest(documentOf({ id: "closed", sections }), 3);
    await sandbox.idle();
    const found = async (headers = {}) => {
      const body = { message: "wombats", stream: false };
      const answer = await sandbox.send("POST", "/api/chat/send-chat-message", body, headers);
      const { top_documents } = answer.json() as { top_documents: { document_id: string }[] };
      return top_documents.map(({ document_id }) => document_id).toSorted();
    };
    expect(await found()).toEqual(["closed", "open"]);
    expect(await found(reader)).toEqual(["open"]);
  });

  it("a reader's key is refused by the administrators' endpoints", async () => {
    const sandbox = await start({ dialect: "onyx" });
    for (const path of ["/api/manage/admin/connector/status", "/api/onyx-api/connector-docs/2"]) {
      expect((await sandbox.get(path, reader)).status).toBe(403);
    }
    const body = { query: "x", filters: {} };
    expect((await sandbox.send("POST", "/api/admin/search", body, reader)).status).toBe(403);
    expect((await sandbox.get("/api/me", reader)).json()).toMatchObject({ is_superuser: false });
  });

  it("a hidden document is found by the administrators' search with a query alone", async () => {
    const sandbox = await withFault({ index: { hidden: true } });
    expect(await status(sandbox, "a.md")).toBe(404);
    expect(await adminSearch(sandbox, "text")).toMatchObject([{ hidden: true }]);
    expect(await adminSearch(sandbox, "")).toEqual([]);
    const body = { document_id: "a.md", hidden: false };
    await sandbox.send("POST", "/api/manage/admin/doc-hidden", body);
    expect(await status(sandbox, "a.md")).toBe(200);
  });
});

describe("what goes wrong after a 200", () => {
  it("neither row nor text is stored", async () => {
    const sandbox = await withFault({ index: { keeps: "nothing" } });
    expect(await status(sandbox, "a.md")).toBe(404);
    expect(await listed(sandbox, 2)).toEqual([]);
  });

  it("the row is stored, the text is not, and the same text again is stored", async () => {
    const rule = { when: { documentId: "a.md", nth: 1 }, do: { index: { keeps: "row" } } } as const;
    const sandbox = await start({ dialect: "onyx", faults: { rules: [rule] } });
    const document = documentOf({ doc_updated_at: "2026-01-01T00:00:00Z" });
    expect((await sandbox.ingest(document)).json()).toMatchObject({ already_existed: true });
    await sandbox.idle();
    expect([await status(sandbox, "a.md"), await listed(sandbox, 2)]).toEqual([404, ["a.md"]]);
    await sandbox.ingest(document);
    await sandbox.idle();
    expect(await status(sandbox, "a.md")).toBe(200);
  });

  it("the text of an earlier version stays", async () => {
    const rules = [
      { when: { documentId: "a.md" }, do: { index: { keeps: "old" } } },
    ] as const satisfies FaultRule[];
    const sandbox = await start({ dialect: "onyx", faults: { rules } });
    await sandbox.ingest(documentOf());
    await sandbox.ingest(documentOf({ sections: [{ text: "Newer." }] }));
    await sandbox.idle();
    expect((await sandbox.get(chunkPath("a.md", 0))).json()).toMatchObject({
      content: "Some text.",
    });
  });

  it("the document moves to a private pair of somebody else", async () => {
    const sandbox = await withFault({ index: { private: true } });
    expect(await status(sandbox, "a.md")).toBe(404);
    expect([await listed(sandbox, 2), await listed(sandbox, 5)]).toEqual([[], ["a.md"]]);
    expect(await adminSearch(sandbox, "text")).toEqual([]);
  });

  it("the document is missing in the listings alone", async () => {
    const sandbox = await withFault({ index: { unlisted: true } });
    expect([await status(sandbox, "a.md"), await listed(sandbox, 2)]).toEqual([200, []]);
  });

  it("the text appears after some look-ups, or after some time", async () => {
    const counted = await withFault({ index: { delayRequests: 3 } });
    expect(await adminSearch(counted, "text")).toEqual([]);
    const looks = [];
    for (let look = 0; look < 3; look += 1) looks.push(await status(counted, "a.md"));
    expect(looks).toEqual([404, 404, 200]);
    let now = 1_000_000;
    const clock = { now: () => now, sleep: () => Promise.resolve(), random: () => 0 };
    const rules = [{ do: { index: { delayMs: 5_000 } } }];
    const timed = await start({ dialect: "onyx", clock, faults: { rules } });
    await timed.ingest(documentOf());
    await timed.idle();
    expect(await status(timed, "a.md")).toBe(404);
    now += 5_000;
    expect(await status(timed, "a.md")).toBe(200);
  });

  it("an endpoint refuses every key, one key, or does not exist", async () => {
    const own = { when: { path: "/api/tool", key }, do: { status: 403 } };
    const faults = { denied: ["/admin/search"], missing: ["/search"], rules: [own] };
    const sandbox = await start({ dialect: "onyx", faults });
    const post = async (path: string, body: object) =>
      (await sandbox.send("POST", path, body)).status;
    expect(await post("/api/admin/search", { query: "x", filters: {} })).toBe(403);
    expect(await post("/api/search", { query: "x" })).toBe(404);
    expect(await post("/api/search/send-search-message", { search_query: "x" })).toBe(200);
    const tool = async (headers = {}) => (await sandbox.get("/api/tool", headers)).status;
    expect([await tool(), await tool(reader)]).toEqual([403, 200]);
  });
});

describe("tags", () => {
  it("are listed by prefix, also of a document whose text was lost", async () => {
    const metadata = { team: "people", topic: ["leave", "holiday"] };
    const sandbox = await withFault({ index: { keeps: "row" } }, documentOf({ metadata }));
    const tags = async (query: string) =>
      (
        (await sandbox.get(`/api/query/valid-tags${query}`)).json() as {
          tags: { tag_value: string }[];
        }
      ).tags.map(({ tag_value }) => tag_value);
    expect(await tags("")).toEqual(["people", "holiday", "leave"]);
    expect(await tags("?match_pattern=to%3DLE")).toEqual(["leave"]);
    expect(await tags("?match_pattern=peo")).toEqual(["people"]);
    expect(await tags("?limit=1")).toEqual(["people"]);
  });
});

describe("searches", () => {
  const ingest = async (): Promise<Started> => {
    const sandbox = await start({ dialect: "onyx" });
    const metadata = { version: "v1" };
    await sandbox.ingest(documentOf({ sections: [{ text: "Leave is ten days." }], metadata }));
    await sandbox.ingest(documentOf({ id: "b.md", sections: [{ text: "Leave a note." }] }));
    await sandbox.idle();
    return sandbox;
  };

  it("an empty query of the administrators' search is the filter alone", async () => {
    const sandbox = await ingest();
    const tags = [{ tag_key: "version", tag_value: "v1" }];
    expect(await adminSearch(sandbox, "", { tags })).toMatchObject([{ document_id: "a.md" }]);
    expect(await adminSearch(sandbox, "leave")).toHaveLength(2);
  });

  it("mark the words, and send the content where asked to", async () => {
    const { send } = await ingest();
    const body = { search_query: "leave", include_content: true, num_hits: 1 };
    const { search_docs } = (
      await send("POST", "/api/search/send-search-message", body)
    ).json() as { search_docs: object[] };
    const match_highlights = [expect.stringContaining("<hi>Leave</hi>")];
    expect(search_docs).toMatchObject([
      { chunk_ind: 0, content: expect.any(String), match_highlights },
    ]);
  });

  it("stream lines, and an unknown set is an error under 200 there", async () => {
    const { send } = await ingest();
    const lines = async (more: object): Promise<string[]> => {
      const body = { search_query: "leave", stream: true, ...more };
      const { status: code, text } = await send("POST", "/api/search/send-search-message", body);
      expect(code).toBe(200);
      return text
        .trimEnd()
        .split("\n")
        .map((line) => (JSON.parse(line) as { type: string }).type);
    };
    expect(await lines({})).toEqual(["search_queries", "search_docs"]);
    expect(await lines({ num_docs_fed_to_llm_selection: 5 })).toContain("llm_selected_docs");
    expect(await lines({ filters: { document_set: ["none"] } })).toEqual(["search_error"]);
  });

  it("name their cost in model calls", async () => {
    const { send, ledger } = await ingest();
    const cost = async (path: string, body: object): Promise<number> => {
      const before = ledger.modelCalls;
      await send("POST", path, body);
      return ledger.modelCalls - before;
    };
    expect(await cost("/api/admin/search", { query: "leave", filters: {} })).toBe(0);
    const message = "/api/search/send-search-message";
    expect(await cost(message, { search_query: "leave" })).toBe(0);
    expect(await cost(message, { search_query: "leave", run_query_expansion: true })).toBe(1);
    expect(await cost("/api/search", { query: "leave" })).toBe(7);
    expect(await cost("/api/search", { query: "none" })).toBe(4);
    expect(await cost("/api/search", { query: "none", skip_query_expansion: true })).toBe(2);
  });
});
