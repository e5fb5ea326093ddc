import { describe, expect, it, vi } from "vitest";
import type { EvalReport } from "../../../src/checks/eval/result.ts";
import { SignalReceived } from "../../../src/context.ts";
import { heldClock } from "../../held-clock.ts";
import { main } from "../../main.ts";
import { patienceMs } from "../../patience.ts";
import { createTestContext } from "../../support.ts";
import { completionsUrl } from "../../../src/sandbox/chat/model/client.ts";
import { answerOf, begin, startLlmServer } from "../../sandbox/model/llm-server.ts";
import type { TestServiceOptions } from "../../service.ts";
import { startEval, suiteOf, type EvalService } from "./running.ts";

const leave = {
  id: "leave",
  question: "How many days of leave?",
  must_retrieve: ["docs/leave.md"],
  expect: [{ contains: "28 days" }, { cites: ["docs/leave.md"] }, "answered"],
};
const path = "/api/chat/send-chat-message";

const askedOf = ({ sandbox }: EvalService) =>
  sandbox.ledger.requests.filter((each) => each.path === path);

/** A service whose answers are these texts, one after the other. */
async function startSaying(texts: readonly string[], options: TestServiceOptions = {}) {
  let count = 0;
  const llm = await startLlmServer((response) => {
    const text = texts[count++ % texts.length] ?? "";
    begin(response).end(answerOf(text));
  });
  const model = { url: completionsUrl(llm.url), key: undefined, model: "tiny", idleMs: 60_000 };
  return await startEval({ ...options, sandbox: { model } });
}

const outcomesOf = ({ cases }: { cases: readonly { outcome: string }[] }): string[] =>
  cases.map(({ outcome }) => outcome);

