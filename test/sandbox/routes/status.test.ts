import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { holdTime } from "../../held-time.ts";
import { documentOf, start } from "../start.ts";

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
    const failing = (await read("/api/manage/admin/connector/failed-indexing-status")) as object[];
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
    const sync = (await get(`${pair}/2/get-docs-sync-status`)).json() as Record<string, unknown>[];
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
