import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  coverageOf,
  CoverageOutput,
  questionOf,
  type CoverageReport,
} from "../../../src/checks/eval/coverage.ts";
import { retrieved, sampleCase } from "../../checks/eval/sample.ts";
import { runHere } from "../../main.ts";
import { startTestService, type TestService } from "../../service.ts";

const suite = JSON.stringify({
  version: 1,
  defaults: { k: 1 },
  cases: [
    { id: "leave", question: "holiday calendar", must_retrieve: ["docs/leave.md"] },
    { id: "moon", question: "moonlight", must_retrieve: ["docs/leave.md"] },
    { id: "draft", question: "canteen lunch", must_retrieve: ["docs/lunch.md"], review: true },
  ],
});
const files = {
  "suite.json": suite,
  "docs/leave.md": "# Leave\n\nWrite your holiday into the calendar.\n",
  "docs/lunch.md": "# Lunch\n\nThe canteen serves lunch at noon.\n",
};

async function uploaded(...flags: string[]): Promise<TestService> {
  const service = await startTestService({ dialect: "onyx", files });
  const sent = await runHere(["ingest", "docs", "--cc-pair-id", "2", ...flags], {
    cwd: service.folder,
    env: service.env,
  });
  expect(sent.code, sent.stderr).toBe(0);
  await service.sandbox.idle();
  writeFileSync(
    join(service.folder, "docs/new.md"),
    "# New\n\nNobody has uploaded this page yet.\n",
  );
  return service;
}

const runIn = ({ folder, env }: TestService, line: string) =>
  runHere(["eval", ...line.split(" ")], { cwd: folder, env });

async function coverage(service: TestService, line: string): Promise<CoverageReport> {
  const { code, stdout, stderr } = await runIn(service, `coverage ${line} --json`);
  expect(code, stderr).toBe(0);
  expect(CoverageOutput.safeParse(JSON.parse(stdout)).error).toBe(undefined);
  return JSON.parse(stdout) as CoverageReport;
}

const resultsOf = ({ documents }: CoverageReport) =>
  documents.map(({ path, result, questions }) => `${path} ${result} ${questions}`);

