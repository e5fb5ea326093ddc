import { describe, expect, it } from "vitest";
import type { IngestionRequest } from "../../../src/api/schemas.ts";
import { readServiceWords } from "../../../src/api/answers/words.ts";
import { documentOf, start } from "../start.ts";

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
    ["a missing title", { semantic_identifier: undefined }, "semantic_identifier: Field required"],
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
    await ingest(documentOf({ id: "a/b c", sections: [{ text: "wombat", link: "https://a" }] }), 2);
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
    expect([again.status, again.json()]).toMatchObject([404, { error_code: "DOCUMENT_NOT_FOUND" }]);
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
    expect([answer.status, answer.json()]).toMatchObject([400, { error_code: "VALIDATION_ERROR" }]);
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
