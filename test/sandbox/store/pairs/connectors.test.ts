import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { start } from "../../start.ts";

const wire = JSON.parse(
  readFileSync(new URL("../../../fixtures/wire/create-connector.json", import.meta.url), "utf8"),
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
    const document = { id: "a", semantic_identifier: "A", sections: [{ text: "x" }], metadata: {} };
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

  it("not in the standard interface", async () => {
    const { send } = await start({ dialect: "standard" });
    expect((await send("POST", whole, body)).status).toBe(404);
  });
});
