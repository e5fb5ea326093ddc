// What the reports of commands are made of, where no form shows it.
import { describe, expect, it } from "vitest";
import { evalReport } from "../../../src/output/report/from/eval.ts";
import { safeFinding } from "../../../src/output/report/from/lint.ts";
import { gather, type Item } from "../../../src/output/report/report.ts";
import { createSecrets } from "../../../src/output/terminal/redact.ts";
import { findingWith } from "../../checks/lint/finding.ts";
import { sampleCase, sampleReport, sampleRun } from "../../checks/eval/sample.ts";
import { evalPlaces, manyFindings, lintOf } from "./sample.ts";

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
    const [item] = evalReport(sampleReport(sampleRun([of])), places).items as Item[];
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
    const [item] = evalReport(sampleReport(sampleRun([of])), evalPlaces).items as Item[];
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
