import { describe, expect, it } from "vitest";
import { compareReports } from "../../../src/checks/eval/compare.ts";
import { EvalOutput, type EvalReport } from "../../../src/checks/eval/result.ts";
import { checkEvalFormat, parseBaseline } from "../../../src/commands/eval/eval.ts";
import { CliError } from "../../../src/errors.ts";
import { evalReport } from "../../../src/output/report/from/eval.ts";
import { verdictText } from "../../../src/output/report/from/eval-words.ts";
import { jsonOf, lineOf, resultLine } from "../../../src/output/report/json.ts";
import { sampleCase, sampleReport, sampleRun } from "../../checks/eval/sample.ts";
import { evalPlaces } from "./sample.ts";

const cases = [
  sampleCase("a", { group: "people", digest: "d", k: 5 }),
  sampleCase("b", { outcome: "failed", profile: "intern" }),
  sampleCase("c", { outcome: "error" }),
];
const plain = sampleReport(sampleRun(cases));
const report: EvalReport = { ...plain, comparison: compareReports(plain, plain, "base.json") };
const dataOf = (of: EvalReport) => evalReport(of, evalPlaces).data;
const textOf = (of: EvalReport): string => [...jsonOf(dataOf(of))].join("");

describe("the JSON report of eval", () => {
  it("is what schema/eval.schema.json describes, as the lines of ndjson", () => {
    const empty = sampleReport(sampleRun([]));
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
