import { copyFileSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { EvalReport } from "../../../src/checks/eval/result.ts";
import { runHere } from "../../main.ts";
import { testKey } from "../../service.ts";
import { type EvalService, startEval, suiteOf } from "./running.ts";

describe("recording", () => {
  const leave = {
    id: "leave",
    question: "How many days of leave?",
    must_retrieve: ["docs/leave.md"],
    expect: [{ contains: "28 days" }],
    repeat: 2,
  };
  const lunch = { id: "lunch", question: "canteen lunch", must_retrieve: ["docs/lunch.md"] };
  const record = "answers suite.json --allow-tokens 3 --record recorded";

  async function recorded(line = record): Promise<EvalService & { first: EvalReport }> {
    const service = await startEval();
    service.write("suite.json", suiteOf(leave, lunch));
    return { ...service, first: await service.report(line) };
  }

  /** Runs eval without any setting of a service. */
  async function replay({ folder, env }: EvalService, line: string) {
    const { KNOWCTL_BASE_URL: _url, KNOWCTL_API_KEY: _key, KNOWCTL_DIALECT: _d, ...bare } = env;
    const args = ["eval", ...line.split(" "), "--json"];
    const { code, stdout, stderr } = await runHere(args, { cwd: folder, env: bare });
    return { code, stderr, report: (stdout === "" ? undefined : JSON.parse(stdout)) as EvalReport };
  }

  describe("eval --record and --replay", () => {
    it.each([
      ["answers suite.json", record],
      ["retrieval suite.json", "retrieval suite.json --record recorded"],
    ])("replays %s without a service, with the same results and times", async (line, recording) => {
      const service = await recorded(recording);
      const asked = service.sandbox.ledger.requests.length;
      const { code: _code, ...first } = { ...service.first, code: 0 };
      const once = await replay(service, `${line} --replay recorded`);
      expect(once.report).toEqual(first);
      expect((await replay(service, `${line} --replay recorded`)).report).toEqual(once.report);
      expect(once.code).toBe(0);
      expect(service.sandbox.ledger.requests).toHaveLength(asked);
    });

    it("writes a readable file for each case, without keys", async () => {
      const service = await recorded();
      const folder = join(service.folder, "recorded", "cases");
      expect(readdirSync(folder)).toEqual([
        expect.stringMatching(/^case-leave-[0-9a-f]{8}\.json$/),
        expect.stringMatching(/^case-lunch-[0-9a-f]{8}\.json$/),
      ]);
      const text = readFileSync(join(folder, readdirSync(folder)[0] ?? ""), "utf8");
      expect(text).not.toContain(testKey);
      expect(JSON.parse(text)).toMatchObject({
        version: 1,
        id: "leave",
        question: leave.question,
        runs: [{ answer: expect.stringContaining("28 days") }, { calls: 1 }],
      });
    });

    it("a case that the recording lacks is an error", async () => {
      const service = await recorded();
      const folder = join(service.folder, "recorded", "cases");
      rmSync(join(folder, readdirSync(folder)[0] ?? ""));
      const { code, report } = await replay(service, "answers suite.json --replay recorded");
      expect(report.cases.map(({ outcome }) => outcome)).toEqual(["error", "passed"]);
      expect(report.cases[0]?.reason).toBe("the recording does not hold this case");
      expect(code).toBe(10);
    });

    it("a damaged file, or one of another case, is an error of the case", async () => {
      const service = await recorded();
      const folder = join(service.folder, "recorded", "cases");
      const [first = "", second = ""] = readdirSync(folder);
      copyFileSync(join(folder, second), join(folder, first));
      writeFileSync(join(folder, second), "{");
      const { code, report } = await replay(service, "answers suite.json --replay recorded");
      expect(report.cases.map(({ reason }) => reason)).toEqual([
        `cases/${first} holds another case: lunch`,
        `cannot read the recording cases/${second}: it is not JSON`,
      ]);
      expect(code).toBe(10);
    });

    it("says of a run that was killed that it did not end, and is the same each time", async () => {
      const service = await recorded();
      const path = join(service.folder, "recorded", "recording.json");
      const { elapsedMs: _ms, ...head } = JSON.parse(readFileSync(path, "utf8")) as EvalReport;
      writeFileSync(path, JSON.stringify(head));
      const once = await replay(service, "answers suite.json --replay recorded");
      expect(once).toMatchObject({
        code: 10,
        report: { elapsedMs: 0, stopped: "the recorded run did not end" },
      });
      const again = await replay(service, "answers suite.json --replay recorded");
      expect(again.report).toEqual(once.report);
    });

    it("refuses a recording of another suite, command or way, and a folder without one", async () => {
      const service = await recorded("retrieval suite.json --record recorded");
      const refusals = [
        ["answers suite.json --replay recorded", "another command: recorded eval retrieval"],
        ["retrieval suite.json --replay recorded --via keyword", "another way: recorded indexed"],
        ["retrieval suite.json --replay recorded --k 3", "another k: recorded 5"],
        ["retrieval suite.json --replay docs", "cannot read the recording"],
        ["retrieval suite.json --replay recorded --record other", "exclude each other"],
      ];
      for (const [line = "", words = ""] of refusals) {
        const { code, stderr } = await replay(service, line);
        expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
      }
      service.write("suite.json", suiteOf({ ...leave, question: "Other?" }, lunch));
      const other = await replay(service, "retrieval suite.json --replay recorded");
      expect([other.code, other.stderr]).toEqual([2, expect.stringContaining("another suite")]);
    });

    it("keeps cases apart whose ids differ in case or in marks only", async () => {
      const service = await startEval();
      const cases = ["a.b", "a_b", "A.c", "a.c-d"].map((id) => ({ ...lunch, id }));
      service.write("suite.json", suiteOf(...cases, { ...leave, id: "a-b", repeat: 1 }));
      await service.report("retrieval suite.json --record recorded");
      expect(readdirSync(join(service.folder, "recorded", "cases"))).toHaveLength(5);
      const { code } = await replay(service, "retrieval suite.json --replay recorded");
      expect(code).toBe(0);
    });

    it("records into a new folder only", async () => {
      const service = await recorded();
      const again = await service.run(record);
      expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("is not empty")]);
    });
  });
});

