import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import type { EvalReport } from "../../../src/checks/eval/result.ts";
import { SignalReceived } from "../../../src/context.ts";
import type { FaultRule } from "../../../src/sandbox/http/faults.ts";
import { main } from "../../main.ts";
import { patienceMs } from "../../patience.ts";
import { createTestContext } from "../../support.ts";
import { startEval, suiteOf, type EvalService } from "./running.ts";

const cases = Array.from({ length: 6 }, (_, index) => ({
  id: `leave-${index}`,
  question: `days of leave ${index}`,
  must_retrieve: ["docs/leave.md"],
}));
const path = "/api/search/send-search-message";

/** A service that fails from its fifth search on; the first one chooses the way. */
async function failing(fault: FaultRule["do"], when: FaultRule["when"] = {}): Promise<EvalService> {
  const rules = [{ when: { path, after: 4, ...when }, do: fault }];
  const service = await startEval({ faults: { rules } });
  service.write("suite.json", suiteOf(...cases));
  return service;
}

const outcomes = ({ cases }: EvalReport): string[] => cases.map(({ outcome }) => outcome);
const threeOfSix = ["passed", "passed", "passed", "error", "error", "error"];
const expired = { status: 401, body: { detail: "expired" } };

describe("eval against a service that fails", () => {
  it.each([
    ["a refused key", expired, "401"],
    ["a service that is gone", "reset-before-store", "reset"],
  ] as const)("keeps what came before %s, and ends early", async (_what, fault, words) => {
    const service = await failing(fault);
    const report = await service.report("retrieval suite.json --concurrency 1 --record taken");
    expect(outcomes(report)).toEqual(threeOfSix);
    expect(report.stopped).toContain(words);
    expect(await service.report("retrieval suite.json --replay taken")).toEqual(report);
    expect(report.cases.at(-1)?.reason).toContain("not asked: the run ended early");
    expect(report.code).toBe(10);
    const { requests } = service.sandbox.ledger;
    // Retries of one question, and no other question.
    expect(requests.filter((each) => each.path === path).length).toBeLessThan(10);
  });

  it("goes on after the error of one case", async () => {
    const service = await failing({ status: 400, body: { detail: "no" } }, { after: 2, first: 3 });
    const report = await service.report("retrieval suite.json --concurrency 1");
    expect(outcomes(report)).toEqual(["passed", "error", "passed", "passed", "passed", "passed"]);
    expect([report.stopped, report.code]).toEqual([null, 10]);
    expect(report.summary).toMatchObject({ cases: 6, passed: 5, error: 1 });
  });

  it("goes on after a document set that does not exist: it says nothing about the key", async () => {
    const service = await startEval();
    const [first, ...rest] = cases;
    const filters = { document_sets: ["Gone"] };
    service.write("suite.json", suiteOf({ ...first, filters }, ...rest));
    const report = await service.report("retrieval suite.json --concurrency 1");
    expect(outcomes(report)).toEqual(["error", "passed", "passed", "passed", "passed", "passed"]);
    expect(report.cases[0]?.reason).toContain(
      "User does not have access to document sets: ['Gone']",
    );
    expect([report.stopped, report.code]).toEqual([null, 10]);
  });

  it("exits with the error itself if no case was asked", async () => {
    const service = await failing(expired, { after: 1 });
    expect((await service.report("retrieval suite.json")).code).toBe(4);
    expect(
      (await service.run("retrieval suite.json --via keyword --base-url http://127.0.0.1:9")).code,
    ).toBe(5);
  });

  it("failed cases are 13, also beside errors", async () => {
    const service = await failing(expired);
    const [first, ...rest] = cases;
    service.write("suite.json", suiteOf({ ...first, must_retrieve: ["docs/lunch.md"] }, ...rest));
    expect((await service.run("retrieval suite.json")).code).toBe(13);
  });

  it("writes the reports after Ctrl-C, and exits with 130", async () => {
    const service = await failing("hang");
    const { folder: cwd, env, sandbox } = service;
    const context = createTestContext({ cwd, env });
    const args = ["eval", "retrieval", "suite.json", "--concurrency", "1", "--report", "now.json"];
    const running = main(args, context);
    const arrived = (): number =>
      sandbox.ledger.requests.filter((each) => each.path === path).length;
    await vi.waitFor(() => expect(arrived()).toBe(5), patienceMs);
    context.abort(new SignalReceived("SIGINT", "interrupted"));
    expect(await running).toBe(130);
    const report = JSON.parse(readFileSync(join(cwd, "now.json"), "utf8")) as EvalReport;
    expect(outcomes(report)).toEqual(threeOfSix);
    expect(report.stopped).toBe("the run was interrupted");
  });
});
