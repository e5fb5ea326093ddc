import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { holdTime } from "../../held-time.ts";
import { documentOf, start, type Started } from "../start.ts";

describe("the state of pairs", () => {
  interface Response {
    endpoint: string;
    body: never;
  }

  const samplesOf = (name: string): Response[] => {
    const url = new URL(`../../fixtures/samples/${name}.json`, import.meta.url);
    return (JSON.parse(readFileSync(url, "utf8")) as { responses: Response[] }).responses;
  };
  const bodyOf = (name: string, endpoint: string): never =>
    samplesOf(name).find((each) => each.endpoint.endsWith(endpoint))!.body;
  const members = (value: unknown): string[] => Object.keys(value as object).toSorted();

  const listing = "/api/manage/admin/connector/indexing-status";
  const pair = "/api/manage/admin/cc-pair";

  interface Group {
    source: string;
    summary: Record<string, number>;
    total_pages: number;
    indexing_statuses: Record<string, unknown>[];
  }
  type Page = { items: Record<string, unknown>[]; total_items: number };

  describe("onyx: the sandbox's state of the pairs", () => {
    it("has the members of the service, in every answer", async () => {
      const { send, get } = await start({ dialect: "onyx" });
      const [group] = (await send("POST", listing, {})).json() as Group[];
      const [expected] = bodyOf("indexing-status", "/indexing-status") as Group[];
      expect(members(group)).toEqual(members(expected));
      expect(members(group!.summary)).toEqual(members(expected!.summary));
      expect(members(group!.indexing_statuses[0])).toEqual(members(expected!.indexing_statuses[0]));
      const read = async (path: string) => (await get(path)).json() as object;
      expect(members(await read(`${pair}/6`))).toEqual(members(bodyOf("cc-pair", "/{id}")));
      const itemOf = (page: object) => members((page as Page).items[0]);
      expect(itemOf(await read(`${pair}/6/index-attempts`))).toEqual(
        itemOf(bodyOf("cc-pair", "/index-attempts")),
      );
      const errors = bodyOf("index-errors", "/failed-documents");
      expect(itemOf(await read(`${pair}/6/errors`))).toEqual(itemOf(errors));
      expect(itemOf(await read("/api/manage/admin/indexing/failed-documents"))).toEqual(
        itemOf(errors),
      );
      const failing = (await read(
        "/api/manage/admin/connector/failed-indexing-status",
      )) as object[];
      expect(members(failing[0])).toEqual(
        members((bodyOf("index-errors", "/failed-indexing-status") as object[])[0]),
      );
    });

    it("counts what is indexed, and lists what waits", async () => {
      const { send, get, ingest, idle } = await start({ dialect: "onyx" });
      await ingest(documentOf({ id: "a b.md" }));
      await idle();
      // The indexer starts some milliseconds after an upload.
      const pass = holdTime();
      await ingest(documentOf({ id: "b.md" }));
      const sync = (await get(`${pair}/2/get-docs-sync-status`)).json() as Record<
        string,
        unknown
      >[];
      expect(members(sync[0])).toEqual(
        members((bodyOf("cc-pair", "/get-docs-sync-status") as object[])[0]),
      );
      expect(sync).toMatchObject([
        { doc_id: "a_b.md", last_synced: expect.any(String) },
        { doc_id: "b.md", last_synced: null },
      ]);
      const indexed = idle();
      pass(1_000);
      await indexed;
      const [group] = (await send("POST", listing, { source: "ingestion_api" })).json() as Group[];
      // Uploads leave no attempt: only the number moves.
      expect(group!.indexing_statuses[0]).toMatchObject({
        cc_pair_id: 2,
        cc_pair_status: "SCHEDULED",
        docs_indexed: 2,
        last_status: null,
        last_success: null,
      });
      expect((await get(`${pair}/2/index-attempts`)).json()).toEqual({ items: [], total_items: 0 });
    });

    it("pages by ten a source, and leaves out a source with nothing on its page", async () => {
      const { send } = await start({ dialect: "onyx" });
      const connector = { input_type: "load_state", connector_specific_config: {} };
      for (let index = 0; index < 9; index++) {
        await send("POST", "/api/manage/admin/connector-with-mock-credential", {
          ...connector,
          name: `Uploads ${index}`,
          source: "ingestion_api",
          access_type: "public",
        });
      }
      const list = async (body: object): Promise<Group[]> =>
        (await send("POST", listing, body)).json();
      const uploads = (groups: Group[]) => groups.find(({ source }) => source === "ingestion_api");
      expect(uploads(await list({}))).toMatchObject({ current_page: 1, total_pages: 2 });
      expect(uploads(await list({}))!.indexing_statuses).toHaveLength(10);
      expect(uploads(await list({ get_all_connectors: true }))!.indexing_statuses).toHaveLength(11);
      const second = await list({ source_to_page: { ingestion_api: 2, web: 2 } });
      expect(uploads(second)!.indexing_statuses).toHaveLength(1);
      expect(second.map(({ source }) => source)).not.toContain("web");
      expect(await list({ name_filter: "wiki", access_type_filters: ["sync"] })).toHaveLength(1);
    });

    it("starts another fetch of documents whose connector can fetch one", async () => {
      const { send } = await start({ dialect: "onyx" });
      const path = "/api/manage/admin/indexing/targeted-reindex";
      // Error 3 is one of the wiki; pair 2 has uploads only.
      const targets = [{ cc_pair_id: 2, document_id: "a" }];
      const answer = (await send("POST", path, { error_ids: [3, 99], targets })).json() as object;
      expect(answer).toEqual({ targeted_reindex_job_id: 1, queued_count: 1, skipped_count: 2 });
      expect(members(answer)).toEqual(members(bodyOf("index-errors", "/targeted-reindex")));
      const many = Array.from({ length: 101 }, (_, index) => index);
      expect((await send("POST", path, { error_ids: many })).status).toBe(400);
    });

    it("tells an unknown pair as the service does", async () => {
      const { send, get } = await start({ dialect: "onyx" });
      const status = async (path: string): Promise<unknown> => {
        const { status: code, text } = await get(`${pair}/99${path}`);
        return [code, (JSON.parse(text) as { error_code?: string }).error_code];
      };
      expect(await status("")).toEqual([404, "NOT_FOUND"]);
      expect(await status("/index-attempts")).toEqual([403, "INSUFFICIENT_PERMISSIONS"]);
      expect(await status("/errors")).toEqual([200, undefined]);
      expect(await status("/get-docs-sync-status")).toEqual([400, undefined]);
      await send("PUT", `${pair}/2/status`, { status: "PAUSED" });
      expect((await get(`${pair}/2`)).json()).toMatchObject({ status: "PAUSED" });
    });
  });
});

