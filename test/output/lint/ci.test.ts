import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { lintAnnotations, lintSummary } from "../../../src/output/lint/github.ts";
import { lintCodeQuality } from "../../../src/output/lint/gitlab.ts";
import { safeRun, type LintRun } from "../../../src/output/lint/lint-run.ts";
import { writeLintGithub } from "../../../src/output/lint/report.ts";
import { createOutput } from "../../../src/output/terminal/output.ts";
import { createTestContext, temporaryFolder } from "../../support.ts";
import { findingWith } from "../../checks/lint/finding.ts";
import { hostileTexts } from "../report/sample.ts";
import { many, runOf, some } from "./sample.ts";

const safe = (run: LintRun): LintRun => safeRun(run, (text) => text);

describe("annotations", () => {
  it("stand beside the files, worst first", () => {
    expect(lintAnnotations(safe(runOf(some)), "handbook/")).toEqual([
      {
        level: "error",
        file: "handbook/docs/a.md",
        line: 3,
        column: 5,
        title: "no-title",
        message: "no title",
      },
      {
        level: "warning",
        file: "handbook/docs/ä b.pdf",
        title: "missing-link",
        message: "plan.md does not exist",
      },
      {
        level: "notice",
        file: "handbook/docs/a.md",
        line: 3,
        column: 5,
        title: "missing-link",
        message: "plan.md exists, Plan.md does not",
      },
    ]);
  });

  it("name the place outside a repository", () => {
    const [first] = lintAnnotations(safe(runOf(some)), undefined);
    expect(first).toEqual({
      level: "error",
      title: "no-title",
      message: "docs/a.md:3:5: no title",
    });
  });

  it.each([
    [10, 10, 10, [10, 10, 10], undefined],
    [
      11,
      0,
      10,
      [10, 0, 10],
      "11 errors, 10 notes, 2 of them not shown here; the job summary has more",
    ],
    [0, 312, 0, [0, 10, 1], "312 warnings, 302 of them not shown here; the job summary has more"],
    [0, 0, 11, [0, 0, 10], "11 notes, 2 of them not shown here; the job summary has more"],
  ])("are at most 10 of a level: %i errors, %i warnings, %i notes", (e, w, n, expected, last) => {
    const run = safe(runOf([...many(n, "note"), ...many(w, "warning"), ...many(e, "error")]));
    const annotations = lintAnnotations(run, "");
    const levels = ["error", "warning", "notice"];
    expect(levels.map((name) => annotations.filter(({ level }) => level === name).length)).toEqual(
      expected,
    );
    const more = annotations.find(({ title }) => title === "knowctl lint");
    expect(more?.message).toBe(last);
    if (more) expect(annotations.at(-1)).toBe(more);
  });
});

