import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { evalReport } from "../../../src/output/report/from/eval.ts";
import { writeReports } from "../../../src/output/report/forms.ts";
import { annotationsOf, ciPrefix, jobSummary } from "../../../src/output/report/github.ts";
import type { Report } from "../../../src/output/report/report.ts";
import { createOutput } from "../../../src/output/terminal/output.ts";
import { sampleCase, sampleReport, sampleRun as evalRun } from "../../checks/eval/sample.ts";
import { createTestContext, temporaryFolder } from "../../support.ts";
import { mixedReport } from "./eval-sample.ts";
import {
  evalPlaces,
  hostileTexts,
  lintOf,
  manyFindings,
  missingDocument,
  sampleRun,
  someFindings,
  uploadOf,
  verifyOf,
} from "./sample.ts";

const mixed = evalReport(mixedReport(), evalPlaces);

describe("where the project lies in the repository", () => {
  it("is known by git, else by the checkout of the CI, also behind links", () => {
    const folder = temporaryFolder();
    const docs = join(folder, "docs");
    mkdirSync(join(folder, "..docs"));
    mkdirSync(docs);
    symlinkSync(folder, join(folder, "linked"));
    expect(ciPrefix(docs, undefined, { CI_PROJECT_DIR: folder })).toBe("docs/");
    expect(ciPrefix(docs, undefined, { GITHUB_WORKSPACE: join(folder, "linked") })).toBe("docs/");
    expect(ciPrefix(join(folder, "..docs"), folder, {})).toBe("..docs/");
    expect(ciPrefix(folder, folder, {})).toBe("");
    // A repository that was checked out below the workspace.
    expect(ciPrefix(docs, docs, { GITHUB_WORKSPACE: folder })).toBe("");
    expect(ciPrefix(folder, docs, {})).toBe(undefined);
    expect(ciPrefix(folder, undefined, { GITHUB_WORKSPACE: "" })).toBe(undefined);
  });
});

describe("annotations", () => {
  it.each<[string, Report, string]>([
    ["lint", lintOf(someFindings), "docs/a.md:3:5: no title"],
    ["ingest", uploadOf(sampleRun({ failed: [["a.md", "a.md:3:5: bad"]] })), "a.md:3:5: bad"],
    ["verify", verifyOf([missingDocument]), "docs/a.md: the service has no document"],
  ])("of %s name the place in words outside a repository", (_command, report, message) => {
    const [first] = annotationsOf(report, undefined);
    expect(first).toMatchObject({ level: "error", message });
    expect(first).not.toHaveProperty("file");
  });

  it.each([
    [10, 10, 10, [10, 10, 10], undefined],
    [11, 0, 10, [10, 0, 10], "2 of 21 are not shown here; the job summary has more"],
    [0, 312, 0, [0, 10, 1], "302 of 312 are not shown here; the job summary has more"],
    [0, 0, 11, [0, 0, 10], "2 of 11 are not shown here; the job summary has more"],
  ])("are at most 10 of a level: %i errors, %i warnings, %i notes", (e, w, n, expected, last) => {
    const findings = [
      ...manyFindings(n, "note"),
      ...manyFindings(w, "warning"),
      ...manyFindings(e, "error"),
    ];
    const annotations = annotationsOf(lintOf(findings), "");
    const levels = ["error", "warning", "notice"];
    expect(levels.map((name) => annotations.filter(({ level }) => level === name).length)).toEqual(
      expected,
    );
    const more = annotations.find(({ title }) => title === "knowctl lint");
    expect(more?.message).toBe(last);
    if (more) expect(annotations.at(-1)).toBe(more);
  });

  it("of eval stand on the document that should have come, else in the suite", () => {
    const shown = annotationsOf(mixed, "handbook/").map(
      ({ level, file, line, title }) => `${level} ${file}:${line} ${title}`,
    );
    expect(shown).toEqual([
      "error handbook/docs/people/holidays.md:1 Worse than before: leave-days",
      "error handbook/tests/suite.yaml:3 failed: no-leak",
      "error handbook/docs/shaky.md:1 flaky: shaky",
      "warning handbook/docs/late.md:1 error: late",
      "warning handbook/docs/later.md:1 error: later",
    ]);
  });

  it("of a suite outside the repository name the suite in words", () => {
    const outside = { ...evalPlaces, suitePath: () => "../suite.yaml" };
    const of = sampleCase("a", { outcome: "failed", expected: [] });
    const report = evalReport(sampleReport(evalRun([of])), outside);
    const [first] = annotationsOf(report, "");
    expect(first?.file).toBe(undefined);
    expect(first?.message).toMatch(/^\.\.\/suite\.yaml:3:5: /);
    expect(annotationsOf(report, "handbook/")[0]?.file).toBe("suite.yaml");
  });

  const printed = async (report: Report, before = ""): Promise<string> => {
    const context = createTestContext({ cwd: "/", env: { GITHUB_ACTIONS: "true" } });
    const output = createOutput(context);
    await output.aside(before);
    for (const each of annotationsOf(report, "")) await output.annotate(each);
    await output.note("::error::the breaker is still at work");
    expect(context.stdoutText()).toBe("");
    return context.stderrText();
  };

  it.each(hostileTexts)("stay one command each: %j", async (text) => {
    for (const failed of [
      [text, "reason"],
      ["a.md", text],
      [text, text],
    ] as const) {
      const lines = (await printed(uploadOf(sampleRun({ failed: [failed] })))).split("\n");
      expect(lines).toHaveLength(3);
      const [, properties = ""] = /^::error (.*?)::/.exec(lines[0]!) ?? [];
      // The runner splits at commas, then at the first `=`.
      const names = properties.split(",").map((each) => each.split("=")[0]);
      expect(names).toEqual(["file", "title"]);
      expect(lines[0]).not.toMatch(
        /##(?:vso)?\[|[\u0000-\u0008\u000a-\u001f\u007f-\u009f]|%(?!25|0A|0D|3A|2C)/,
      );
      expect(lines[1]).toBe(": :error::the breaker is still at work");
    }
  });

  it("begin a line of their own, after which the breaker knows where it is", async () => {
    const report = uploadOf(sampleRun({ failed: [["a b.md", "a b.md:3:5: 50% bad: x, y"]] }));
    expect((await printed(report, "a line that is not ended")).split("\n")).toEqual([
      "a line that is not ended",
      "::error file=a b.md,line=3,col=5,title=Not uploaded::50%25 bad: x, y",
      ": :error::the breaker is still at work",
      "",
    ]);
  });

  it("are nothing outside GitHub Actions, and hold no secret", async () => {
    const outside = createTestContext({ cwd: "/", env: { CI: "true" } });
    await createOutput(outside).annotate({ level: "error", message: "x" });
    expect(outside.stderrText()).toBe("");
    const inside = createTestContext({ cwd: "/", env: { GITHUB_ACTIONS: "true" } });
    const output = createOutput(inside);
    // Escaped or made visible, it would no longer be found.
    const secret = "CANARY%:,\u001b0123";
    output.secrets.add(secret);
    await output.annotate({ level: "error", file: secret, message: secret });
    expect(inside.stderrText()).toBe("::error file=***::***\n");
  });
});

