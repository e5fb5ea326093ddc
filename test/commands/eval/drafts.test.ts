import { describe, expect, it } from "vitest";
import { startEval, suiteOf } from "./running.ts";

const draft = {
  id: "draft",
  question: "How many days of leave?",
  must_retrieve: ["docs/leave.md"],
  expect: [{ contains: "99 days" }],
  review: true,
};
const counted = { ...draft, id: "counted", expect: [{ contains: "28 days" }], review: false };

describe("--drafts", () => {
  it("asks drafts last: they use up no model call of a case that counts", async () => {
    const service = await startEval();
    service.write("suite.json", suiteOf(draft, counted));
    const report = await service.report("answers suite.json --drafts --allow-tokens 1");
    expect(report.code).toBe(0);
    expect(report.cases.map(({ id, outcome, provisional }) => [id, outcome, provisional])).toEqual([
      ["counted", "passed", undefined],
      ["draft", "skipped", "error"],
    ]);
  });

  it("changes the exit code neither to good nor to bad", async () => {
    const service = await startEval();
    const missing = { ...draft, id: "b", must_retrieve: ["docs/lunch.md"] };
    service.write("suite.json", suiteOf(draft, missing));
    expect((await service.run("retrieval suite.json")).code).toBe(2);
    const { code, stdout } = await service.run("retrieval suite.json --drafts --k 1");
    expect(code).toBe(0);
    expect(stdout).toContain("0 of 2 cases passed: 2 provisional");
    expect(stdout).not.toMatch(/[✓✗]/);
    service.write("failing.json", suiteOf({ ...counted, must_retrieve: ["docs/lunch.md"] }));
    expect((await service.run("retrieval failing.json --drafts --k 1")).code).toBe(13);
  });

  it("takes no document for one that is uploaded, and no draft for a broken suite", async () => {
    const service = await startEval();
    const gone = { ...draft, id: "gone", must_retrieve: ["docs/gone.md"] };
    service.write("docs/idea.md", "---\ndraft: true\n---\n# Idea\n\nText.\n");
    service.write("suite.json", suiteOf(gone, { ...counted, must_retrieve: ["docs/idea.md"] }));
    const { code, stderr } = await service.run("retrieval suite.json --drafts");
    expect(code).toBe(2);
    expect(stderr).toContain("docs/idea.md is not uploaded");
    expect(stderr).not.toContain("docs/gone.md");
  });

  it("compares no draft with a baseline", async () => {
    const service = await startEval();
    service.write("suite.json", suiteOf(draft, counted));
    const run = "retrieval suite.json --drafts";
    await service.run(`${run} --report before.json`);
    const report = await service.report(`${run} --baseline before.json`);
    expect(report.comparison).toMatchObject({ compared: 1, better: [], worse: [] });
  });
});
