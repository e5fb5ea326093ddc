import { describe, expect, it } from "vitest";
import { createOutput } from "../../../../src/output/terminal/output.ts";
import {
  githubAnnotations,
  githubSummary,
  repositoryPrefix,
} from "../../../../src/output/report/ci/github.ts";
import { createTestContext } from "../../../support.ts";
import { hostileTexts, sampleRun } from "../sample.ts";

describe("where the project lies in the repository", () => {
  it.each<[string, string | undefined, string | undefined]>([
    ["/w/repo", "/w/repo", ""],
    ["/w/repo/docs/site", "/w/repo", "docs/site/"],
    ["/w/repo/..docs", "/w/repo", "..docs/"],
    ["/w/other", "/w/repo", undefined],
    ["/w", "/w/repo", undefined],
    ["/w/repo", undefined, undefined],
    ["/w/repo", "", undefined],
  ])("%s in %s", (root, repository, expected) => {
    expect(repositoryPrefix(root, repository)).toBe(expected);
  });
});

/** What a run in GitHub Actions prints for the annotations of these failures. */
async function printed(
  failed: readonly (readonly [string, string])[],
  prefix: string | undefined = "",
  before = "",
): Promise<string> {
  const context = createTestContext({ cwd: "/", env: { GITHUB_ACTIONS: "true" } });
  const output = createOutput(context);
  const { failures } = sampleRun({ failed });
  await output.aside(before);
  for (const each of githubAnnotations(failures, failures.length, prefix)) {
    await output.annotate(each);
  }
  await output.note("::error::the breaker is still at work");
  expect(context.stdoutText()).toBe("");
  return context.stderrText();
}

describe("annotations", () => {
  it("name file, line and column", async () => {
    const text = await printed([["a b.md", "a b.md:3:5: 50% bad: x, y"]], "docs/");
    expect(text.split("\n")[0]).toBe(
      "::error file=docs/a b.md,line=3,col=5,title=Not uploaded::50%25 bad: x, y",
    );
  });

  it("say the place in words where the file is not of the repository", async () => {
    const { failures } = sampleRun({ failed: [["a.md", "a.md:3:5: bad"]] });
    expect(githubAnnotations(failures, 1, undefined)).toEqual([
      { level: "error", title: "Not uploaded", message: "a.md:3:5: bad" },
    ]);
  });

  it("are 10, and a notice tells of the others", async () => {
    const failed = Array.from({ length: 12 }, (_, index) => [`${index}.md`, "bad"] as const);
    const lines = (await printed(failed)).split("\n");
    expect(lines.filter((line) => line.startsWith("::error "))).toHaveLength(10);
    expect(lines[10]).toBe(
      "::notice title=knowctl ingest::12 documents failed, 2 of them not shown here; the job summary has more",
    );
  });

  it("do not take more failures than they show", () => {
    let taken = 0;
    const endless = (function* () {
      for (;;) {
        taken++;
        yield { path: "a", reason: "b", retryable: false };
      }
    })();
    expect(githubAnnotations(endless, 1_000_000, "")).toHaveLength(11);
    expect(taken).toBeLessThanOrEqual(11);
  });

  it.each(hostileTexts)("stay one command each: %j", async (text) => {
    for (const failed of [
      [text, "reason"],
      ["a.md", text],
      [text, text],
    ] as const) {
      const lines = (await printed([failed])).split("\n");
      expect(lines).toHaveLength(3);
      const [, properties = ""] = /^::error (.*?)::/.exec(lines[0]!) ?? [];
      // The runner splits at commas, then at the first `=`.
      const names = properties.split(",").map((each) => each.split("=")[0]);
      expect(names).toEqual(failed[0] === "" ? ["title"] : ["file", "title"]);
      expect(lines[0]).not.toMatch(
        /##(?:vso)?\[|[\u0000-\u0008\u000a-\u001f\u007f-\u009f]|%(?!25|0A|0D|3A|2C)/,
      );
      expect(lines[1]).toBe(": :error::the breaker is still at work");
    }
  });

  it("begin a line of their own, after which the breaker knows where it is", async () => {
    const text = await printed([["a.md", "bad"]], "", "a line that is not ended");
    expect(text.split("\n")).toEqual([
      "a line that is not ended",
      "::error file=a.md,title=Not uploaded::bad",
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
  it("shows status, counts, failures by reason", () => {
    const { head, failures } = sampleRun({
      failed: [["docs/a.md", "docs/a.md:3:5: bad date"]],
      skipped: [["empty", 2]],
      commit: "a1b2c3",
    });
    const text = githubSummary(head, failures);
    expect(text).toContain("## knowctl ingest: Done, with failures\n");
    expect(text).toContain(
      "| created | updated | unchanged | skipped | failed | renamed |\n| --- | --- | --- | --- | --- | --- |\n| 2 | 1 | 0 | 2 | 1 | 0 |\n",
    );
    expect(text).toContain("| 1 | bad date |");
    expect(text).toContain("| docs/a.md&#58;3&#58;5 | bad date |");
    expect(text).toContain("| 2 | empty |");
    expect(text).toContain("commit a1b2c3");
    expect(text).not.toContain("Not in the index");
    const lost: typeof head.lost = [
      { path: "docs/b.md", id: "docs/b.md", result: "stale", reason: "an older text" },
    ];
    expect(githubSummary({ ...head, lost }, failures)).toContain(
      "### Not in the index as sent\n\n| document | result |\n| --- | --- |\n| docs/b.md | stale&#58; an older text |\n",
    );
  });

  it("holds no markup but its own", () => {
    const make = (texts: readonly string[]): string => {
      const { head, failures } = sampleRun({
        failed: texts.map((text) => [text, text] as const),
        skipped: texts.map((text) => [text, 1] as const),
        error: texts.join(""),
        status: "error",
      });
      return githubSummary(head, failures);
    };
    // Beside letters and references only what the summary of harmless texts has as well.
    const marks = (text: string): string =>
      text.replace(/&#\d+;/g, "").replace(/[^|<>`#[\]!*_~\n:]/g, "");
    const harmless = make(hostileTexts.map((_, index) => `text ${index}`));
    expect(marks(make(hostileTexts))).toBe(marks(harmless));
    expect(make(hostileTexts)).not.toContain("www.");
  });

  it("stays below 1 MiB", () => {
    const failed = Array.from({ length: 3000 }, (_, index) => {
      const text = `${index}${"<|é".repeat(2000)}`;
      return [text, `reason ${text}`] as const;
    });
    const skipped = failed.map(([, reason]) => [reason, 1] as const);
    const { head, failures } = sampleRun({ failed, skipped, error: "<".repeat(1e6) });
    expect(Buffer.byteLength(githubSummary(head, failures))).toBeLessThan(1024 * 1024);
  });
});