describe("baseline", () => {
  const leave = { id: "leave", question: "days of leave", must_retrieve: ["docs/leave.md"], k: 1 };
  const lunch = { id: "lunch", question: "canteen lunch", must_retrieve: ["docs/lunch.md"], k: 1 };

  const searchesOf = ({ sandbox }: EvalService): number =>
    sandbox.ledger.requests.filter(({ path }) => path.includes("search")).length;

  /** A service with a baseline of two passed cases; then another document is wanted in one of them. */
  async function startWorse(): Promise<EvalService> {
    const service = await startEval();
    service.write("suite.json", suiteOf(leave, lunch));
    expect(await service.run("retrieval suite.json --report base.json")).toMatchObject({ code: 0 });
    service.write("docs/leave.md", "# Leave\n\nAsk the office.\n");
    service.write("docs/days.md", "# Days of leave\n\nDays of leave: see days of leave.\n");
    const { folder: cwd, env, sandbox } = service;
    const upload = ["ingest", "docs", "--cc-pair-id", "2", "--quiet"];
    expect(await runHere(upload, { cwd, env })).toMatchObject({ code: 0 });
    await sandbox.idle();
    return service;
  }

  describe("eval with a baseline", () => {
    it("shows what got worse, and cannot tell from one case", async () => {
      const service = await startWorse();
      const report = await service.report("retrieval suite.json --baseline base.json");
      expect(report).toMatchObject({ code: 13, status: "failed" });
      expect(report.comparison).toMatchObject({
        compared: 2,
        better: [],
        worse: [{ id: "leave", before: "passed", now: "failed" }],
        unchanged: 1,
        p: 1,
        verdict: "cannot-tell",
        needed: 12,
      });
      const { stdout } = await service.run("retrieval suite.json --baseline base.json");
      expect(stdout).toContain(
        "0 better, 1 worse of 2 cases (p 1); about 12 cases would be needed",
      );
      expect(stdout).toMatch(/Worse than base\.json: 1\n {2}leave .*\n.*✗ docs\/leave\.md/);
    });

    it("ends by --fail-on alone, which the report says too", async () => {
      const service = await startWorse();
      const ends = async (condition: string) => {
        const line = `retrieval suite.json --baseline base.json --report now.json --fail-on ${condition}`;
        const { code } = await service.run(line);
        const text = readFileSync(join(service.folder, "now.json"), "utf8");
        return [code, (JSON.parse(text) as { status: string }).status];
      };
      expect(await ends("significantly-worse")).toEqual([0, "passed"]);
      expect(await ends("worse")).toEqual([13, "failed"]);
      expect(await ends("rate<0.5")).toEqual([0, "passed"]);
      expect(await ends("rate<0.6")).toEqual([13, "failed"]);
    });

    it.each([
      ["another suite", "retrieval other.json", "a run of another suite"],
      ["another k", "retrieval suite.json --k 2", "a run of another k"],
      ["another way", "retrieval suite.json --via keyword", "a run of another way"],
      ["another kind", "answers words.json --allow-tokens 9", "a run of another kind"],
    ])("of %s is refused before the first question", async (_, line, words) => {
      const service = await startWorse();
      service.write("other.json", suiteOf({ ...leave, question: "how many days of leave" }));
      service.write("words.json", suiteOf({ ...leave, expect: [{ contains: "28" }] }));
      const { requests } = service.sandbox.ledger;
      const before = [searchesOf(service), service.sandbox.ledger.modelCalls];
      const { code, stderr } = await service.run(`${line} --baseline base.json`);
      expect(stderr).toContain(`--baseline base.json: ${words}`);
      // Nobody is asked for model tokens before.
      expect(stderr).not.toMatch(/asking|tokens/);
      expect(code).toBe(2);
      expect(requests.some(({ path }) => path.includes("send-chat"))).toBe(false);
      expect(service.sandbox.ledger.modelCalls).toBe(before[1]);
      // Without --via, one search finds out which way is free.
      expect(searchesOf(service) - (before[0] ?? 0)).toBeLessThanOrEqual(1);
    });
  });
});
