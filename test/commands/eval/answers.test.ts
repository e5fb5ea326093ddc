import { describe, expect, it, vi } from "vitest";
import type { EvalReport } from "../../../src/checks/eval/result.ts";
import { SignalReceived } from "../../../src/context.ts";
import { heldClock } from "../../held-clock.ts";
import { main } from "../../main.ts";
import { patienceMs } from "../../patience.ts";
import { createTestContext } from "../../support.ts";
import { completionsUrl } from "../../../src/sandbox/chat/model/client.ts";
import { type LlmServer, answerOf, begin, startLlmServer } from "../../sandbox/model/llm-server.ts";
import { type TestServiceOptions, testKey } from "../../service.ts";
import { type EvalService, files, startEval, suiteOf } from "./running.ts";
import { readFileSync } from "node:fs";
import { join } from "node:path";

describe("answers", () => {
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
      expect(report.cases[1]?.reason).toBe(
        "not asked: the budget of 4 model calls does not suffice",
      );
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

    it("without --allow-tokens asks on a terminal, and else nothing", async () => {
      const service = await startEval();
      service.write("suite.json", suiteOf({ ...leave, repeat: 3 }));
      const refused = await service.run("answers suite.json");
      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain("1 case, 3 questions with repetitions: up to 3 model calls");
      expect(refused.stderr).toContain("--allow-tokens 3");
      expect(askedOf(service)).toEqual([]);
      const { folder: cwd, env } = service;
      for (const [stdin, exit, questions] of [
        ["\n", 2, 0],
        ["y\n", 0, 3],
      ] as const) {
        const terminal = createTestContext({ cwd, env, isTTY: true, stdin });
        const context = { ...terminal, stdin: { ...terminal.stdin, isTTY: true } };
        const code = await main(["eval", "answers", "suite.json"], context);
        const asked = terminal.stderrText().replaceAll("\n", " ");
        expect(asked).toContain("up to 3 model calls of the service. Continue?");
        expect([code, askedOf(service).length]).toEqual([exit, questions]);
      }
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
      // No success if it is every case.
      service.write("suite.json", suiteOf({ ...leave, must_retrieve: undefined }));
      const { code, stderr } = await service.run("retrieval suite.json");
      expect([code, stderr]).toEqual([2, expect.stringContaining("there is nothing to ask")]);
    });
  });
});

