import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { compareReports } from "../../src/checks/eval/compare.ts";
import type { Outcome } from "../../src/checks/eval/result.ts";
import type { Finding } from "../../src/checks/lint/rule.ts";
import type { VerifiedDocument } from "../../src/checks/verify/decide.ts";
import { emptyCounts } from "../../src/output/report/from/verified.ts";
import { sampleCase, sampleReport, sampleRun } from "../checks/eval/sample.ts";
import { findingWith } from "../checks/lint/finding.ts";
import { main } from "../main.ts";
import { lintOf, missingDocument } from "../output/report/sample.ts";
import { startTestService } from "../service.ts";
import { createTestContext } from "../support.ts";
import { runIn } from "./state/support.ts";

/** The report of a lint with findings of these severities. */
function lintJson(severities: Finding["severity"][], changes: object = {}, status = "passed") {
  const findings = severities.map((severity) => findingWith({ severity }));
  const { head } = lintOf(findings).data;
  const summary = { ...(head["summary"] as object), ...changes };
  return JSON.stringify({ ...head, status, summary, findings });
}

/** The report of a verify with these results. */
function verifyJson(
  results: VerifiedDocument["result"][],
  changes: object = {},
  status = "passed",
) {
  const documents = results.map((result, index) => {
    const path = `docs/${index}.md`;
    return { ...missingDocument, id: path, path, result };
  });
  const counts = { ...emptyCounts(), documents: results.length };
  for (const result of results) counts[result]++;
  const summary = { ...counts, ...changes };
  return JSON.stringify({ version: 1, command: "verify", status, summary, documents });
}

/** The report of an eval with these outcomes. */
function evalJson(outcomes: Outcome[], changes: object = {}): string {
  const cases = outcomes.map((outcome, index) => sampleCase(`case-${index}`, { outcome }));
  return JSON.stringify({ ...sampleReport(sampleRun(cases)), ...changes });
}

const failing = sampleReport(
  sampleRun([
    sampleCase("fine", { digest: "d" }),
    sampleCase("leave | days", {
      digest: "d",
      outcome: "failed",
      expected: [
        { document: { path: "docs/other.md" }, relevance: 1, path: "docs/other.md" },
        { document: { path: "docs/leave.md" }, relevance: 1, path: "docs/leave.md" },
      ],
    }),
  ]),
);

const files = {
  "lint.json": lintJson(["warning"]),
  "retrieval.json": JSON.stringify({
    ...failing,
    comparison: compareReports(failing, failing, "before.json"),
  }),
  "open.json": verifyJson(["current", "unknown", "current"], {}, "partial"),
  "other.json": "{}",
};

async function summary(line: string, env: Record<string, string> = {}) {
  const service = await startTestService({ files: { ...files, "docs/a.md": "alpha\n" } });
  const { folder: cwd } = service;
  await runIn(service, "ingest docs --cc-pair-id 2 --report upload.json");
  const context = createTestContext({ cwd, env: { ...service.env, ...env } });
  const code = await main(["report", "summary", ...line.split(" ")], context);
  return { code, stdout: context.stdoutText(), stderr: context.stderrText(), cwd };
}

it("shows each step, and fails where one failed", async () => {
  const { code, stdout, stderr } = await summary("lint.json upload.json open.json retrieval.json");
  expect(stdout.split("\n").slice(0, 4)).toEqual([
    "lint\tpassed\t12 documents, 1 warning\t",
    "ingest\tpassed\t1 created\t",
    "verify\tpartial\t2 current, 1 unknown, 3 documents\tdocs/1.md (unknown)",
    expect.stringMatching(
      /^eval retrieval\tfailed\t2 cases, 1 passed, 1 failed, compared with the baseline: same, passed 0.50 \(0.09 to 0.91\), .*\tleave \| days: docs\/leave.md \(failed\)$/,
    ),
  ]);
  // A terminal cuts the table; these lines are whole.
  expect(stderr).toContain(
    "failed: eval retrieval\n  verify: docs/1.md (unknown)\n  eval retrieval: leave | days: docs/leave.md (failed)\n",
  );
  expect(code).toBe(13);
});

it("names the warnings of a lint that failed because of them", async () => {
  const service = await startTestService({
    files: { "docs/a.md": "# A\n\nSee [the map](map.md) of the house, which has three floors.\n" },
  });
  const line = "lint docs --rule dead-link --max-warnings 0 --report lint.json";
  expect((await runIn(service, line)).code).toBe(13);
  const { code, stdout } = await runIn(service, "report summary lint.json");
  expect(stdout).toBe("lint\tfailed\t1 document, 1 warning\tdocs/a.md:3 (dead-link)\n");
  expect(code).toBe(13);
});

