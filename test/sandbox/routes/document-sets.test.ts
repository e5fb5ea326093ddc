import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { documentOf, start, type Started } from "../start.ts";

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
    const answer = await send("POST", "/api/search", { query: "leave", document_sets: ["Notes"] });
    expect((answer.json() as { results: object[] }).results).toHaveLength(1);
    const reply = await whole("leave", { internal_search_filters: { document_set: ["Notes"] } });
    expect(reply.top_documents!.map((each) => each.document_id)).toEqual(["b.md"]);
  });
});