describe("document sets", () => {
  const path = "/api/manage/admin/document-set";
  const listing = "/api/manage/document-set";
  const set = { name: "Notes", description: "All notes", cc_pair_ids: [7], is_public: true };
  const asReader = { authorization: "Bearer reader" };
  const readers = [{ key: "reader", groups: [7] }];

  const names = async ({ get }: Started, headers?: Record<string, string>): Promise<string[]> =>
    ((await get(listing, headers)).json() as { name: string }[]).map(({ name }) => name);

  describe("onyx: document sets", () => {
    it("have the members of the service", async () => {
      const url = new URL("../../fixtures/samples/document-sets.json", import.meta.url);
      const sample = JSON.parse(readFileSync(url, "utf8")) as { responses: { body: never }[] };
      const [expected] = sample.responses[0]!.body as [{ cc_pair_summaries: object[] }];
      const { get } = await start({ dialect: "onyx" });
      const [own] = (await get(listing)).json() as [{ cc_pair_summaries: object[] }];
      const members = (value: object | undefined): string[] => Object.keys(value ?? {}).toSorted();
      expect(members(own)).toEqual(members(expected));
      expect(members(own.cc_pair_summaries[0])).toEqual(members(expected.cc_pair_summaries[0]));
    });

    it("are created, changed, deleted, and kept for the next start", async () => {
      const first = await start({ dialect: "onyx" });
      expect((await first.send("POST", path, set)).json()).toBe(2);
      const changed = { ...set, id: 1, name: "Rules", users: [], groups: [] };
      expect((await first.send("PATCH", path, changed)).text).toBe("null");
      expect(await names(first)).toEqual(["Rules", "Notes"]);
      expect((await first.send("DELETE", `${path}/1`)).text).toBe("null");
      for (const answer of [
        await first.send("DELETE", `${path}/1`),
        await first.send("PATCH", path, changed),
      ]) {
        expect(answer.status).toBe(404);
        expect(answer.json()).toMatchObject({ error_code: "DOCUMENT_SET_NOT_FOUND" });
      }
      const nothing = await first.send("POST", path, { ...set, cc_pair_ids: [] });
      expect(nothing.json()).toMatchObject({ error_code: "VALIDATION_ERROR" });
      await first.close();
      const second = await start({ dialect: "onyx", dataFolder: first.dataFolder });
      expect(await names(second)).toEqual(["Notes"]);
      // An id is not used again.
      expect((await second.send("POST", path, { ...set, name: "More" })).json()).toBe(3);
    });

    it("a private set is visible to its users and groups, and to administrators", async () => {
      const sandbox = await start({ dialect: "onyx", readers });
      const add = (name: string, more: object) =>
        sandbox.send("POST", path, { ...set, name, is_public: false, ...more });
      await add("None", {});
      await add("Group", { groups: [7] });
      await add("User", { users: ["0b7c2a51-9d0e-4b8f-8c63-1f5a7e24d902"] });
      await add("Others", { groups: [8] });
      expect(await names(sandbox)).toEqual(["Handbook", "None", "Group", "User", "Others"]);
      expect(await names(sandbox, asReader)).toEqual(["Handbook", "Group", "User"]);
      expect((await sandbox.get(`${listing}?get_editable=true`, asReader)).json()).toEqual([]);
      expect((await sandbox.send("POST", path, set, asReader)).status).toBe(403);
      const search = (name: string) => ({ search_query: "x", filters: { document_set: [name] } });
      const status = async (name: string): Promise<number> =>
        (await sandbox.send("POST", "/api/search/send-search-message", search(name), asReader))
          .status;
      expect([await status("Group"), await status("Others")]).toEqual([200, 403]);
    });

    it("limit a search and an answer to their pairs at once", async () => {
      const { send, ingest, idle, whole } = await start({ dialect: "onyx" });
      const sections = [{ text: "Twenty-five days of leave." }];
      await ingest(documentOf({ id: "a.md", sections }), 2);
      await ingest(documentOf({ id: "b.md", sections }), 7);
      await idle();
      await send("POST", path, set);
      const answer = await send("POST", "/api/search", {
        query: "leave",
        document_sets: ["Notes"],
      });
      expect((answer.json() as { results: object[] }).results).toHaveLength(1);
      const reply = await whole("leave", { internal_search_filters: { document_set: ["Notes"] } });
      expect(reply.top_documents!.map((each) => each.document_id)).toEqual(["b.md"]);
    });
  });
});

