import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { main } from "../main.ts";
import { startTestService } from "../service.ts";
import { createTestContext } from "../support.ts";
import { runIn } from "./state/support.ts";

const check = (command: string, status: string, more: object): string =>
  JSON.stringify({ version: 1, command, status, ...more });

const files = {
  "lint.json": check("lint", "passed", {
    summary: { documents: 3, warning: 1 },
    findings: [{ severity: "warning" }],
  }),
  "retrieval.json": check("eval retrieval", "failed", {
    summary: {
      cases: 2,
      passed: 1,
      failed: 1,
      metrics: {
        hit: { value: 0.5, low: 0.1, high: 0.9, n: 2 },
        mrr: { value: null, low: null, high: null, n: 0 },
      },
    },
    comparison: { baseline: "before.json", verdict: "cannot-tell", worse: [] },
    cases: [
      { id: "fine", outcome: "passed" },
      {
        id: "leave | days",
        outcome: "failed",
        expected: [
          { path: "docs/found.md", rank: 1 },
          { path: "docs/leave.md", rank: null },
        ],
      },
    ],
  }),
  "open.json": check("verify", "partial", {
    summary: { current: 2, unknown: 1, documents: 3 },
    documents: [
      { id: "a", path: "docs/a.md", result: "current" },
      { id: "c", path: "docs/c.md", result: "current" },
      { id: "b", path: "docs/b.md", result: "unknown" },
    ],
  }),
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
    "lint\tpassed\t3 documents, 1 warning\t",
    "ingest\tpassed\t1 created\t",
    "verify\tpartial\t2 current, 1 unknown, 3 documents\tdocs/b.md (unknown)",
    "eval retrieval\tfailed\t2 cases, 1 passed, 1 failed, compared with the baseline: cannot tell, hit 0.50 (0.10 to 0.90)\tleave | days: docs/leave.md (failed)",
  ]);
  // A terminal cuts the table; these lines are whole.
  expect(stderr).toContain(
    "failed: eval retrieval\n  verify: docs/b.md (unknown)\n  eval retrieval: leave | days: docs/leave.md (failed)\n",
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

const one = (result: string) => ({ id: "a", path: "a.md", result });
it.each<[string, string, string, object, string]>([
  [
    "verify",
    "verify",
    "passed",
    { summary: { missing: 3 }, documents: [one("missing"), one("missing"), one("missing")] },
    "the status is passed, with 3 missing",
  ],
  [
    "a list that is cut",
    "verify",
    "passed",
    { summary: { current: 1, missing: 3 }, documents: [one("current")] },
    "3 missing in its summary, and 0 in its list",
  ],
  [
    "counts that are gone",
    "verify",
    "passed",
    { summary: {}, documents: [one("missing")] },
    "0 missing in its summary, and 1 in its list",
  ],
  [
    "hidden documents of a plain verify",
    "verify",
    "passed",
    { summary: { hidden: 1 }, documents: [one("hidden")] },
    "the status is passed, with 1 hidden",
  ],
  [
    "lint",
    "lint",
    "passed",
    { summary: { error: 1 }, findings: [{ severity: "error" }] },
    "the status is passed, with 1 error",
  ],
  [
    "lint with a file that could not be read",
    "lint",
    "passed",
    { summary: { failed: 1 }, findings: [] },
    "the status is passed, with 1 failed",
  ],
  [
    "failures in the words of another command",
    "verify",
    "passed",
    { summary: { current: 1, failed: 3 }, documents: [one("current")] },
    "3 failed, and verify has no such count",
  ],
  [
    "errors in a word of no command",
    "lint",
    "passed",
    { summary: { documents: 1, errors: 5 }, findings: [] },
    "5 errors, and lint has no such count",
  ],
  [
    "eval",
    "eval answers",
    "passed",
    { summary: { cases: 1, failed: 1 }, cases: [{ id: "a", outcome: "failed" }] },
    "the status is passed, with 1 failed",
  ],
  [
    "eval with errors",
    "eval retrieval",
    "passed",
    { summary: { cases: 1, error: 1 }, cases: [{ id: "a", outcome: "error" }] },
    "the status is passed, with 1 error",
  ],
  [
    "eval with a rate below its condition",
    "eval retrieval",
    "passed",
    {
      failOn: "rate<0.9",
      summary: { cases: 1, failed: 1 },
      cases: [{ id: "a", outcome: "failed" }],
    },
    "the status is passed, with 1 failed",
  ],
  [
    "eval with a condition that is none",
    "eval retrieval",
    "passed",
    { failOn: "never", summary: { cases: 1, passed: 1 }, cases: [{ id: "a", outcome: "passed" }] },
    "the status is passed, with 1 passed",
  ],
])("refuses a report that contradicts itself: %s", async (_, command, status, more, words) => {
  const service = await startTestService({ files: { "r.json": check(command, status, more) } });
  const { code, stderr } = await runIn(service, "report summary r.json");
  expect(stderr).toContain(`r.json: the report contradicts itself: ${words}`);
  expect(code).toBe(2);
});

it.each<[string, string, string]>([
  ["another command", check("status", "passed", { summary: {} }), "not a report of lint, ingest"],
  ["a negative count", check("lint", "passed", { summary: { error: -1 } }), "summary.error: "],
  ["a wrong type", check("verify", "passed", { summary: { missing: "3" } }), "summary.missing: "],
  ["a status that is none", check("verify", "fine", { summary: {} }), "status: "],
  ["another version", `{"version":2,"command":"lint"}`, "version: "],
])("refuses %s by the name of the file", async (_name, text, words) => {
  const service = await startTestService({ files: { "r.json": text } });
  const { code, stderr } = await runIn(service, "report summary r.json");
  expect(code).toBe(2);
  expect(stderr).toContain("error: r.json: ");
  expect(stderr).toContain(words);
});

it("takes a condition of --fail-on for the status", async () => {
  const report = check("eval retrieval", "passed", {
    failOn: "rate<0.5",
    summary: { cases: 2, passed: 1, failed: 1 },
    cases: [
      { id: "a", outcome: "failed" },
      { id: "b", outcome: "passed" },
    ],
  });
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
