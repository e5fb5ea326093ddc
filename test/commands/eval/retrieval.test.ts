import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runHere } from "../../main.ts";
import { type TestServiceOptions, startTestService, testKey, writeFiles } from "../../service.ts";
import { type EvalService, files, startEval, suiteOf } from "./running.ts";
import { defaultPairs } from "../../../src/sandbox/store/seeds.ts";

describe("eval retrieval", () => {
  const leave = { id: "leave", question: "days of leave", must_retrieve: ["docs/leave.md"] };
  const lunch = { id: "lunch", question: "canteen lunch", must_retrieve: ["docs/lunch.md"] };

  const outcomesOf = ({ cases }: { cases: readonly { id: string; outcome: string }[] }) =>
    Object.fromEntries(cases.map(({ id, outcome }) => [id, outcome]));

  /** The searches and questions that arrived, by path. */
  function searchesOf({ sandbox }: EvalService): string[] {
    return sandbox.ledger.requests
      .map(({ path }) => path)
      .filter((path) => /search|send-chat/.test(path));
  }

  it("searches by the best free way, and passes a case whose documents come", async () => {
    const service = await startEval();
    service.write("suite.json", suiteOf(leave, lunch));
    const report = await service.report("retrieval suite.json");
    expect(report.code).toBe(0);
    expect(outcomesOf(report)).toEqual({ leave: "passed", lunch: "passed" });
    expect(report.basis).toMatchObject({ kind: "retrieval", via: "indexed", k: 5, judge: null });
    expect(report.cases[0]).toMatchObject({
      retrieved: [{ rank: 1, path: "docs/leave.md", role: "expected" }, {}],
      expected: [{ rank: 1, path: "docs/leave.md", relevance: 1 }],
      checks: [{ word: "must_retrieve", value: "docs/leave.md", passed: true }],
    });
    expect(searchesOf(service)).toEqual(
      Array.from({ length: 3 }, () => "/api/search/send-search-message"),
    );
    expect(service.sandbox.ledger.modelCalls).toBe(0);
  });

  it("says what to do where an upload had an --id-prefix that nothing records", async () => {
    const service = await startTestService({ dialect: "onyx", files });
    const { folder: cwd, env, sandbox } = service;
    const upload = "ingest docs --cc-pair-id 2 --id-prefix hb/ --state ../elsewhere";
    expect((await runHere(upload.split(" "), { cwd, env })).code).toBe(0);
    await sandbox.idle();
    writeFiles(cwd, { "suite.json": suiteOf(leave) });
    const { code, stderr } = await runHere(["eval", "retrieval", "suite.json"], { cwd, env });
    expect(code).toBe(13);
    expect(stderr).toContain(
      "docs/leave.md was not retrieved, and the document hb%2Fdocs%2Fleave.md was: if the upload had --id-prefix",
    );
    const set = { ...env, KNOWCTL_TRUST_PROJECT: "1" };
    writeFiles(cwd, { ".cliconfig.json": JSON.stringify({ ingest: { idPrefix: "hb/" } }) });
    const again = await runHere(["eval", "retrieval", "suite.json"], { cwd, env: set });
    expect(again.code, again.stderr).toBe(0);
  });

  it("names the same files from every working directory, by the project of the suite", async () => {
    const service = await startEval();
    const { folder, env } = service;
    service.write("docs/suite.json", suiteOf(leave));
    writeFiles(folder, { "../other/.git/HEAD": "", "../other/suite.json": suiteOf(lunch) });
    const run = (cwd: string, ...suites: string[]) =>
      runHere(["eval", "retrieval", ...suites, "--json"], { cwd: join(folder, cwd), env });
    for (const [cwd, suite] of [
      [".", "docs/suite.json"],
      ["docs", "suite.json"],
      ["..", "work/docs/suite.json"],
      ["../other", "../work/docs/suite.json"],
    ] as const) {
      const { code, stdout, stderr } = await run(cwd, suite);
      expect(code, cwd + stderr).toBe(0);
      expect(JSON.parse(stdout).cases[0].retrieved[0].path).toBe("docs/leave.md");
    }
    const mixed = await run(".", "docs/suite.json", "../other/suite.json");
    expect(mixed.stderr).toContain("the suites have different project roots");
    expect(mixed.code).toBe(2);
    const elsewhere = await run(".", "../other/suite.json");
    expect(elsewhere.stderr).toMatch(/docs\/[\w.]+ does not exist\n/);
    expect(elsewhere.stderr).toMatch(/paths count from the project root .*other; --root names/);
    expect(elsewhere.code).toBe(2);
    expect((await run(".", "../other/suite.json", "--root", ".")).code).toBe(0);
    // A suite of no project names the files of the working directory's.
    writeFiles(folder, { "../suite.json": suiteOf(lunch) });
    expect((await run(".", "../suite.json")).code).toBe(0);
  });

  it("writes the members that --fields and --jq select, also as ndjson", async () => {
    const service = await startEval();
    service.write("suite.json", suiteOf(leave, lunch));
    const lines = await service.run("retrieval suite.json --output ndjson --fields status");
    expect(lines.stdout).toBe('{"status":"passed"}\n');
    const found = await service.run("retrieval suite.json --jq .summary.passed");
    expect(found.stdout).toBe("2\n");
  });

  it("fails a case by its rank, and by a document that must not come", async () => {
    const service = await startEval();
    const cases = [
      { ...leave, id: "late", must_retrieve: ["docs/bikes.md"], k: 1 },
      { ...leave, id: "unwanted", must_not_retrieve: [{ id: "docs/bikes.md" }] },
      { ...leave, id: "one", must_retrieve: ["docs/lunch.md", "docs/leave.md"], match: "any" },
      { ...leave, id: "both", must_retrieve: ["docs/lunch.md", "docs/leave.md"] },
      { ...leave, id: "link", must_retrieve: [{ link: "https://docs.example.com/leave#days" }] },
    ];
    service.write("suite.json", suiteOf(...cases));
    const report = await service.report("retrieval suite.json");
    expect(outcomesOf(report)).toEqual({
      late: "failed",
      unwanted: "failed",
      one: "passed",
      both: "failed",
      link: "failed",
    });
    expect(report.code).toBe(13);
    const details = report.cases.map(({ checks }) => checks.find(({ passed }) => !passed)?.detail);
    expect(details).toEqual([
      "not among the first 1: rank 2",
      "came at rank 2",
      undefined,
      "not among the first 5",
      "not among the first 5",
    ]);
  });

  it("uses one way for all cases, and names it", async () => {
    const service = await startEval({ faults: { missing: ["/search/send-search-message"] } });
    service.write("suite.json", suiteOf(leave, lunch));
    const report = await service.report("retrieval suite.json");
    expect(report.basis.via).toBe("keyword");
    const paths = searchesOf(service);
    expect(paths.filter((path) => path === "/api/admin/search")).toHaveLength(3);
    const { stderr } = await service.run("retrieval suite.json");
    expect(stderr).toContain("searching by keyword; not possible: indexed (404)");
    expect((await service.report("retrieval suite.json --via keyword --k 1")).basis.k).toBe(1);
  });

  it("cannot tell by the assisted search whether a path came, only a link", async () => {
    const service = await startEval();
    const byLink = {
      ...leave,
      id: "link",
      must_retrieve: [{ link: "https://docs.example.com/leave" }],
    };
    service.write("suite.json", suiteOf(leave, byLink));
    const report = await service.report("retrieval suite.json --via assisted --allow-tokens 30");
    expect(outcomesOf(report)).toEqual({ leave: "error", link: "passed" });
    expect(report.cases[0]?.reason).toContain("names no document ids");
    expect(report.code).toBe(10);
  });

  it("needs an allowance off a terminal for a way that costs", async () => {
    const service = await startEval({ dialect: "standard" });
    service.write("suite.json", suiteOf(leave, lunch));
    const refused = await service.run("retrieval suite.json");
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("up to 2 model calls");
    expect(refused.stderr).toContain("--allow-tokens 2");
    expect(searchesOf(service)).toEqual([]);
    const report = await service.report("retrieval suite.json --allow-tokens 1");
    expect(outcomesOf(report)).toEqual({ leave: "passed", lunch: "error" });
    expect(report.cases[1]?.reason).toContain("not asked: the budget of 1 model call");
    expect([report.code, searchesOf(service).length, report.basis.via]).toEqual([10, 1, "chat"]);
  });
});

