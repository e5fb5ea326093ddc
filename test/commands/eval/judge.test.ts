import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startLlmServer, type LlmServer } from "../../sandbox/model/llm-server.ts";
import { testKey } from "../../service.ts";
import { files, startEval, type EvalService } from "./running.ts";

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
