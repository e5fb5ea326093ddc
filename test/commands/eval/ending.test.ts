import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { outputFailure } from "../../../src/errors.ts";
import { main, runHere } from "../../main.ts";
import { createTestContext } from "../../support.ts";
import { startEval, suiteOf } from "./running.ts";

const cases = Array.from({ length: 8 }, (_, index) => ({
  id: `leave-${index}`,
  question: "days of leave",
  must_retrieve: ["docs/leave.md"],
}));
const before = "retrieval suite.json --report before.json";
const compare = "retrieval suite.json --baseline before.json";

async function startCompared() {
  const service = await startEval();
  service.write("suite.json", suiteOf(...cases));
  expect((await service.run(before)).code).toBe(0);
  return service;
}

describe("the end of eval", () => {
  it("exits by the verdict of --fail-on, not by the failed cases", async () => {
    const service = await startCompared();
    expect((await service.run(`${compare} --fail-on worse`)).code).toBe(0);
    // The document leaves the index.
    const { folder: cwd, env } = service;
    const gone = ["api", "DELETE", "onyx-api/ingestion/docs%252Fleave.md"];
    expect((await runHere(gone, { cwd, env })).code).toBe(0);
    await service.sandbox.idle();
    const worse = await service.report(`${compare} --fail-on significantly-worse`);
    expect(worse.code).toBe(13);
    expect(worse.comparison).toMatchObject({ verdict: "worse", compared: 8, unchanged: 0 });
    expect((await service.run(`${compare} --fail-on rate<0.9`)).code).toBe(13);
    expect((await service.run("retrieval suite.json --fail-on rate<0.9")).code).toBe(13);
    service.write("suite.json", suiteOf(cases[0] ?? {}));
    expect((await service.run(`${compare} --fail-on significantly-worse`)).code).toBe(0);
    // One case of one proves nothing, and is worse all the same: it is named, also with --quiet.
    const quiet = await service.run(`${compare} --fail-on worse --quiet`);
    expect(quiet.code).toBe(13);
    expect(quiet.stderr).toContain("1 case got worse than in before.json: leave-0");
  });

  it.each(["retrieval suite.json", "answers suite.json --allow-tokens 9"])(
    "asks nothing where stdout is closed from the start: %s",
    async (line) => {
      const { folder: cwd, env, sandbox, write } = await startEval();
      write("suite.json", suiteOf(...cases));
      const context = createTestContext({ cwd, env });
      const before = sandbox.ledger.requestCount;
      const code = await main(["eval", ...line.split(" ")], {
        ...context,
        stdout: { ...context.stdout, closed: outputFailure() },
      });
      expect(code).toBe(14);
      expect(context.stderrText()).toContain("stdout is closed");
      expect(sandbox.ledger.requestCount).toBe(before);
    },
  );

  it("writes reports of each form, and the summary of a GitHub job", async () => {
    const service = await startEval();
    const { folder, env } = service;
    const summary = join(folder, "summary.md");
    // After the upload: it would write into the summary too.
    Object.assign(env, { GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: summary });
    service.write("suite.json", suiteOf({ ...cases[0], must_retrieve: ["docs/lunch.md"] }));
    const reports = ["now.json", "now.xml", "now.html"];
    const flags = reports.map((name) => `--report ${name}`).join(" ");
    const { code, stderr } = await service.run(`retrieval suite.json ${flags}`);
    expect(code).toBe(13);
    expect(stderr).toMatch(/^::error [^\n]*file=docs\/lunch\.md,line=1/m);
    expect(readFileSync(summary, "utf8")).toContain("leave-0");
    const [json = "", xml = "", html = ""] = reports.map((name) =>
      readFileSync(join(folder, name), "utf8"),
    );
    expect(JSON.parse(json)).toMatchObject({ command: "eval retrieval", status: "failed" });
    expect(xml).toContain("<testsuite");
    expect(html).toContain("docs/lunch.md");
  });
});
