import { describe, expect, it } from "vitest";
import { compareReports } from "../../../src/checks/eval/compare.ts";
import { EvalOutput, type EvalReport } from "../../../src/checks/eval/result.ts";
import { checkEvalFormat, parseBaseline } from "../../../src/commands/eval/eval.ts";
import { failUnlessPassed } from "../../../src/checks/eval/report.ts";
import { annotationsOf, jobSummary } from "../../../src/output/report/github.ts";
import { htmlReport } from "../../../src/output/report/html.ts";
import { junitReport } from "../../../src/output/report/junit.ts";
import { CliError } from "../../../src/errors.ts";
import { evalReport } from "../../../src/output/report/from/eval.ts";
import { verdictText } from "../../../src/output/report/from/eval-words.ts";
import { jsonOf, lineOf, resultLine } from "../../../src/output/report/json.ts";
import {
  retrieved,
  sampleCase,
  sampleReport,
  sampleRun as evalRun,
} from "../../checks/eval/sample.ts";
import { evalPlaces, lintOf, manyFindings } from "./sample.ts";
import { safeFinding } from "../../../src/output/report/from/lint.ts";
import { type Item, gather, placeOf } from "../../../src/output/report/report.ts";
import { createSecrets } from "../../../src/output/terminal/redact.ts";
import { findingWith } from "../../checks/lint/finding.ts";
import {
  bareReason,
  formatBytes,
  formatTime,
  missingText,
} from "../../../src/output/report/text.ts";

