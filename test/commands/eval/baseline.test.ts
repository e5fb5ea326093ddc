import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runHere } from "../../main.ts";
import { startEval, suiteOf, type EvalService } from "./running.ts";

const leave = { id: "leave", question: "days of leave", must_retrieve: ["docs/leave.md"], k: 1 };
const lunch = { id: "lunch", question: "canteen lunch", must_retrieve: ["docs/lunch.md"], k: 1 };

const searchesOf = ({ sandbox }: EvalService): number =>
  sandbox.ledger.requests.filter(({ path }) => path.includes("search")).length;

/** A service with a baseline of two passed cases; then another document is wanted in one of them. */
async function startWorse(): Promise<EvalService> {
  const service = await startEval();
  service.write("suite.json", suiteOf(leave, lunch));
  expect(await service.run("retrieval suite.json --report base.json")).toMatchObject({ code: 0 });
  service.write("docs/leave.md", "# Leave\n\nAsk the office.\n");
  service.write("docs/days.md", "# Days of leave\n\nDays of leave: see days of leave.\n");
  const { folder: cwd, env, sandbox } = service;
  const upload = ["ingest", "docs", "--cc-pair-id", "2", "--quiet"];
  expect(await runHere(upload, { cwd, env })).toMatchObject({ code: 0 });
  await sandbox.idle();
  return service;
}

describe("eval with a baseline", () => {
  it("shows what got worse, and cannot tell from one case", async () => {
    const service = await startWorse();
    const report = await service.report("retrieval suite.json --baseline base.json");
    expect(report).toMatchObject({ code: 13, status: "failed" });
    expect(report.comparison).toMatchObject({
      compared: 2,
      better: [],
      worse: [{ id: "leave", before: "passed", now: "failed" }],
      unchanged: 1,
      p: 1,
      verdict: "cannot-tell",
      needed: 12,
    });
    const { stdout } = await service.run("retrieval suite.json --baseline base.json");
    expect(stdout).toContain("0 better, 1 worse of 2 cases (p 1); about 12 cases would be needed");
    expect(stdout).toMatch(/Worse than base\.json: 1\n {2}leave .*\n.*✗ docs\/leave\.md/);
  });

  it("ends by --fail-on alone, which the report says too", async () => {
    const service = await startWorse();
    const ends = async (condition: string) => {
      const line = `retrieval suite.json --baseline base.json --report now.json --fail-on ${condition}`;
      const { code } = await service.run(line);
      const text = readFileSync(join(service.folder, "now.json"), "utf8");
      return [code, (JSON.parse(text) as { status: string }).status];
    };
    expect(await ends("significantly-worse")).toEqual([0, "passed"]);
    expect(await ends("worse")).toEqual([13, "failed"]);
    expect(await ends("rate<0.5")).toEqual([0, "passed"]);
    expect(await ends("rate<0.6")).toEqual([13, "failed"]);
  });

  it.each([
    ["another suite", "retrieval other.json", "a run of another suite"],
    ["another k", "retrieval suite.json --k 2", "a run of another k"],
    ["another way", "retrieval suite.json --via keyword", "a run of another way"],
    ["another kind", "answers words.json --allow-tokens 9", "a run of another kind"],
  ])("of %s is refused before the first question", async (_, line, words) => {
    const service = await startWorse();
    service.write("other.json", suiteOf({ ...leave, question: "how many days of leave" }));
    service.write("words.json", suiteOf({ ...leave, expect: [{ contains: "28" }] }));
    const { requests } = service.sandbox.ledger;
    const before = [searchesOf(service), service.sandbox.ledger.modelCalls];
    const { code, stderr } = await service.run(`${line} --baseline base.json`);
    expect(stderr).toContain(`--baseline base.json: ${words}`);
    // Nobody is asked for model tokens before.
    expect(stderr).not.toMatch(/asking|tokens/);
    expect(code).toBe(2);
    expect(requests.some(({ path }) => path.includes("send-chat"))).toBe(false);
    expect(service.sandbox.ledger.modelCalls).toBe(before[1]);
    // Without --via, one search finds out which way is free.
    expect(searchesOf(service) - (before[0] ?? 0)).toBeLessThanOrEqual(1);
  });
});