describe("connectors", () => {
  const wire = JSON.parse(
    readFileSync(new URL("../../fixtures/wire/create-connector.json", import.meta.url), "utf8"),
  ) as Record<string, Record<string, unknown>>;

  const members = (value: unknown): string[] => Object.keys(value as object).toSorted();

  const body = {
    name: "Docs",
    source: "ingestion_api",
    input_type: "load_state",
    connector_specific_config: {},
    refresh_freq: null,
    prune_freq: null,
    indexing_start: null,
    access_type: "public",
    groups: [],
  };

  const whole = "/api/manage/admin/connector-with-mock-credential";

  describe("connectors are made as the service makes them", () => {
    it("in three steps", async () => {
      const { send, get, ingest } = await start({ dialect: "onyx" });
      const connector = (await send("POST", "/api/manage/admin/connector", body)).json() as {
        id: number;
      };
      expect(members(connector)).toEqual(members(wire["connector"]));
      const credential = (
        await send("POST", "/api/manage/credential", {
          credential_json: {},
          admin_public: true,
          source: "ingestion_api",
        })
      ).json() as { id: number; credential: object };
      expect(members(credential)).toEqual(members(wire["credential"]));
      expect(members(credential.credential)).toEqual(members(wire["credential"]?.["credential"]));
      const path = `/api/manage/connector/${connector.id}/credential/${credential.id}`;
      const pair = { name: "Docs", access_type: "public" };
      const linked = (await send("PUT", path, pair)).json() as { data: number };
      expect(linked).toMatchObject({ success: true, data: 9 });
      expect((await send("PUT", path, pair)).json()).toMatchObject({
        success: false,
        data: connector.id,
      });
      const all = (await get("/api/manage/admin/connector/status")).json() as object[];
      expect(members(all.at(-1))).toEqual(members(all[0]));
      expect(all.at(-1)).toMatchObject({ cc_pair_id: 9, name: "Docs" });
      const document = {
        id: "a",
        semantic_identifier: "A",
        sections: [{ text: "x" }],
        metadata: {},
      };
      expect((await ingest(document, 9)).status).toBe(200);
      expect((await send("PUT", `${path}9`, pair)).status).toBe(500);
    });

    it("in one", async () => {
      const { send } = await start({ dialect: "onyx" });
      const made = (await send("POST", whole, body)).json();
      expect(members(made)).toEqual(members(wire["created"]));
      const again = await send("POST", whole, body);
      expect(again.status).toBe(400);
      expect(members(again.json())).toEqual(members(wire["sameNameAndSource"]));
      const other = await send("POST", whole, { ...body, source: "web" });
      expect(other.status).toBe(400);
      expect(other.json()).toMatchObject({ error_code: "INVALID_INPUT" });
      // The connector that got no pair is gone: its name is taken by the pair alone.
      expect((await send("POST", whole, { ...body, source: "web" })).json()).toMatchObject({
        error_code: "INVALID_INPUT",
      });
      expect((await send("POST", whole, { name: "x" })).status).toBe(422);
    });

    it("not in the standard dialect", async () => {
      const { send } = await start({ dialect: "standard" });
      expect((await send("POST", whole, body)).status).toBe(404);
    });
  });
});

