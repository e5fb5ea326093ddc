import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { readServiceWords } from "../../../src/api/answers/words.ts";
import { upsertDocument } from "../../../src/api/documents.ts";
import { type UploadFile, uploadImage } from "../../../src/api/files.ts";
import type { IngestionRequest } from "../../../src/api/schemas.ts";
import { imagePlaceholder } from "../../../src/documents/map/images/image-sections.ts";
import { type LocalImage, readImageBytes } from "../../../src/documents/map/images/images.ts";
import { compileSettings } from "../../../src/documents/map/settings.ts";
import { readDocumentSync } from "../../../src/documents/inspect/read.ts";
import type { FaultRule } from "../../../src/sandbox/http/faults.ts";
import { defaultPairs } from "../../../src/sandbox/store/seeds.ts";
import { closeAll, openClient } from "../../api/support.ts";
import { createFolder, fileIn } from "../../documents/folder.ts";
import { documentOf, key, start, type Started } from "../start.ts";

describe("uploads", () => {
  describe("accepting a document", () => {
    it.each(["standard", "onyx"] as const)("%s: creates, then updates", async (dialect) => {
      const { ingest, ledger } = await start({ dialect });
      const first = await ingest(documentOf({ id: "guides/leave policy.md" }));
      const id = "guides%2Fleave_policy.md";
      expect([first.status, first.json()]).toEqual([
        200,
        { document_id: id, already_existed: false },
      ]);
      const second = await ingest(
        documentOf({ id: "guides/leave policy.md", semantic_identifier: "B" }),
      );
      expect(second.json()).toEqual({ document_id: id, already_existed: true });
      const bodies = ledger.documents.get("guides/leave policy.md");
      expect(bodies?.map((body) => body.document.semantic_identifier)).toEqual(["A", "B"]);
    });

    it("takes a document without an id by its title", async () => {
      const { send, ingest } = await start();
      const { id: _, ...document } = documentOf({ semantic_identifier: "Leave & more" });
      const answer = await ingest(document);
      expect(answer.json()).toEqual({
        document_id: "ingestion_api_Leave_%26_more",
        already_existed: false,
      });
      const empty = await send("POST", "/api/svc-api/ingestion", {
        document: { ...document, id: "" },
      });
      expect(empty.json()).toMatchObject({ already_existed: true });
    });

    it.each(["__proto__", "constructor", "toString", "a'b\"c;--", "%s", "\u0000", "日本語"])(
      "%j is just an id",
      async (id) => {
        const { ingest, ledger, send } = await start({ dialect: "onyx" });
        const { document_id: stored } = (await ingest(documentOf({ id }))).json() as {
          document_id: string;
        };
        expect(ledger.documents.get(id)).toHaveLength(1);
        expect((await ingest(documentOf({ id }))).json()).toMatchObject({ already_existed: true });
        const gone = await send("DELETE", `/api/onyx-api/ingestion/${encodeURIComponent(stored)}`);
        expect([gone.status, gone.text]).toEqual([200, "null"]);
      },
    );

    it("keeps documents and their index over a restart", async () => {
      const first = await start({ dialect: "onyx" });
      await first.ingest(documentOf({ sections: [{ text: "Wombats dig burrows." }] }));
      // Closed with the document still waiting for the index.
      await first.close();
      const second = await start({ dialect: "onyx", dataFolder: first.dataFolder });
      await second.idle();
      expect((await second.whole("wombats")).answer).toContain("Wombats dig burrows.");
      expect((await second.ingest(documentOf())).json()).toMatchObject({ already_existed: true });
    });

    it("replaces the whole text", async () => {
      const { ingest, whole, idle } = await start();
      await ingest(documentOf({ sections: [{ text: "Wombats dig." }, { text: "Koalas sleep." }] }));
      await idle();
      await ingest(documentOf({ sections: [{ text: "Emus run." }] }));
      await idle();
      expect((await whole("koalas")).top_documents).toEqual([]);
      expect((await whole("emus")).answer).toContain("Emus run.");
    });

    it("keeps a group of simultaneous uploads apart, good and bad", async () => {
      const { ingest, ledger } = await start();
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, index) =>
          ingest(documentOf({ id: `d${index}` }), index % 10 === 3 ? 999 : 2),
        ),
      );
      const bad = answers.flatMap(({ status }, index) => (status === 404 ? [index % 10] : []));
      expect(bad).toEqual(Array(20).fill(3));
      expect(ledger.documents.size).toBe(180);
      expect(ledger.attempts.size).toBe(200);
    });
  });

  describe("refusing a document", () => {
    it.each([
      [
        "a missing title",
        { semantic_identifier: undefined },
        "semantic_identifier: Field required",
      ],
      ["a null title", { semantic_identifier: null }, "semantic_identifier: Not a valid string"],
      ["a number as id", { id: 1 }, "id: Not a valid string"],
      ["missing sections", { sections: undefined }, "sections: Field required"],
      ["sections that are none", { sections: "x" }, "sections: Not a valid array"],
      ["a section of text", { sections: ["x"] }, "sections.0: Not a valid object"],
      ["a link alone", { sections: [{ link: "x" }] }, "sections.0: Needs a text"],
      ["a text that is a number", { sections: [{ text: 1 }] }, "sections.0: Needs a text"],
      ["a link that is a number", { sections: [{ text: "", link: 1 }] }, "sections.0.link: Not a"],
      ["missing metadata", { metadata: undefined }, "metadata: Field required"],
      ["a time that is none", { doc_updated_at: "yesterday" }, "doc_updated_at: Not a valid time"],
      ["an impossible day", { doc_updated_at: "2026-02-30T00:00:00Z" }, "doc_updated_at: Not a"],
      ["an owner of text", { primary_owners: ["x"] }, "primary_owners.0: Not a valid object"],
    ] as [string, object, string][])("%s", async (_, change, problem) => {
      for (const dialect of ["standard", "onyx"] as const) {
        const { ingest, ledger } = await start({ dialect });
        const answer = await ingest(documentOf(change));
        expect(answer.status).toBe(422);
        expect(answer.json()).toMatchObject({ status_code: 422, data: null });
        const { text } = readServiceWords(Buffer.from(answer.text), "application/json", 422);
        expect(text).toContain(`body.document.${problem}`);
        expect(ledger.documents.size).toBe(0);
        expect([...ledger.attempts.values()]).toEqual([1]);
      }
    });

    it.each([
      ["standard", { sections: [] }, 422],
      ["onyx", { sections: [] }, 200],
      ["standard", { source: undefined }, 422],
      ["onyx", { source: undefined }, 200],
      ["standard", { source: "our_own" }, 200],
      ["onyx", { source: "our_own" }, 422],
      ["standard", { metadata: null }, 422],
      ["onyx", { metadata: null }, 500],
      ["onyx", { metadata: [] }, 500],
      ["onyx", { doc_updated_at: 1_767_225_600 }, 200],
      ["onyx", { doc_updated_at: "2026-01-01" }, 200],
      ["standard", { sections: [{ image_file_id: "none" }] }, 400],
      ["onyx", { sections: [{ image_file_id: "none" }] }, 200],
      ["onyx", { sections: [{ csv_file_id: "x" }] }, 422],
      ["onyx", { chunk_count: 3, from_ingestion_api: "true", invented: {} }, 200],
    ] as const)("%s takes %j with %i", async (dialect, change, status) => {
      const { ingest } = await start({ dialect });
      expect((await ingest(documentOf(change as object))).status).toBe(status);
    });

    it.each([
      ["broken JSON", "{", "application/json"],
      ["no JSON at all", "", "application/json"],
      ["another content type", "{}", "text/plain"],
      ["a form", "a=1", "application/x-www-form-urlencoded"],
    ])("%s is 422", async (_, body, type) => {
      const { send } = await start();
      const answer = await send("POST", "/api/svc-api/ingestion", body, { "content-type": type });
      expect([answer.status, answer.json()]).toMatchObject([422, { status_code: 422 }]);
    });

    it.each([
      ["standard", { detail: "Connector-credential pair 99 not found" }],
      [
        "onyx",
        { error_code: "CONNECTOR_NOT_FOUND", detail: "Connector-credential pair 99 not found" },
      ],
    ] as const)("%s: an unknown pair", async (dialect, body) => {
      const { ingest } = await start({ dialect });
      const answer = await ingest(documentOf(), 99);
      expect([answer.status, answer.json()]).toEqual([404, body]);
    });

    it.each([0, null, undefined, "2", 2, true])("pair %j is accepted", async (pair) => {
      const { ingest } = await start();
      expect((await ingest(documentOf(), pair)).status).toBe(200);
    });

    it.each([1.5, "x", []])("pair %j is 422", async (pair) => {
      const { ingest } = await start();
      expect((await ingest(documentOf(), pair)).status).toBe(422);
    });

    it("knows the paths of its own dialect only", async () => {
      const standard = await start();
      const onyx = await start({ dialect: "onyx" });
      const absent = { detail: "404: Not Found" };
      expect((await standard.send("POST", "/api/onyx-api/ingestion", {})).json()).toEqual(absent);
      expect((await standard.get("/api/onyx-api/ingestion")).json()).toEqual(absent);
      expect((await onyx.send("POST", "/api/svc-api/ingestion", {})).json()).toEqual(absent);
    });
  });

  describe("NUL", () => {
    it("is taken out of every text", async () => {
      const { ingest, idle, whole } = await start();
      await ingest(
        documentOf({
          semantic_identifier: "A\0B",
          metadata: { "k\0": "v\0", list: ["x\0y"] },
          sections: [{ text: "wom\0bat", link: "https://a/\0b" }],
        }),
      );
      await idle();
      expect((await whole("wombat")).top_documents).toMatchObject([
        {
          semantic_identifier: "AB",
          metadata: { k: "v", list: ["xy"] },
          link: "https://a/b",
          blurb: "wombat",
        },
      ]);
    });
  });

  describe("metadata", () => {
    it("becomes text as Python writes it", async () => {
      const { ingest, whole, idle } = await start();
      const metadata = { a: null, b: true, c: 3, d: { x: 1 }, e: [1, "two", false], f: "plain" };
      await ingest(documentOf({ metadata: metadata as never, sections: [{ text: "wombat" }] }));
      await idle();
      expect((await whole("wombat")).top_documents?.[0]?.["metadata"]).toEqual({
        a: "None",
        b: "True",
        c: "3",
        d: "{'x': 1}",
        e: ["1", "two", "False"],
        f: "plain",
      });
    });
  });

  describe("the skip rule of onyx", () => {
    const at = "2026-01-01T00:00:00Z";
    it.each([
      ["unchanged", {}, true],
      ["a metadata change", { metadata: { team: "people" } }, true],
      ["another link", { sections: [{ text: "wombat", link: "https://b" }] }, true],
      ["another text", { sections: [{ text: "wombat two" }] }, false],
      ["another title", { title: "T" }, false],
      ["other owners", { primary_owners: [{ email: "a@b" }] }, false],
      ["a later time", { doc_updated_at: "2026-01-02T00:00:00Z" }, false],
      ["an earlier time", { doc_updated_at: "2025-01-02T00:00:00Z" }, true],
      ["no time", { doc_updated_at: undefined }, false],
      ["a time without offset", { doc_updated_at: "2027-01-01T00:00:00", title: "T" }, true],
    ] as [string, object, boolean][])("%s", async (_, change, skipped) => {
      const { ingest, idle, whole } = await start({ dialect: "onyx" });
      const base = documentOf({ title: "T0", doc_updated_at: at, sections: [{ text: "wombat" }] });
      await ingest(base);
      const again = await ingest({ ...base, ...change, semantic_identifier: "CHANGED" });
      expect(again.json()).toMatchObject({ already_existed: true });
      await idle();
      const [found] = (await whole("wombat")).top_documents ?? [];
      expect(found?.semantic_identifier).toBe(skipped ? "A" : "CHANGED");
    });

    it("leaves a metadata-only change unapplied, silently", async () => {
      const { ingest, idle, whole } = await start({ dialect: "onyx" });
      const base = documentOf({ doc_updated_at: at, sections: [{ text: "wombat" }] });
      await ingest(base);
      await ingest({ ...base, metadata: { team: "people" } });
      await idle();
      expect((await whole("wombat")).top_documents?.[0]?.["metadata"]).toEqual({});
    });

    it("does not exist in standard", async () => {
      const { ingest, idle, whole } = await start();
      const base = documentOf({ doc_updated_at: at, sections: [{ text: "wombat" }] });
      await ingest(base);
      await ingest({ ...base, metadata: { team: "people" } });
      await idle();
      expect((await whole("wombat")).top_documents?.[0]?.["metadata"]).toEqual({ team: "people" });
    });
  });

  describe("listing and deleting in onyx", () => {
    it("lists, by pair too, and deletes by the id encoded once more", async () => {
      const { ingest, get, send, whole, idle } = await start({ dialect: "onyx" });
      await ingest(
        documentOf({ id: "a/b c", sections: [{ text: "wombat", link: "https://a" }] }),
        2,
      );
      await ingest(documentOf({ id: "z" }), 7);
      await idle();
      const first = { document_id: "a%2Fb_c", semantic_id: "A", link: "https://a" };
      expect((await get("/api/onyx-api/ingestion")).json()).toEqual([
        first,
        { document_id: "z", semantic_id: "A", link: null },
      ]);
      expect((await get("/api/onyx-api/connector-docs/2")).json()).toEqual([first]);
      expect((await get("/api/onyx-api/connector-docs/99")).status).toBe(403);
      const size = "/api/document/document-size-info?document_id=a%252Fb_c";
      expect((await get(size)).json()).toMatchObject({ num_chunks: 1 });
      // Encoded only once it is another path.
      expect((await send("DELETE", "/api/onyx-api/ingestion/a%2Fb_c")).status).toBe(404);
      expect((await send("DELETE", "/api/onyx-api/ingestion/a%252Fb_c")).status).toBe(200);
      const again = await send("DELETE", "/api/onyx-api/ingestion/a%252Fb_c");
      expect([again.status, again.json()]).toMatchObject([
        404,
        { error_code: "DOCUMENT_NOT_FOUND" },
      ]);
      expect((await get(size)).status).toBe(404);
      expect((await whole("wombat")).top_documents).toEqual([]);
    });

    it("adds a pair to a document that comes under another one", async () => {
      const { ingest, get } = await start({ dialect: "onyx" });
      await ingest(documentOf(), 2);
      await ingest(documentOf({ title: "new" }), 7);
      for (const pair of [2, 7]) {
        expect((await get(`/api/onyx-api/connector-docs/${pair}`)).json()).toHaveLength(1);
      }
    });

    it("refuses the id of an uploaded file", async () => {
      const { send, ingest } = await start({ dialect: "onyx" });
      const form = new FormData();
      form.append("files", new File(["text"], "a.txt", { type: "text/plain" }));
      const upload = await send("POST", "/api/user/projects/file/upload", form);
      const { user_files } = upload.json() as { user_files: { id: string }[] };
      const answer = await ingest(documentOf({ id: user_files[0]!.id }));
      expect([answer.status, answer.json()]).toMatchObject([
        400,
        { error_code: "VALIDATION_ERROR" },
      ]);
    });
  });

  describe("the ledger", () => {
    const body = documentOf() as unknown as IngestionRequest["document"];
    it.each([
      ["full", 1, 1, 1],
      ["off", 0, 0, 0],
    ] as const)("in mode %s", async (ledger, documents, attempts, requests) => {
      const sandbox = await start({ ledger });
      await sandbox.ingest(body as never);
      const seen = sandbox.ledger;
      expect([seen.documents.size, seen.attempts.size, seen.requests.length]).toEqual([
        documents,
        attempts,
        requests,
      ]);
      expect([seen.requestCount, seen.maxInFlight]).toEqual([1, 1]);
    });
  });
});

