import { describe, expect, it } from "vitest";
import { defaultPairs } from "../../../src/sandbox/store/seeds.ts";
import { testKey, type TestServiceOptions } from "../../service.ts";
import { files, startEval, suiteOf, type EvalService } from "./running.ts";

const leak = {
  id: "leak",
  question: "days of leave",
  profile: "intern",
  must_not_retrieve: ["docs/leave.md"],
};
const profiles = {
  own: {},
  intern: { accessToken: { env: "INTERN_KEY" } },
  same: { accessToken: { env: "SAME_KEY" } },
};
// Its owner is the account of the administrator's key.
const pairs = defaultPairs.map((pair) => ({
  ...pair,
  ...(pair.cc_pair_id === 2 ? { access_type: "private", groups: [] } : {}),
}));

/** A service with a reader who is in no group. */
function startWithReader(
  options: TestServiceOptions = {},
  more: Record<string, string> = {},
): Promise<EvalService> {
  const config = JSON.stringify({ defaultProfile: "own", profiles });
  return startEval({
    ...options,
    files: { ...files, ...more, ".cliconfig.json": config },
    env: {
      INTERN_KEY: `${testKey}-reader`,
      SAME_KEY: testKey,
      JUDGE_INTERN: `${testKey}-reader`,
      KNOWCTL_TRUST_PROJECT: "1",
    },
  });
}

describe("a leak test", () => {
  it("passes where the reader does not get the document and the profile of the run does", async () => {
    const service = await startWithReader({ pairs });
    service.write("suite.json", suiteOf(leak));
    const report = await service.report("retrieval suite.json");
    expect(report.cases[0]).toMatchObject({ outcome: "passed", profile: "intern", reason: null });
    expect(report.code).toBe(0);
  });

  it("fails where the reader gets the document", async () => {
    const service = await startWithReader();
    service.write("suite.json", suiteOf(leak));
    const report = await service.report("retrieval suite.json");
    expect(report.cases[0]).toMatchObject({ outcome: "failed" });
    expect(report.cases[0]?.checks[0]?.detail).toBe("came at rank 1");
    expect(report.code).toBe(13);
  });

  it.each([
    ["retrieval suite.json", 0, leak],
    [
      "answers suite.json --allow-tokens 2",
      2,
      { ...leak, must_not_retrieve: undefined, expect: [{ "not-retrieves": "docs/leave.md" }] },
    ],
  ])(
    "is an error in %s (%i model calls) where nobody gets the document",
    async (line, calls, one) => {
      const rules = [
        { when: { documentId: "docs/leave.md" }, do: { index: { keeps: "nothing" } } },
      ];
      const service = await startWithReader({ pairs, faults: { rules } as never });
      service.write("suite.json", suiteOf(one));
      const report = await service.report(line);
      expect(report.cases[0]?.outcome).toBe("error");
      expect(report.cases[0]?.reason).toBe(
        "the profile of the run does not get docs/leave.md either, so that the leak test proves nothing",
      );
      expect([report.code, report.calls]).toEqual([10, calls]);
    },
  );

  it.each([
    { must_not_retrieve: ["docs/leave.md"] },
    { must_not_retrieve: undefined, expect: [{ "not-retrieves": "docs/leave.md" }] },
  ])("sees the document at whatever rank, beyond k and beyond a first page", async (words) => {
    const more = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [
        `docs/days-${index}.md`,
        `# Days of leave ${index}\n\nDays of leave, days of leave.\n`,
      ]),
    );
    const service = await startWithReader({}, more);
    service.write("suite.json", suiteOf({ ...leak, ...words, k: 1, question: "Days of leave" }));
    const report = await service.report("retrieval suite.json");
    expect(report.cases[0]).toMatchObject({ outcome: "failed" });
    const rank = Number(/^came at rank (\d+)$/.exec(report.cases[0]?.checks[0]?.detail ?? "")?.[1]);
    expect(rank).toBeGreaterThan(30);
    // The report shows the first ten, and what the case names.
    expect(report.cases[0]?.retrieved.length).toBe(11);
    expect(report.cases[0]?.retrieved.at(-1)).toMatchObject({ path: "docs/leave.md", rank });
    expect(report.cases[0]?.runs[0]?.retrieved.length).toBe(11);
  });

  it("refuses a reader with the key of the run before any question", async () => {
    const service = await startWithReader({ pairs });
    service.write("suite.json", suiteOf({ ...leak, profile: "same" }));
    const same = await service.run("retrieval suite.json");
    expect(same.code).toBe(2);
    expect(same.stderr).toContain("suite.json:1: profile same: the profile has the same key");
    service.write("suite.json", suiteOf({ ...leak, profile: "own" }));
    const own = await service.run("retrieval suite.json");
    expect(own.code).toBe(2);
    expect(own.stderr).toContain("asked by own, the profile of the run");
    service.write("suite.json", suiteOf({ ...leak, profile: "nobody" }));
    expect((await service.run("retrieval suite.json")).code).toBe(3);
    expect(service.sandbox.ledger.requests.filter(({ path }) => /search/.test(path))).toEqual([]);
  });

  it("a refused reader is an error of the case, and the others go on", async () => {
    const service = await startWithReader({ pairs });
    const rules = { INTERN_KEY: "a-key-that-nobody-knows" };
    Object.assign(service.env, rules);
    const others = { id: "open", question: "lunch", must_retrieve: ["docs/lunch.md"] };
    service.write("suite.json", suiteOf(leak, others, { ...leak, id: "again" }));
    const report = await service.report("retrieval suite.json");
    expect(report.cases.map(({ outcome }) => outcome)).toEqual(["error", "passed", "error"]);
    expect(report.stopped).toBe(null);
  });

  it("never gives the key of a reader to a judge", async () => {
    const service = await startWithReader({ pairs });
    const judge = {
      base_url: "http://127.0.0.1:9/v1",
      model: "grader",
      key_variable: "JUDGE_INTERN",
    };
    const expectation = { judge: { rubric: "is polite", threshold: 0.5 } };
    const cases = [{ ...leak, expect: [expectation] }];
    service.write("suite.json", JSON.stringify({ version: 1, judge, cases }));
    const { code, stderr } = await service.run("answers suite.json --judge --allow-tokens 9");
    expect([code, stderr]).toEqual([3, expect.stringContaining("holds a key of the service")]);
    expect(service.sandbox.ledger.chats).toEqual([]);
  });
});