describe("eval coverage", () => {
  it("asks a search, and says what it cannot know", async () => {
    const service = await uploaded();
    const report = await coverage(service, "suite.json docs");
    expect(resultsOf(report)).toEqual([
      "docs/leave.md covered 1",
      "docs/lunch.md uncovered 0",
      "docs/new.md not-sent 0",
    ]);
    expect(report.withoutSource).toEqual([{ id: "moon", question: "moonlight" }]);
    expect(report.summary).toMatchObject({ covered: 1, uncovered: 1, notSent: 1, notAsked: 1 });
    expect(report.unknown.join("\n")).toMatch(
      /1 question: drafted[^]*key of this profile may not see/,
    );
    expect(service.sandbox.ledger.modelCalls).toBe(0);
    const drafts = await coverage(service, "suite.json docs --drafts");
    expect(resultsOf(drafts)).toContain("docs/lunch.md covered 1");
  });

  it("reads reports and recordings of earlier runs without the service", async () => {
    const service = await uploaded();
    const run = "retrieval suite.json --report run.json --record taken";
    expect((await runIn(service, run)).code).toBe(13);
    const asked = service.sandbox.ledger.requests.length;
    const fromReport = await coverage(service, "run.json docs");
    expect(resultsOf(fromReport)).toContain("docs/leave.md covered 1");
    expect(fromReport.unknown.join("\n")).toContain("run.json is an earlier run of suite.json");
    const replayed = await coverage(service, "suite.json docs --replay taken");
    expect(resultsOf(replayed)).toEqual([
      "docs/leave.md covered 1",
      "docs/lunch.md uncovered 0",
      "docs/new.md uncovered 0",
    ]);
    expect(replayed.unknown.join("\n")).toContain(
      "which documents are uploaded: recordings do not show it",
    );
    expect(service.sandbox.ledger.requests).toHaveLength(asked);
  });

  it("reads the questions of stored sessions", async () => {
    const service = await uploaded();
    const { folder, env } = service;
    await runHere(["chat", "When is lunch in the canteen?"], { cwd: folder, env });
    const report = await coverage(service, "--sessions docs");
    expect(resultsOf(report)).toContain("docs/lunch.md covered 1");
  });

  it("knows documents by the ids of their upload, whatever its prefix was", async () => {
    const service = await uploaded("--id-prefix", "handbook/");
    const { folder, env } = service;
    await runHere(["chat", "When is lunch in the canteen?"], { cwd: folder, env });
    const report = await coverage(service, "suite.json docs --sessions");
    expect(report.unknown.join("\n")).not.toContain("which documents are uploaded");
    expect(resultsOf(report)).toEqual([
      "docs/leave.md covered 1",
      "docs/lunch.md covered 1",
      "docs/new.md not-sent 0",
    ]);
  });

  it("concludes nothing from a state that it cannot read", async () => {
    const service = await uploaded();
    const path = join(service.folder, ".knowctl/state.db");
    for (const each of ["-wal", "-shm"]) rmSync(`${path}${each}`, { force: true });
    writeFileSync(path, "no database, whatever its name says");
    const damaged = await coverage(service, "suite.json docs");
    expect(damaged.unknown.join("\n")).toMatch(
      /which documents are uploaded: cannot use the state .*state\.db: .*not a database/,
    );
    rmSync(join(service.folder, ".knowctl"), { recursive: true });
    const none = await coverage(service, "suite.json docs");
    expect(none.unknown.join("\n")).toContain("no upload of this folder is recorded here");
  });

  it("tells the cost before it asks, and writes every form", async () => {
    const service = await uploaded();
    const refused = await runIn(service, "coverage suite.json docs --via chat");
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toContain("This run costs model tokens");
    const line = "coverage suite.json docs --report gaps.xml --report gaps.html";
    const { code, stdout } = await runIn(service, line);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^uncovered +docs\/lunch\.md: no question retrieves or cites it$/m);
    expect(stdout).toMatch(/^not sent +docs\/new\.md: /m);
    expect(stdout).toContain("not known: ");
    const xml = readFileSync(join(service.folder, "gaps.xml"), "utf8");
    expect(xml).toMatch(/failures="0" errors="0" skipped="3"/);
    expect(readFileSync(join(service.folder, "gaps.html"), "utf8")).toContain("docs/lunch.md");
  });

  it("is exit 2 without questions or documents, 10 if a question ends in an error", async () => {
    const service = await uploaded();
    const none = await runIn(service, "coverage docs");
    expect(none.code).toBe(2);
    expect(none.stderr).toContain("no questions: name a suite, a report, or --sessions");
    expect((await runIn(service, "coverage suite.json docs/none")).code).toBe(2);
    writeFileSync(
      join(service.folder, "other.json"),
      JSON.stringify({
        version: 1,
        cases: [{ id: "a", question: "lunch", must_retrieve: ["docs/lunch.md"] }],
      }),
    );
    const run = "retrieval other.json --record taken";
    await runIn(service, run);
    for (const name of readdirSync(join(service.folder, "taken/cases"))) {
      rmSync(join(service.folder, "taken/cases", name));
    }
    const broken = await runIn(service, "coverage other.json docs --replay taken");
    expect(broken.code).toBe(10);
    expect(broken.stdout).toContain("not known: the documents of 1 question: the recording");
  });
});

describe("the coverage of a case", () => {
  const documents = [{ path: "docs/a.md", ids: ["a"], isUploaded: undefined }];

  it("has the first k documents of a search, whether by path or by id", () => {
    const runs = [
      {
        outcome: "failed" as const,
        retrieved: retrieved("docs/b.md", "docs/a.md"),
        cited: [],
        checks: [],
        elapsedMs: 1,
        calls: 0,
      },
    ];
    const covered = (k: number) =>
      coverageOf(documents, [questionOf(sampleCase("c", { k, runs }))], [], false).summary.covered;
    expect([covered(1), covered(2)]).toEqual([0, 1]);
  });

  it("is unknown for a question that was not asked", () => {
    const skipped = questionOf(sampleCase("c", { outcome: "skipped", reason: "why", runs: [] }));
    expect(skipped).toMatchObject({ sources: undefined, reason: "why" });
    const { summary } = coverageOf(documents, [skipped], [], false);
    expect(summary).toMatchObject({ questions: 0, notAsked: 1, withoutSource: 0, uncovered: 1 });
  });
});