describe("the job summary", () => {
  it("of eval has verdict, metrics with intervals, and what got worse first", () => {
    const text = jobSummary(mixed);
    expect(text).toMatch(/^## knowctl eval retrieval: Failed\n\n1 of 7 cases passed/);
    expect(text).toContain("> cannot tell whether better or worse than base.json");
    expect(text).toContain("| hit&#64;5 | 20.0 &#37; | 3.6 &#37; to 62.4 &#37; | 5 |");
    const words = [...text.matchAll(/^\| ([a-z]+) \| [a-z-]+<br>/gm)].map(([, word]) => word);
    expect(words).toEqual(["worse", "failed", "flaky", "error", "error"]);
    expect(text).toContain(
      "| worse | leave-days<br>How many days of leave does Handbook give&#63; |",
    );
  });

  it("stays below 1 MiB, and says how many are not shown", () => {
    const long = "<|é".repeat(2000);
    const failed = Array.from(
      { length: 3000 },
      (_, i) => [`${i}${long}`, `r ${i}${long}`] as const,
    );
    const skipped = failed.map(([, reason]) => [reason, 1] as const);
    const upload = uploadOf(sampleRun({ failed, skipped, error: "<".repeat(1e6) }));
    const cases = Array.from({ length: 3000 }, (_, index) =>
      sampleCase(String(index), { outcome: "failed", question: long }),
    );
    for (const report of [upload, evalReport(sampleReport(evalRun(cases)), evalPlaces)]) {
      const text = jobSummary(report);
      expect(Buffer.byteLength(text)).toBeLessThan(1024 * 1024);
      expect(text).toMatch(/and 2,\d{3} more in the report/);
    }
  });
});

describe("a GitHub job", () => {
  async function tell(env: Record<string, string>, cwd: string): Promise<string> {
    const context = createTestContext({ cwd, env });
    const report = uploadOf(sampleRun({ failed: [["a.md", "a.md:3:5: bad"]] }));
    const none = { reports: [], gitlab: undefined };
    await writeReports(createOutput(context), env, report, none, "docs/");
    expect(context.stdoutText()).toBe("");
    return context.stderrText();
  }

  it("shows annotations, and keeps what earlier steps wrote in its summary", async () => {
    const folder = temporaryFolder();
    const summary = join(folder, "summary.md");
    const env = { GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: summary };
    const line = "::error file=docs/a.md,line=3,col=5,title=Not uploaded::bad\n";
    for (let run = 0; run < 2; run++) expect(await tell(env, folder)).toBe(line);
    expect(readFileSync(summary, "utf8").match(/^## knowctl ingest/gm)).toHaveLength(2);
    const broken = await tell({ ...env, GITHUB_STEP_SUMMARY: folder }, folder);
    expect(broken).toBe(`${line}warning: cannot write the job summary ${folder}: it is a folder\n`);
  });

  it("is told alone", async () => {
    const folder = temporaryFolder();
    const env = { CI: "true", GITHUB_STEP_SUMMARY: join(folder, "x") };
    expect(await tell(env, folder)).toBe("");
  });
});
