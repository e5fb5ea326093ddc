import { afterEach, expect, it } from "vitest";
import { createGate } from "../../../src/api/retry/gate.ts";
import { findBySearch } from "../../../src/commands/verify/look/search.ts";
import { closeAll, openClient } from "../../api/support.ts";
import { startTestService, testKey } from "../../service.ts";

afterEach(closeAll);

it.each(["indexed", "keyword", "chat"] as const)("%s: requests pass the gate", async (way) => {
  const { sandbox } = await startTestService({ dialect: "onyx" });
  const keys = { accessToken: testKey, apiKey: testKey };
  const client = openClient(sandbox.url, { dialect: "onyx", ...keys });
  const { signal } = new AbortController();
  const gate = createGate({ ceiling: 1, clock: client.clock, signal });
  const document = { id: "a", storedId: "a" };
  const sent = { titles: ["Leave"], sections: ["Ask for leave in the portal."] };
  const look = await findBySearch({ client, gate }, document, sent, { way, depth: "exists" });
  expect(look.evidence).toMatchObject([{ status: 200 }]);
  expect(gate.state().requests).toBe(1);
});