describe("eval answers", () => {
  it("asks the assistant in a new session, and checks the answer and its sources", async () => {
    const service = await startEval();
    service.write(
      "suite.json",
      suiteOf(leave, { ...leave, id: "not", expect: [{ "not-contains": "28 days" }] }),
    );
    const report = await service.report("answers suite.json --allow-tokens 2");
    expect(outcomesOf(report)).toEqual(["passed", "failed"]);
    expect(report.code).toBe(13);
    expect(report.basis).toMatchObject({ kind: "answers", via: "chat", k: null, judge: null });
    expect(report.calls).toBe(2);
    const [first] = report.cases;
    expect(first).toMatchObject({
      cited: [{ path: "docs/leave.md", role: "expected" }],
      runs: [{ outcome: "passed", answer: expect.stringContaining("28 days") }],
    });
    expect(first?.checks.map(({ word }) => word)).toEqual([
      "must_retrieve",
      "contains",
      "cites",
      "answered",
    ]);
    expect(askedOf(service)).toHaveLength(2);
    for (const body of service.sandbox.ledger.chats)
      expect(body).not.toHaveProperty("chat_session_id");
  });

  it("collapses repetitions: passed by the threshold, flaky, failed", async () => {
    const service = await startSaying(["28 days", "30 days"]);
    const repeated = {
      ...leave,
      must_retrieve: undefined,
      expect: [{ contains: "28 days" }],
      repeat: 4,
    };
    service.write(
      "suite.json",
      suiteOf(
        { ...repeated, id: "half", threshold: 0.5 },
        { ...repeated, id: "flaky" },
        { ...repeated, id: "never", expect: [{ contains: "31" }] },
      ),
    );
    const report = await service.report("answers suite.json --allow-tokens 12 --concurrency 1");
    expect(outcomesOf(report)).toEqual(["passed", "flaky", "failed"]);
    expect(report.cases.map(({ runs }) => runs.length)).toEqual([4, 4, 4]);
    expect(report.code).toBe(13);
    expect(
      (await service.run("answers suite.json --allow-tokens 12 --fail-on rate<0.1")).code,
    ).toBe(0);
    expect(
      (await service.run("answers suite.json --allow-tokens 12 --fail-on rate<0.9")).code,
    ).toBe(13);
  });

  it.each([
    ["cut", { cutAfterBytes: 200 }],
    ["refused", { status: 400, body: { detail: "no" } }],
  ])("an answer that is %s is an error, never a failure", async (_what, fault) => {
    const rules = [{ when: { path, nth: 2 }, do: fault }];
    const service = await startEval({ faults: { rules } });
    const expectation = [{ contains: "no such text" }];
    service.write(
      "suite.json",
      suiteOf(leave, { ...leave, id: "second", expect: expectation }, { ...leave, id: "third" }),
    );
    const report = await service.report("answers suite.json --allow-tokens 3 --concurrency 1");
    expect(outcomesOf(report)).toEqual(["passed", "error", "passed"]);
    expect([report.code, report.summary.error]).toEqual([10, 1]);
    expect(askedOf(service)).toHaveLength(3);
  });

  it("stops before the budget is passed, and keeps what it has", async () => {
    const service = await startEval();
    service.write(
      "suite.json",
      suiteOf({ ...leave, repeat: 3 }, { ...leave, id: "second", repeat: 3 }),
    );
    const { stdout, stderr } = await service.run(
      "answers suite.json --allow-tokens 4 --quiet --json",
    );
    expect(stderr).toContain("This run costs model tokens. 2 cases, 6 questions");
    expect(stderr).toContain("It stops after 4, as --allow-tokens says.");
    const report = JSON.parse(stdout) as EvalReport;
    expect(askedOf(service)).toHaveLength(4);
    expect(outcomesOf(report)).toEqual(["passed", "error"]);
    expect(report.cases[1]?.reason).toBe("not asked: the budget of 4 model calls does not suffice");
    expect(report.cases[1]?.runs.map(({ outcome }) => outcome)).toEqual([
      "passed",
      "error",
      "error",
    ]);
    expect(report.status).toBe("partial");
  });

  it("asks nothing more once a case did not fit into the budget", async () => {
    const service = await startEval();
    const judge = { base_url: "http://127.0.0.1:9/v1", model: "grader" };
    const rubric = { judge: { rubric: "is polite", threshold: 0.5 } };
    const cases = [
      { ...leave, expect: [rubric] },
      { ...leave, id: "cheaper" },
    ];
    service.write("suite.json", JSON.stringify({ version: 1, judge, cases }));
    const report = await service.report("answers suite.json --judge --allow-tokens 1");
    expect(outcomesOf(report)).toEqual(["error", "error"]);
    expect(askedOf(service)).toHaveLength(0);
    expect(report.code).toBe(10);
  });

  it("without --allow-tokens and without a terminal asks nothing", async () => {
    const service = await startEval();
    service.write("suite.json", suiteOf({ ...leave, repeat: 3 }));
    const { code, stderr } = await service.run("answers suite.json");
    expect(code).toBe(2);
    expect(stderr).toContain("1 case, 3 questions with repetitions: up to 3 model calls");
    expect(stderr).toContain("--allow-tokens 3");
    expect(askedOf(service)).toEqual([]);
  });

  it.each([
    ["y\n", 0, 3],
    ["\n", 2, 0],
  ])("on a terminal announces the cost and asks; %j is exit %i", async (stdin, exit, questions) => {
    const service = await startEval();
    service.write("suite.json", suiteOf({ ...leave, repeat: 3 }));
    const { folder: cwd, env } = service;
    const terminal = createTestContext({ cwd, env, isTTY: true, stdin });
    const context = { ...terminal, stdin: { ...terminal.stdin, isTTY: true } };
    const code = await main(["eval", "answers", "suite.json"], context);
    const asked = terminal.stderrText().replaceAll("\n", " ");
    expect(asked).toContain("up to 3 model calls of the service. Continue?");
    expect([code, askedOf(service).length]).toEqual([exit, questions]);
  });

  it("keeps the results after Ctrl-C, and asks nothing more", async () => {
    const service = await startEval({ sandbox: { tokenDelayMs: 1, clock: heldClock(5) } });
    service.write("suite.json", suiteOf(leave, { ...leave, id: "second" }));
    const { folder: cwd, env, sandbox } = service;
    const context = createTestContext({ cwd, env });
    const line = "eval answers suite.json --allow-tokens 2 --concurrency 1 --json";
    const running = main(line.split(" "), context);
    await vi.waitFor(() => expect(sandbox.ledger.chats).toHaveLength(1), patienceMs);
    await vi.waitFor(() => expect(context.stderrText()).toContain("asking 2"), patienceMs);
    context.abort(new SignalReceived("SIGINT", "interrupted"));
    expect(await running).toBe(130);
    const report = JSON.parse(context.stdoutText()) as EvalReport;
    expect(outcomesOf(report)).toEqual(["error", "error"]);
    expect(report.cases.map(({ reason }) => reason)).toEqual([
      "not answered: the run was interrupted",
      "not asked: the run was interrupted",
    ]);
    expect(sandbox.ledger.chats).toHaveLength(1);
  });

  it("asks an agent by its id or name, with filters", async () => {
    const service = await startEval();
    const filters = { tags: ["team=people"], since: "2020-01-01" };
    service.write(
      "suite.json",
      suiteOf({ ...leave, agent: "sandbox", filters }, { ...leave, id: "second", agent: 0 }),
    );
    await service.report("answers suite.json --allow-tokens 2 --concurrency 1");
    expect(service.sandbox.ledger.chats).toMatchObject([
      {
        message: leave.question,
        chat_session_info: { persona_id: 0 },
        internal_search_filters: { tags: [{ tag_key: "team", tag_value: "people" }] },
      },
      { chat_session_info: { persona_id: 0 } },
    ]);
    service.write("suite.json", suiteOf({ ...leave, agent: "Sandbax" }));
    const unknown = await service.run("answers suite.json --allow-tokens 2");
    expect(unknown.code).toBe(9);
    expect(unknown.stderr).toContain('there is no agent "Sandbax"');
    expect(unknown.stderr).toContain('did you mean "Sandbox"?');
  });

  it("skips what waits for a review", async () => {
    const service = await startEval();
    service.write("suite.json", suiteOf({ ...leave, id: "draft", review: true }, leave));
    const report = await service.report("answers suite.json --allow-tokens 1");
    expect(outcomesOf(report)).toEqual(["skipped", "passed"]);
    expect(report.cases[0]?.reason).toBe("drafted: check the case, then remove `review: true`");
    expect([report.code, askedOf(service).length]).toEqual([0, 1]);
  });

  it("is no success if every case is skipped", async () => {
    const service = await startEval();
    service.write("suite.json", suiteOf({ ...leave, must_retrieve: undefined }));
    const { code, stderr } = await service.run("retrieval suite.json");
    expect([code, stderr]).toEqual([2, expect.stringContaining("there is nothing to ask")]);
  });
});