describe("eval", () => {
  const cases = [
    sampleCase("a", { group: "people", digest: "d", k: 5 }),
    sampleCase("b", { outcome: "failed", profile: "intern" }),
    sampleCase("c", { outcome: "error" }),
  ];
  const plain = sampleReport(evalRun(cases));
  const report: EvalReport = { ...plain, comparison: compareReports(plain, plain, "base.json") };
  const dataOf = (of: EvalReport) => evalReport(of, evalPlaces).data;
  const textOf = (of: EvalReport): string => [...jsonOf(dataOf(of))].join("");

  describe("the JSON report of eval", () => {
    it("is what schema/eval.schema.json describes, as the lines of ndjson", () => {
      const empty = sampleReport(evalRun([]));
      const lines = report.cases.map((each) => lineOf("case", each));
      lines.push(resultLine(dataOf(report)));
      for (const text of [textOf(report), textOf(plain), textOf(empty), ...lines]) {
        expect(EvalOutput.safeParse(JSON.parse(text)).error).toBe(undefined);
      }
    });

    it("has a line for each case", () => {
      expect(textOf(report).split("\n")).toHaveLength(cases.length + 3);
    });

    it("is read back whole as a baseline", () => {
      expect(parseBaseline(textOf(report), "b.json")).toEqual(JSON.parse(textOf(report)));
      expect(parseBaseline(`\ufeff${textOf(report)}`, "b.json").cases).toHaveLength(cases.length);
    });
  });

  describe("drafts that were asked", () => {
    const found = retrieved("docs/a.md");
    const expected = [
      { document: { path: "docs/a.md" }, relevance: 1, path: "docs/a.md", rank: 1 },
    ];
    const draft = (provisional: "passed" | "failed" | "error" | "flaky") =>
      sampleCase(`draft-${provisional}`, {
        outcome: "skipped",
        provisional,
        reason: `provisional: ${provisional}${provisional === "error" ? ": no response" : ""}`,
        expected,
        retrieved: found,
      });
    const drafts = (["passed", "failed", "flaky", "error"] as const).map(draft);
    const only = sampleReport(evalRun(drafts));
    const shown = evalReport(only, evalPlaces);

    it("change neither counts, nor metrics, nor the exit code", () => {
      const counted = [sampleCase("a"), sampleCase("b")];
      const { summary, status } = sampleReport(evalRun([...counted, ...drafts]));
      expect({ ...summary, cases: 2, skipped: 0 }).toEqual(sampleReport(evalRun(counted)).summary);
      expect(status).toBe("passed");
      expect(() => failUnlessPassed(only, undefined)).not.toThrow();
    });

    it("are named in the title and the verdict, which is neither good nor bad", () => {
      expect(shown.title).toBe("0 of 4 cases passed: 4 provisional");
      expect(shown.verdict).toEqual({ word: "Provisional", tone: "soft" });
      expect(shown.counts.find(({ name }) => name === "skipped")?.count).toBe(0);
    });

    it.each([
      ["JSON", [...jsonOf(shown.data)].join(""), /"provisional": ?"failed"/],
      ["a line of ndjson", lineOf("case", drafts[1]!), /"provisional":"failed"/],
      [
        "JUnit",
        [...junitReport(shown)].join(""),
        /tests="4" failures="0" errors="0" skipped="4"[^]*a draft, it does not count: failed/,
      ],
      ["HTML", [...htmlReport(shown)].join(""), /class="word soft">provisional</],
      ["the summary of a GitHub job", jobSummary(shown), /provisional/],
    ])("are marked in %s", (_form, text, mark) => {
      expect(text).toMatch(mark);
      const items = /<details[^]*<\/details>/.exec(text)?.[0] ?? "";
      expect(items).not.toMatch(/class="[^"]*\b(?:ok|bad|warn)\b/);
      expect(text).not.toMatch(/✓|✗|<failure|<error/);
    });

    it("are notices in GitHub, and no finding of code quality", () => {
      const levels = [...annotationsOf(shown, undefined)].map(({ level }) => level);
      expect(new Set(levels)).toEqual(new Set(["notice"]));
    });

    it("are valid reports", () => {
      expect(EvalOutput.safeParse(JSON.parse(textOf(only))).error).toBe(undefined);
    });
  });

  it("says no more than the counts where no case got better or worse", () => {
    const none = { better: [], worse: [], flaky: [], undecided: [], verdict: "same" as const };
    const comparison = { ...report.comparison!, ...none, compared: 8 };
    expect(verdictText(comparison)).toBe("same as base.json: 0 better, 0 worse of 8 cases");
  });

  describe("--fields", () => {
    const check = (fields: string, baseline?: string) => () =>
      checkEvalFormat({ fields, ...(baseline === undefined ? {} : { baseline }) });

    it("takes each member of a report", () => {
      const names = (value: object, prefix = ""): string[] =>
        Object.entries(value).flatMap(([name, inner]: [string, unknown]) =>
          typeof inner === "object" && inner !== null && !Array.isArray(inner)
            ? [prefix + name, ...names(inner, `${prefix}${name}.`)]
            : [prefix + name],
        );
      check(names(report).join(","), "base.json")();
      check(names(plain).join(","))();
    });

    it("refuses other names, and those of a comparison without a baseline, before any request", () => {
      for (const name of ["sumary", "summary.metrics.mmr", "comparison.verdict"]) {
        expect(check(name)).toThrow(`unknown field ${name}`);
      }
    });
  });

  describe("a bad baseline", () => {
    const textWith = (changes: object): string =>
      JSON.stringify({ ...(JSON.parse(textOf(report)) as object), ...changes });
    const caseWith = (changes: object): string =>
      textWith({ cases: [report.cases[0], { ...report.cases[1], ...changes }] });

    it.each([
      ["no JSON", "{", "not a JSON report"],
      ["another file", '{"version":1}', "not a report of knowctl eval"],
      ["null", "null", "not a report of knowctl eval"],
      ["another command", textWith({ command: "verify" }), "not a report of knowctl eval"],
      ["another version", textWith({ version: 2 }), "a report of version 2"],
      ["a missing member", textWith({ basis: undefined }), "basis: "],
      ["an unknown member", caseWith({ colour: 1 }), "cases.1: "],
      ["a wrong value", caseWith({ outcome: "fine" }), "cases.1.outcome: "],
    ])("that is or has %s is refused with its name", (_, text, words) => {
      let error: unknown;
      try {
        parseBaseline(text, "b.json");
      } catch (thrown) {
        error = thrown;
      }
      expect(error).toBeInstanceOf(CliError);
      expect(error).toMatchObject({ exit: "usage" });
      expect((error as CliError).message).toContain("--baseline b.json: ");
      expect((error as CliError).message).toContain(words);
    });
  });
});

describe("a finding that may be shown", () => {
  it("keeps only the members of a finding", () => {
    const withFix = { ...findingWith(), fix: "a secret", span: { start: 1, end: 2 } };
    expect(safeFinding(withFix, (text) => text)).toEqual(findingWith());
  });

  it("has no secret, not even the start of one, and no control characters", () => {
    const key = "onyx_pat_1234567890abcdef";
    const secrets = createSecrets();
    secrets.add(key);
    const message = `a key ${key}\u001b]0;x\u0007 and its start ${key.slice(0, 12)}`;
    const safe = safeFinding(findingWith({ message, path: `docs/${key}.md` }), secrets.redactLast);
    expect(safe.message).toBe("a key ***^[]0;x^G and its start ***");
    expect(safe.path).toBe("docs/***.md");
  });
});

