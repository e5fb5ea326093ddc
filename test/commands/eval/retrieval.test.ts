import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runHere } from "../../main.ts";
import { startTestService, writeFiles } from "../../service.ts";
import { files, startEval, suiteOf, type EvalService } from "./running.ts";

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

describe("eval retrieval", () => {
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
      "docs/leave.md did not come, and the document hb%2Fdocs%2Fleave.md did: if the upload had --id-prefix",
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
    expect(report.cases[1]?.reason).toContain("not asked: the budget of 1 model calls");
    expect([report.code, searchesOf(service).length, report.basis.via]).toEqual([10, 1, "chat"]);
  });
});