describe("judge", () => {
  const judgeKey = "CANARY-judge-key-77a1";
  const judged = {
    id: "leave",
    question: "How many days of leave?",
    expect: [{ contains: "28 days" }, { judge: { rubric: "names a number", threshold: 0.7 } }],
  };

  /** A judge that replies with these texts, one after the other. */
  async function startJudge(...texts: string[]): Promise<LlmServer> {
    let count = 0;
    return await startLlmServer((response) => {
      const content = texts[Math.min(count++, texts.length - 1)] ?? "";
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ choices: [{ message: { role: "assistant", content } }] }));
    });
  }

  async function startJudged(
    judge: LlmServer,
    cases: object[] = [judged],
    more: object = { key_variable: "JUDGE_KEY" },
    { env, ...options }: Parameters<typeof startEval>[0] = {},
  ): Promise<EvalService> {
    const service = await startEval({
      ...options,
      env: { JUDGE_KEY: judgeKey, JUDGE_SAME_KEY: testKey, ...env },
    });
    const server = { base_url: `${judge.url}/v1`, model: "grader", ...more };
    service.write("suite.json", JSON.stringify({ version: 1, judge: server, cases }));
    return service;
  }

  const line = "answers suite.json --judge --allow-tokens 2";

  describe("eval answers --judge", () => {
    it("asks the judge with its own key, and says so before", async () => {
      const judge = await startJudge('{"score": 0.9, "reason": "it names 28"}');
      const service = await startJudged(judge);
      const { code, stderr, stdout } = await service.run(`${line} --json`);
      expect(code).toBe(0);
      const report = JSON.parse(stdout) as {
        basis: object;
        calls: number;
        cases: { checks: object[] }[];
      };
      expect(report.cases[0]?.checks[1]).toEqual({
        word: "judge",
        value: { rubric: "names a number", threshold: 0.7 },
        passed: true,
        detail: "judged 0.9: it names 28",
      });
      expect(report.basis).toMatchObject({ judge: `grader at ${judge.url}/v1` });
      expect(report.calls).toBe(2);
      expect(stderr).toContain(`grader at ${judge.url}/v1 judges answers: 1 model call`);
      expect(stderr + stdout).not.toContain(judgeKey);
      const [request] = judge.requests;
      expect(request?.path).toBe("/v1/chat/completions");
      expect(request?.headers.authorization).toBe(`Bearer ${judgeKey}`);
      expect(JSON.stringify(judge.requests)).not.toContain(testKey);
      expect(request?.body.messages[1]?.content).toContain("28 days");
    });

    it("is refused before anything is asked if no case has the expectation", async () => {
      const judge = await startJudge("{}");
      const plain = { ...judged, expect: judged.expect.slice(0, 1) };
      const service = await startJudged(judge, [plain], {});
      const { code, stdout, stderr } = await service.run(line);
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toBe(
        "error: --judge has no effect: no case has an expectation `judge`\n" +
          "  → add the expectation to a case, or remove --judge\n",
      );
    });

    it("is off by default: its expectations are left out", async () => {
      const judge = await startJudge("{}");
      const alone = { ...judged, id: "alone", expect: judged.expect.slice(1) };
      const service = await startJudged(judge, [judged, alone]);
      const report = await service.report("answers suite.json --allow-tokens 2");
      expect(report.cases.map(({ outcome }) => outcome)).toEqual(["passed", "skipped"]);
      expect(report.cases[0]?.checks.map(({ word }) => word)).toEqual(["contains"]);
      expect(report.basis.judge).toBe(null);
      expect(judge.requests).toEqual([]);
      const { stderr } = await service.run("answers suite.json --allow-tokens 2");
      expect(stderr).toContain("2 expectations need a judge and are left out");
    });

    it("a low score is a failure, a bad reply an error", async () => {
      const judge = await startJudge(
        '{"score": 0.2}',
        "I think it is good",
        '{"score": 7}',
        '{"passed": true}',
        '```json\n{"score": 1}\n```',
      );
      const cases = ["low", "prose", "range", "none", "fence"].map((id) => ({ ...judged, id }));
      const service = await startJudged(judge, cases);
      const report = await service.report(
        "answers suite.json --judge --allow-tokens 10 --concurrency 1",
      );
      const outcomes = report.cases.map(({ outcome }) => outcome);
      expect(outcomes).toEqual(["failed", "error", "error", "error", "passed"]);
      expect(report.cases[1]?.reason).toBe(
        `judge: the judge's reply is not JSON: "I think it is good"`,
      );
      expect(report.code).toBe(13);
    });

    it("a judge that is down or redirects is an error, and gets its key at one origin only", async () => {
      const other = await startJudge('{"score": 1}');
      const judge = await startLlmServer((response) => {
        response.writeHead(307, { location: `${other.url}/v1/chat/completions` }).end();
      });
      const service = await startJudged(judge);
      const report = await service.report(line);
      expect(report.cases[0]).toMatchObject({ outcome: "error" });
      expect(report.cases[0]?.reason).toContain("judge: the judge failed");
      expect([report.code, other.requests.length]).toEqual([10, 0]);
    });

    it("counts judge calls in the budget", async () => {
      const judge = await startJudge('{"score": 1}');
      const service = await startJudged(judge, [judged, { ...judged, id: "second" }]);
      const report = await service.report("answers suite.json --judge --allow-tokens 3");
      expect(report.cases.map(({ outcome }) => outcome)).toEqual(["passed", "error"]);
      expect([report.calls, judge.requests.length]).toEqual([2, 1]);
      expect(service.sandbox.ledger.chats).toHaveLength(1);
    });

    it("returns to the budget what an answer that failed left unjudged", async () => {
      const judge = await startJudge('{"score": 1}');
      const path = "/api/chat/send-chat-message";
      const rules = [{ when: { path, nth: 1 }, do: { status: 400, body: { detail: "no" } } }];
      const cases = [judged, { ...judged, id: "second" }];
      const service = await startJudged(judge, cases, undefined, { faults: { rules } });
      const report = await service.report(
        "answers suite.json --judge --allow-tokens 3 --concurrency 1",
      );
      expect(report.cases.map(({ outcome }) => outcome)).toEqual(["error", "passed"]);
    });

    it("gets no header of the profile", async () => {
      const judge = await startJudge('{"score": 1}');
      const headers = { "X-Gateway": { env: "GATEWAY" } };
      const config = JSON.stringify({ defaultProfile: "own", profiles: { own: { headers } } });
      const service = await startJudged(judge, [judged], undefined, {
        files: { ...files, ".cliconfig.json": config },
        env: { KNOWCTL_TRUST_PROJECT: "1", GATEWAY: "CANARY-header-5b2" },
      });
      expect((await service.report("answers suite.json --judge --allow-tokens 2")).code).toBe(0);
      const { requests } = service.sandbox.ledger;
      expect(JSON.stringify(requests.at(-1)?.headers)).toContain("CANARY-header-5b2");
      expect(JSON.stringify(judge.requests.map(({ headers }) => headers))).not.toContain(
        "CANARY-header",
      );
    });

    it.each([
      [{ key_variable: "JUDGE_UNSET" }, "JUDGE_UNSET is not set"],
      [{ key_variable: "JUDGE_SAME_KEY" }, "holds a key of the service"],
      [{ key_variable: "JUDGE_KEY", base_url: "http://models.example.com/v1" }, "over plain http"],
    ])("refuses %j before any question", async (server, words) => {
      const service = await startJudged(await startJudge("{}"), [judged], server);
      const { code, stderr } = await service.run(line);
      expect([code, stderr]).toEqual([3, expect.stringContaining(words)]);
      expect(service.sandbox.ledger.chats).toEqual([]);
    });

    it("sends no header for a judge without a key", async () => {
      const judge = await startJudge('{"score": 0.9, "reason": "good"}');
      const service = await startJudged(judge, [judged], {});
      expect((await service.run(line)).code).toBe(0);
      expect(judge.requests[0]?.headers.authorization).toBe(undefined);
    });

    it.each(["KNOWCTL_API_KEY", "AWS_SECRET_ACCESS_KEY"])(
      "sends no other variable: %s",
      async (name) => {
        const judge = await startJudge("{}");
        const service = await startJudged(judge, [judged], { key_variable: name });
        const { code, stderr } = await service.run(line);
        expect([code, stderr]).toEqual([2, expect.stringContaining("begins with JUDGE_")]);
        expect(judge.requests).toEqual([]);
      },
    );

    it("replays judgements without asking the judge", async () => {
      const judge = await startJudge('{"score": 0.9, "reason": "good"}', "nonsense");
      const service = await startJudged(judge);
      const { code: _first, ...first } = await service.report(`${line} --record recorded`);
      const { code: _again, ...again } = await service.report(
        "answers suite.json --judge --replay recorded",
      );
      expect(again).toEqual(first);
      const without = await service.report("answers suite.json --replay recorded");
      expect(without.basis.judge).toBe(null);
      expect(judge.requests).toHaveLength(1);
      const head = readFileSync(join(service.folder, "recorded", "recording.json"), "utf8");
      expect(head).not.toContain(judgeKey);
      const plain = await service.report("answers suite.json --allow-tokens 1 --record plain");
      expect(plain.code).toBe(0);
      const unjudged = await service.report("answers suite.json --judge --replay plain");
      expect(unjudged.cases[0]?.reason).toContain("there is no judgement of this answer");
    });
  });
});