describe("the place of a case that did not pass", () => {
  const placeOf = (changes: Parameters<typeof sampleCase>[1], lineOf?: () => number) => {
    const of = sampleCase("a", { outcome: "failed", ...changes });
    const places = { ...evalPlaces, ...(lineOf && { lineOf }) };
    const [item] = evalReport(sampleReport(evalRun([of])), places).items as Item[];
    return `${item?.path}:${item?.line}`;
  };

  it("is the document that should have come, at its section where that is known", () => {
    expect(placeOf({})).toBe("docs/a.md:1");
    expect(placeOf({}, () => 12)).toBe("docs/a.md:12");
  });

  it.each([["docs/x.md"], ["docs/x.md", "docs/y.md"], { path: "docs/x.md" }])(
    "is the document that an answer should have cited: %j",
    (value) => {
      const checks = [
        { word: "not-cites", value: "docs/old.md", passed: false },
        { word: "cites", value, passed: false },
      ];
      expect(placeOf({ expected: [], checks })).toBe("docs/x.md:1");
    },
  );

  it("is the expected document that was retrieved, where its answer is wrong", () => {
    const checks = [{ word: "contains", value: "28 days", passed: false }];
    const { retrieved } = sampleCase("a");
    expect(placeOf({ retrieved, checks }, () => 7)).toBe("docs/a.md:7");
  });

  it("names the documents of an expectation as the suite does", () => {
    const value = [{ path: "docs/x.md" }, { link: "https://docs.example.com/y" }];
    const checks = [{ word: "cites", value, passed: false, detail: "not cited: docs/x.md" }];
    const of = sampleCase("a", { outcome: "failed", checks });
    const [item] = evalReport(sampleReport(evalRun([of])), evalPlaces).items as Item[];
    expect(item?.message).toContain(
      "; cites docs/x.md, https://docs.example.com/y: not cited: docs/x.md",
    );
  });
});

describe("gathered items", () => {
  it("are read once, and few are kept", () => {
    let read = 0;
    const { items } = lintOf(manyFindings(5000, "note"));
    const counting = function* () {
      for (const each of items) {
        read++;
        yield each;
      }
    };
    const { shown, first, total, groups } = gather(counting(), 10);
    expect([read, total, shown.length, first.note.length]).toEqual([5000, 5000, 10, 10]);
    expect(groups).toMatchObject([{ word: "note", name: "missing-link", count: 5000 }]);
  });

  it("share one group after a thousand", () => {
    const [one] = [...lintOf(manyFindings(1, "error")).items];
    const all = Array.from({ length: 1500 }, (_, index) => ({ ...one!, group: `r ${index}` }));
    const { groups } = gather(all, 10);
    expect(groups).toHaveLength(1001);
    expect(groups[0]).toMatchObject({ name: "other reasons", count: 500 });
  });
});

describe("text", () => {
  describe("the bare reason", () => {
    it.each([
      ["a.md", "a.md:3:5: bad", "bad"],
      ["a.md", "a.md:3: bad", "bad"],
      ["a.md", "a.md: bad", "bad"],
      ["a.md", "a.md", "a.md"],
      ["a.md", "a.md: ", "a.md: "],
      ["a.md", "a.mdx: bad", "a.mdx: bad"],
      ["a.md", "no a.md: bad", "no a.md: bad"],
      ["", ": bad", ": bad"],
    ])("of %j: %j", (path, reason, expected) => {
      expect(bareReason({ path, reason })).toBe(expected);
    });
  });

  it("a place is as exact as it is known", () => {
    expect(placeOf({ path: "a.md" })).toBe("a.md");
    expect(placeOf({ path: "a.md", line: 3 })).toBe("a.md:3");
    expect(placeOf({ path: "a.md", line: 3, column: 5 })).toBe("a.md:3:5");
  });

  it.each([
    [[], 3, ""],
    [[3], 8, "shard 3 of 8 is missing"],
    [[3, 7], 8, "shards 3 and 7 of 8 are missing"],
    [[1, 2, 3], 4, "shards 1, 2 and 3 of 4 are missing"],
    [
      Array.from({ length: 22 }, (_, index) => index + 1),
      30,
      "shards 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 and 2 more of 30 are missing",
    ],
  ])("missing %j of %d", (missing, shards, expected) => {
    expect(missingText(missing, shards)).toBe(expected);
  });

  it.each([
    [0, "0 B"],
    [1023, "1023 B"],
    [1536, "1.5 KiB"],
    [500 * 1024 ** 2, "500 MiB"],
    [3 * 1024 ** 5, "3072 TiB"],
  ])("%d bytes are %s", (bytes, expected) => expect(formatBytes(bytes)).toBe(expected));

  it.each([
    [0.4, "0 ms"],
    [950, "950 ms"],
    [1500, "1.5s"],
    [90_000, "1m30s"],
  ])("%d ms are %s", (ms, expected) => expect(formatTime(ms)).toBe(expected));
});