it("names what ingest --verify did not find in the index, and fails for it", async () => {
  const rules = [
    { when: { documentId: "docs/b.md" }, do: { index: { keeps: "nothing" as const } } },
  ];
  const service = await startTestService({
    dialect: "onyx",
    files: { "docs/a.md": "alpha\n", "docs/b.md": "beta\n" },
    faults: { rules },
  });
  const upload = "ingest docs --cc-pair-id 2 --verify --wait 1s";
  const reports = "--report up.json --report up.xml --report up.html --gitlab-report up.quality";
  const context = createTestContext({ cwd: service.folder, env: service.env });
  // A wait is over when the sandbox has indexed what it can.
  const sleep: typeof context.sleep = async (ms, signal) => {
    await service.sandbox.idle();
    await context.sleep(ms, signal);
  };
  expect(await main(`${upload} ${reports}`.split(" "), { ...context, sleep })).toBe(13);
  const { code, stdout } = await runIn(service, "report summary up.json");
  expect(stdout).toBe("ingest\tfailed\t1 created, 1 updated, 1 verified\tdocs/b.md (missing)\n");
  expect(code).toBe(13);
  const read = (name: string): string => readFileSync(join(service.folder, name), "utf8");
  expect(read("up.xml")).toMatch(
    /file="docs\/b\.md" time="0\.000"><failure message="[^"]+" type="missing">/,
  );
  expect(read("up.html")).toMatch(/missing.*docs\/b\.md/);
  expect(JSON.parse(read("up.quality"))).toMatchObject([{ location: { path: "docs/b.md" } }]);
});

const gone = ["missing", "missing", "missing"] as const;
it.each<[string, string, string]>([
  ["verify", verifyJson([...gone]), "the status is passed, with 3 missing"],
  [
    "a list that is cut",
    verifyJson(["current"], { missing: 3 }),
    "3 missing in its summary, and 0 in its list",
  ],
  ["a count that is wrong", verifyJson(["missing"], { missing: 0 }), "0 missing in its summary"],
  ["hidden documents", verifyJson(["hidden"]), "the status is passed, with 1 hidden"],
  ["lint", lintJson(["error"]), "the status is passed, with 1 error"],
  ["an unread file", lintJson([], { failed: 1 }), "the status is passed, with 1 failed"],
  ["eval", evalJson(["failed"], { status: "passed" }), "the status is passed, with 1 failed"],
  ["an error", evalJson(["error"], { status: "passed" }), "the status is passed, with 1 error"],
  [
    "a rate below its condition",
    evalJson(["failed"], { status: "passed", failOn: "rate<0.9" }),
    "the status is passed, with 1 failed",
  ],
  [
    "a condition that is none",
    evalJson(["passed"], { failOn: "never" }),
    "the status is passed, with 1 passed",
  ],
])("refuses a report that contradicts itself: %s", async (_, report, words) => {
  const service = await startTestService({ files: { "r.json": report } });
  const { code, stderr } = await runIn(service, "report summary r.json");
  expect(stderr).toContain(`r.json: the report contradicts itself: ${words}`);
  expect(code).toBe(2);
});

it.each<[string, string, string]>([
  ["another command", '{"version":1,"command":"status"}', "not a report of lint, ingest"],
  ["a negative count", lintJson([], { error: -1 }), "summary.error: "],
  ["a wrong type", verifyJson([], { missing: "3" }), "summary.missing: "],
  ["the count of another command", verifyJson([], { failed: 3 }), "summary: "],
  ["a status that is none", verifyJson([], {}, "fine"), "status: "],
  ["another version", '{"version":2,"command":"lint"}', "a report of version 2"],
])("refuses %s by the name of the file", async (_name, text, words) => {
  const service = await startTestService({ files: { "r.json": text } });
  const { code, stderr } = await runIn(service, "report summary r.json");
  expect(code).toBe(2);
  expect(stderr).toContain("error: r.json: ");
  expect(stderr).toContain(words);
});

it("takes a condition of --fail-on for the status", async () => {
  const report = evalJson(["failed", "passed"], { status: "passed", failOn: "rate<0.5" });
  const service = await startTestService({ files: { "r.json": report } });
  expect((await runIn(service, "report summary r.json")).code).toBe(0);
});

it("is incomplete where a step is, or wrote no report", async () => {
  expect(await summary("lint.json upload.json")).toMatchObject({ code: 0 });
  expect(await summary("lint.json open.json")).toMatchObject({ code: 10 });
  const missing = await summary("lint.json verify.json");
  expect(missing.stdout).toContain("verify\tnot run\tit wrote no report");
  expect(missing.code).toBe(10);
});

it("refuses a file that is no report", async () => {
  const { code, stderr } = await summary("lint.json other.json");
  expect(stderr).toContain("other.json: JSON, but not a report of lint, ingest, verify or eval");
  expect(code).toBe(2);
});

it("becomes a part of the job summary in a GitHub job", async () => {
  const { cwd } = await summary("lint.json");
  const file = join(cwd, "summary.md");
  const env = { GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: file };
  expect((await summary("retrieval.json", env)).code).toBe(13);
  expect(readFileSync(file, "utf8")).toContain("| eval retrieval | failed | 2 cases");
  expect(readFileSync(file, "utf8")).toContain("leave &#124; days");
});

it("names the file of a failed document once", async () => {
  const service = await startTestService({ files: { "docs/bad.docx": "no Word document" } });
  await runIn(service, "ingest docs --cc-pair-id 2 --report up.json");
  const context = createTestContext({ cwd: service.folder, env: service.env });
  expect(await main(["report", "summary", "up.json"], context)).toBe(10);
  expect(context.stdoutText()).toContain("\tdocs/bad.docx: no Word document");
});