describe("groups", () => {
  const body = (name: string, groups: number[]) => ({
    name,
    source: "ingestion_api",
    input_type: "load_state",
    connector_specific_config: {},
    access_type: "private",
    groups,
  });
  const create = "/api/manage/admin/connector-with-mock-credential";

  it("onyx: lists the groups that a connector may have, and takes these", async () => {
    const { get, send } = await start({ dialect: "onyx" });
    const listed = (await get("/api/manage/user-groups/minimal")).json() as {
      id: number;
      is_default: boolean;
    }[];
    expect(listed.map(({ id, is_default }) => [id, is_default])).toEqual([
      [3, false],
      [4, false],
    ]);
    const created = await send("POST", create, body("Handbook 2", [3, 4]));
    expect([created.status, created.json()]).toMatchObject([200, { success: true }]);
  });

  it.each([
    ["a default group", 1],
    ["a group of others", 7],
    ["an unknown group", 999],
  ])("onyx: refuses %s after the connector was made: its name stays taken", async (_, group) => {
    const { get, send } = await start({ dialect: "onyx" });
    const refused = await send("POST", create, body("Board", [3, group]));
    expect([refused.status, refused.json()]).toEqual([
      400,
      { error_code: "INVALID_INPUT", detail: `User groups cannot be assigned: [${group}]` },
    ]);
    const pairs = (await get("/api/manage/admin/connector/status")).text;
    expect(pairs).not.toContain("Board");
    const again = await send("POST", create, body("Board", [3]));
    expect([again.status, again.json()]).toMatchObject([400, { detail: expect.any(String) }]);
  });
});
