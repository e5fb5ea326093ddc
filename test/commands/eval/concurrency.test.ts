import { expect, it } from "vitest";
import { startEval, suiteOf } from "./running.ts";

const cases = Array.from({ length: 12 }, (_, index) => ({
  id: `leave-${index}`,
  question: "days of leave",
  must_retrieve: ["docs/leave.md"],
}));

it.each([
  ["retrieval suite.json", 4],
  ["retrieval suite.json --concurrency 1", 1],
  ["answers suite.json --allow-tokens 12", 4],
  ["answers suite.json --allow-tokens 12 --concurrency 2", 2],
])("eval %s has at most %i questions in flight, and keeps the order", async (line, most) => {
  const service = await startEval({ faults: { rates: { latencyMs: 50 } } });
  service.write("suite.json", suiteOf(...cases));
  service.sandbox.ledger.maxInFlight = 0;
  const report = await service.report(line);
  expect(report.cases.map(({ id }) => id)).toEqual(cases.map(({ id }) => id));
  expect(service.sandbox.ledger.maxInFlight).toBe(most);
});