describe("look-ups and searches", () => {
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
      expect((await sandbox.get(sizePath("a.md"))).json()).toEqual({
        num_chunks: 1,
        num_tokens: 0,
      });
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
      const rule = {
        when: { documentId: "a.md", nth: 1 },
        do: { index: { keeps: "row" } },
      } as const;
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
});

describe("images", () => {
  afterEach(closeAll);

  const paths = {
    standard: "/api/user/file/upload",
    onyx: "/api/manage/admin/connector/file/upload",
  } as const;

  const pngOf = (text: string): Buffer =>
    Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.from(text)]);

  function uploadOf(root: string, image: LocalImage): UploadFile {
    const { name, mime, sizeBytes } = image;
    return {
      name,
      type: mime,
      sizeBytes,
      async *bytes() {
        yield readImageBytes(root, image);
      },
    };
  }

  function project(): string {
    const outside = createFolder({ "secret.png": pngOf("CANARY") });
    const text =
      `![a](img/a.png) ![b](../..${outside}/secret.png) ![c](${outside}/secret.png) ` +
      `![d](file://${outside}/secret.png) ![e](img/linked/secret.png) ![f](img/a.png)`;
    const root = createFolder({ "page.md": text, "img/a.png": pngOf("one") });
    symlinkSync(outside, join(root, "img/linked"));
    return root;
  }

  describe.each(["standard", "onyx"] as const)("images of a document in %s", (dialect) => {
    it("are uploaded and named; what lies outside the project stays there", async () => {
      const sandbox = await start({ dialect });
      const client = openClient(sandbox.url, { dialect, accessToken: key, apiKey: key });
      const root = project();
      const settings = compileSettings({ root, images: "upload" });
      const reading = readDocumentSync(fileIn(root, "page.md"), settings);
      if (reading.kind !== "document") throw new Error(reading.reason);
      let body = JSON.stringify({ document: reading.document, cc_pair_id: 2 });
      for (const image of reading.uploads ?? []) {
        const id = await uploadImage(client, uploadOf(root, image), { isRemembered: true });
        const member = (value: string): string => `"image_file_id":${JSON.stringify(value)}`;
        body = body.replaceAll(member(imagePlaceholder(image.sha256)), member(id));
      }
      await upsertDocument(client, body);
      const { documents, requests } = sandbox.ledger;
      const [taken] = documents.get("page.md") ?? [];
      expect(taken?.document.sections).toEqual([
        { text: readFileSync(join(root, "page.md"), "utf8") },
        { image_file_id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
      ]);
      expect(
        requests.map(({ path }) => path).filter((path) => path === paths[dialect]),
      ).toHaveLength(1);
      expect(reading.warnings).toHaveLength(4);
      expect(reading.images).toBe(4);
    });
  });

  it("a placeholder that nobody replaced is refused", async () => {
    const sandbox = await start({ dialect: "standard" });
    const sections = [{ text: "x" }, { image_file_id: imagePlaceholder("0".repeat(64)) }];
    const document = { id: "a", semantic_identifier: "a", source: "file", metadata: {}, sections };
    expect((await sandbox.ingest(document)).status).toBe(400);
  });
});
