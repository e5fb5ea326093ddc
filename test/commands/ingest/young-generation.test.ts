import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { expect, it, onTestFinished } from "vitest";
import { createYoungGenerationHold } from "../../../src/commands/ingest/upload/young-generation.ts";

const young = (): number =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space")?.space_size ?? 0;

/** Objects of which one in twenty lives for a while, as in a long run. */
function churn(rounds: number): void {
  const kept: unknown[] = [];
  for (let index = 0; index < rounds; index++) {
    const each = { text: `${index} ${"x".repeat(30)}`, list: [index] };
    if (index % 20 === 0) kept[index % 50_000] = each;
  }
}

it("keeps the young generation as large as it is once that is enough", () => {
  onTestFinished(() => setFlagsFromString("--semi-space-growth-factor=2"));
  const hold = createYoungGenerationHold();
  for (let round = 0; round < 200 && young() < 16_000_000; round++) churn(20_000);
  const before = young();
  expect(before).toBeGreaterThanOrEqual(16_000_000);
  hold(1000);
  churn(6_000_000);
  expect(young()).toBeLessThanOrEqual(before);
});