describe("the job summary", () => {
  it("has counts, rules and findings", () => {
    expect(lintSummary(safe(runOf(some, { known: 1 }))))
      .toBe(`## knowctl lint: 1 error, 1 warning, 1 note

12 documents checked, 1 known finding left out

| findings | rule | what is wrong |
| --- | --- | --- |
| 2 | missing-link | A relative link leads to no file |
| 1 | no-title | The document has no title |

<details><summary>Findings</summary>

| level | place | rule | finding |
| --- | --- | --- | --- |
| error | docs/a.md&#58;3&#58;5 | no-title | no title |
| warning | docs/ä b.pdf | missing-link | plan.md does not exist |
| note | docs/a.md&#58;3&#58;5 | missing-link | plan.md exists, Plan.md does not |

</details>

`);
  });

  it("is short without findings", () => {
    expect(lintSummary(safe(runOf([])))).toBe(
      "## knowctl lint: no findings\n\n12 documents checked\n\n",
    );
    const unread = new Map([["docs/c.md", "docs/c.md: cut"]]);
    expect(lintSummary(safe(runOf([], { unread })))).toContain("checked, 1 file not read\n");
  });

  it("lists 100 findings, and stays far below the limit of 1 MiB", () => {
    const long = many(300, "error").map((each) => ({ ...each, message: "#".repeat(9000) }));
    const text = lintSummary(safe(runOf(long)));
    expect(text).toContain("\nand 200 more in the report\n");
    expect(text.length).toBeLessThan(1024 * 1024 * 0.9);
  });

  it("contains no markup of the texts", () => {
    const findings = hostileTexts.map((text) =>
      findingWith({ message: text, path: text, rule: text }),
    );
    const text = lintSummary(safe(runOf(findings)));
    expect(text.replaceAll(/<\/?(?:details|summary)>/g, "")).not.toMatch(/[<>`*[\]!]/);
    // A row for each finding and for each rule, two headers of two lines.
    const rows = text.split("\n").filter((line) => line.startsWith("|"));
    const rules = new Set(hostileTexts).size;
    expect(rows).toHaveLength(hostileTexts.length + rules + 4);
  });
});

describe("writeLintGithub", () => {
  async function tell(env: Record<string, string>): Promise<string> {
    const context = createTestContext({ env });
    const output = createOutput(context);
    output.secrets.add("onyx_pat_1234567890abcdef");
    const finding = findingWith({
      severity: "error",
      message: "a key: onyx_pat_1234567890abcdef\u001b[31m\n::error::x",
    });
    await writeLintGithub(output, env, runOf([finding]), "");
    expect(context.stdoutText()).toBe("");
    return context.stderrText();
  }

  it("writes annotations and the summary, without secrets and control characters", async () => {
    const summary = join(temporaryFolder(), "summary.md");
    expect(await tell({ GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: summary })).toBe(
      "::error file=docs/a.md,line=3,col=5,title=missing-link::a key: ***^[[31m ::error::x\n",
    );
    const text = readFileSync(summary, "utf8");
    expect(text).toContain("a key&#58; &#42;&#42;&#42;&#94;&#91;&#91;31m");
    expect(text).not.toContain("onyx");
  });

  it("does nothing elsewhere", async () => {
    expect(await tell({ CI: "true" })).toBe("");
  });

  it("warns of a summary that cannot be written", async () => {
    const folder = temporaryFolder();
    expect(await tell({ GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: folder })).toContain(
      `warning: cannot write the job summary ${folder}: it is a folder`,
    );
  });
});

describe("GitLab's code quality report", () => {
  const read = (run: LintRun, prefix?: string) =>
    JSON.parse([...lintCodeQuality(safe(run), prefix)].join("")) as Record<string, unknown>[];

  it("has the findings, worst first", () => {
    const found = read(runOf(some), "handbook/");
    expect(found.map(({ severity }) => severity)).toEqual(["major", "minor", "info"]);
    expect(found[0]).toEqual({
      description: "no title",
      check_name: "knowctl/no-title",
      fingerprint: "0000000000000002",
      severity: "major",
      location: { path: "handbook/docs/a.md", lines: { begin: 3 } },
    });
    expect(found[1]).toMatchObject({ location: { lines: { begin: 1 } } });
  });

  it("begins with the files that could not be read", () => {
    const unread = new Map([["docs/c.md", "docs/c.md:1:1: half a character"]]);
    const [first, ...others] = read(runOf(some, { unread }), "handbook/");
    expect(first).toEqual({
      description: "docs/c.md:1:1: half a character",
      check_name: "knowctl/unreadable",
      fingerprint: "unreadable docs/c.md",
      severity: "critical",
      location: { path: "handbook/docs/c.md", lines: { begin: 1 } },
    });
    expect(others).toHaveLength(3);
  });

  it("has at most 10,000", () => {
    expect(read(runOf([...many(10_000, "note"), ...many(1, "error")]))).toHaveLength(10_000);
    expect(read(runOf([]))).toEqual([]);
  });
});