describe("leak", () => {
  const leak = {
    id: "leak",
    question: "days of leave",
    profile: "intern",
    must_not_retrieve: ["docs/leave.md"],
  };
  const profiles = {
    own: {},
    intern: { accessToken: { env: "INTERN_KEY" } },
    same: { accessToken: { env: "SAME_KEY" } },
  };
  // Its owner is the account of the administrator's key.
  const pairs = defaultPairs.map((pair) => ({
    ...pair,
    ...(pair.cc_pair_id === 2 ? { access_type: "private", groups: [] } : {}),
  }));

  /** A service with a reader who is in no group. */
  function startWithReader(
    options: TestServiceOptions = {},
    more: Record<string, string> = {},
  ): Promise<EvalService> {
    const config = JSON.stringify({ defaultProfile: "own", profiles });
    return startEval({
      ...options,
      files: { ...files, ...more, ".cliconfig.json": config },
      env: {
        INTERN_KEY: `${testKey}-reader`,
        SAME_KEY: testKey,
        JUDGE_INTERN: `${testKey}-reader`,
        KNOWCTL_TRUST_PROJECT: "1",
      },
    });
  }

  describe("a leak test", () => {
    it("passes where the reader does not get the document and the profile of the run does", async () => {
      const service = await startWithReader({ pairs });
      service.write("suite.json", suiteOf(leak));
      const report = await service.report("retrieval suite.json");
      expect(report.cases[0]).toMatchObject({ outcome: "passed", profile: "intern", reason: null });
      expect(report.code).toBe(0);
    });

    it("fails where the reader gets the document", async () => {
      const service = await startWithReader();
      service.write("suite.json", suiteOf(leak));
      const report = await service.report("retrieval suite.json");
      expect(report.cases[0]).toMatchObject({ outcome: "failed" });
      expect(report.cases[0]?.checks[0]?.detail).toBe("came at rank 1");
      expect(report.code).toBe(13);
    });

    it("is an error where nobody gets the document", async () => {
      const rules = [
        { when: { documentId: "docs/leave.md" }, do: { index: { keeps: "nothing" } } },
      ];
      const service = await startWithReader({ pairs, faults: { rules } as never });
      const asked = {
        must_not_retrieve: undefined,
        expect: [{ "not-retrieves": "docs/leave.md" }],
      };
      for (const [line, calls, one] of [
        ["retrieval suite.json", 0, leak],
        ["answers suite.json --allow-tokens 2", 2, { ...leak, ...asked }],
      ] as const) {
        service.write("suite.json", suiteOf(one));
        const report = await service.report(line);
        expect(report.cases[0]?.outcome, line).toBe("error");
        expect(report.cases[0]?.reason).toBe(
          "the profile of the run does not get docs/leave.md either, so that the leak test proves nothing",
        );
        expect([report.code, report.calls]).toEqual([10, calls]);
      }
    });

    it("sees the document at whatever rank, beyond k and beyond a first page", async () => {
      const more = Object.fromEntries(
        Array.from({ length: 40 }, (_, index) => [
          `docs/days-${index}.md`,
          `# Days of leave ${index}\n\nDays of leave, days of leave.\n`,
        ]),
      );
      const service = await startWithReader({}, more);
      for (const words of [
        { must_not_retrieve: ["docs/leave.md"] },
        { must_not_retrieve: undefined, expect: [{ "not-retrieves": "docs/leave.md" }] },
      ]) {
        service.write(
          "suite.json",
          suiteOf({ ...leak, ...words, k: 1, question: "Days of leave" }),
        );
        const report = await service.report("retrieval suite.json");
        expect(report.cases[0]).toMatchObject({ outcome: "failed" });
        const rank = Number(
          /^came at rank (\d+)$/.exec(report.cases[0]?.checks[0]?.detail ?? "")?.[1],
        );
        expect(rank).toBeGreaterThan(30);
        // The report shows the first ten, and what the case names.
        expect(report.cases[0]?.retrieved.length).toBe(11);
        expect(report.cases[0]?.retrieved.at(-1)).toMatchObject({ path: "docs/leave.md", rank });
        expect(report.cases[0]?.runs[0]?.retrieved.length).toBe(11);
      }
    });

    it("refuses a reader with the key of the run before any question", async () => {
      const service = await startWithReader({ pairs });
      service.write("suite.json", suiteOf({ ...leak, profile: "same" }));
      const same = await service.run("retrieval suite.json");
      expect(same.code).toBe(2);
      expect(same.stderr).toContain("suite.json:1: profile same: the profile has the same key");
      service.write("suite.json", suiteOf({ ...leak, profile: "own" }));
      const own = await service.run("retrieval suite.json");
      expect(own.code).toBe(2);
      expect(own.stderr).toContain("asked by own, the profile of the run");
      service.write("suite.json", suiteOf({ ...leak, profile: "nobody" }));
      expect((await service.run("retrieval suite.json")).code).toBe(3);
      expect(service.sandbox.ledger.requests.filter(({ path }) => /search/.test(path))).toEqual([]);
    });

    it("a refused reader is an error of the case, and the others go on", async () => {
      const service = await startWithReader({ pairs });
      const rules = { INTERN_KEY: "a-key-that-nobody-knows" };
      Object.assign(service.env, rules);
      const others = { id: "open", question: "lunch", must_retrieve: ["docs/lunch.md"] };
      service.write("suite.json", suiteOf(leak, others, { ...leak, id: "again" }));
      const report = await service.report("retrieval suite.json");
      expect(report.cases.map(({ outcome }) => outcome)).toEqual(["error", "passed", "error"]);
      expect(report.stopped).toBe(null);
    });

    it("never gives the key of a reader to a judge", async () => {
      const service = await startWithReader({ pairs });
      const judge = {
        base_url: "http://127.0.0.1:9/v1",
        model: "grader",
        key_variable: "JUDGE_INTERN",
      };
      const expectation = { judge: { rubric: "is polite", threshold: 0.5 } };
      const cases = [{ ...leak, expect: [expectation] }];
      service.write("suite.json", JSON.stringify({ version: 1, judge, cases }));
      const { code, stderr } = await service.run("answers suite.json --judge --allow-tokens 9");
      expect([code, stderr]).toEqual([3, expect.stringContaining("holds a key of the service")]);
      expect(service.sandbox.ledger.chats).toEqual([]);
    });
  });
});

describe("concurrency", () => {
  const cases = Array.from({ length: 12 }, (_, index) => ({
    id: `leave-${index}`,
    question: "days of leave",
    must_retrieve: ["docs/leave.md"],
  }));

  it("has at most as many questions in flight as it is told, and keeps the order", async () => {
    const service = await startEval({ faults: { rates: { latencyMs: 50 } } });
    service.write("suite.json", suiteOf(...cases));
    for (const [line, most] of [
      ["retrieval suite.json", 4],
      ["retrieval suite.json --concurrency 1", 1],
      ["answers suite.json --allow-tokens 12", 4],
      ["answers suite.json --allow-tokens 12 --concurrency 2", 2],
    ] as const) {
      service.sandbox.ledger.maxInFlight = 0;
      const report = await service.report(line);
      expect(report.cases.map(({ id }) => id)).toEqual(cases.map(({ id }) => id));
      expect(service.sandbox.ledger.maxInFlight, line).toBe(most);
    }
  });
});
