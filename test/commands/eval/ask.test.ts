import { expect, it } from "vitest";
import { createGate } from "../../../src/api/retry/gate.ts";
import { retrievedOf, timedGate } from "../../../src/commands/eval/ask.ts";
import { createTestContext } from "../../support.ts";

it("documents that an administrator hides count for no case, and take no rank", () => {
  const found = { title: "T", link: null, text: "", source: null, updatedAt: null, score: null };
  const documents = ["hidden", "shown"].map((id) => ({ ...found, id, hidden: id === "hidden" }));
  expect(retrievedOf(documents, "leave?")).toMatchObject([{ id: "shown", rank: 1 }]);
});

it("the latency of an answer begins when its request is admitted", async () => {
  const { signal, ...clock } = createTestContext({});
  let nowMs = 0;
  const elapsed = (): number => nowMs;
  const gate = createGate({ ceiling: 1, clock, signal });
  await gate.enter();
  const timed = timedGate(gate, { elapsed });
  const entered = timed.gate.enter();
  nowMs = 70;
  gate.succeed(0);
  await entered;
  nowMs = 100;
  expect(timed.elapsedMs()).toBe(30);
});
