import { expect, it } from "vitest";
import { start } from "../../start.ts";

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
