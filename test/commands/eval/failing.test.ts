import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { EvalReport } from "../../../src/checks/eval/result.ts";
import { SignalReceived } from "../../../src/context.ts";
import type { FaultRule } from "../../../src/sandbox/http/faults.ts";
import { main, runHere } from "../../main.ts";
import { patienceMs } from "../../patience.ts";
import { createTestContext } from "../../support.ts";
import { type EvalService, startEval, suiteOf } from "./running.ts";
import { outputFailure } from "../../../src/errors.ts";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

describe("eval against a service that fails", () => {
  const cases = Array.from({ length: 6 }, (_, index) => ({
    id: `leave-${index}`,
    question: `days of leave ${index}`,
    must_retrieve: ["docs/leave.md"],
  }));
  const path = "/api/search/send-search-message";

  /** A service that fails from its fifth search on; the first one chooses the way. */
  async function failing(
    fault: FaultRule["do"],
    when: FaultRule["when"] = {},
  ): Promise<EvalService> {
    const rules = [{ when: { path, after: 4, ...when }, do: fault }];
    const service = await startEval({ faults: { rules } });
    service.write("suite.json", suiteOf(...cases));
    return service;
  }

  const outcomes = ({ cases }: EvalReport): string[] => cases.map(({ outcome }) => outcome);
  const threeOfSix = ["passed", "passed", "passed", "error", "error", "error"];
  const expired = { status: 401, body: { detail: "expired" } };

  it.each([
    ["a refused key", expired, "401"],
    ["a service that is gone", "reset-before-store", "reset"],
  ] as const)("keeps what came before %s, and ends early", async (_what, fault, words) => {
    const service = await failing(fault);
    const report = await service.report("retrieval suite.json --concurrency 1 --record taken");
    expect(outcomes(report)).toEqual(threeOfSix);
    expect(report.stopped).toContain(words);
    expect(await service.report("retrieval suite.json --replay taken")).toEqual(report);
    expect(report.cases.at(-1)?.reason).toContain("not asked: the run ended early");
    expect(report.code).toBe(10);
    const { requests } = service.sandbox.ledger;
    // Retries of one question, and no other question.
    expect(requests.filter((each) => each.path === path).length).toBeLessThan(10);
  });

  it("goes on after the error of one case", async () => {
    const service = await failing({ status: 400, body: { detail: "no" } }, { after: 2, first: 3 });
    const report = await service.report("retrieval suite.json --concurrency 1");
    expect(outcomes(report)).toEqual(["passed", "error", "passed", "passed", "passed", "passed"]);
    expect([report.stopped, report.code]).toEqual([null, 10]);
    expect(report.summary).toMatchObject({ cases: 6, passed: 5, error: 1 });
  });

  it("goes on after a document set that does not exist: it says nothing about the key", async () => {
    const service = await startEval();
    const [first, ...rest] = cases;
    const filters = { document_sets: ["Gone"] };
    service.write("suite.json", suiteOf({ ...first, filters }, ...rest));
    const report = await service.report("retrieval suite.json --concurrency 1");
    expect(outcomes(report)).toEqual(["error", "passed", "passed", "passed", "passed", "passed"]);
    expect(report.cases[0]?.reason).toContain(
      "User does not have access to document sets: ['Gone']",
    );
    expect([report.stopped, report.code]).toEqual([null, 10]);
  });

  it("exits with the error itself if no case was asked", async () => {
    const service = await failing(expired, { after: 1 });
    expect((await service.report("retrieval suite.json")).code).toBe(4);
    expect(
      (await service.run("retrieval suite.json --via keyword --base-url http://127.0.0.1:9")).code,
    ).toBe(5);
  });

  it("failed cases are 13, also beside errors", async () => {
    const service = await failing(expired);
    const [first, ...rest] = cases;
    service.write("suite.json", suiteOf({ ...first, must_retrieve: ["docs/lunch.md"] }, ...rest));
    expect((await service.run("retrieval suite.json")).code).toBe(13);
  });

  it("writes the reports after Ctrl-C, and exits with 130", async () => {
    const service = await failing("hang");
    const { folder: cwd, env, sandbox } = service;
    const context = createTestContext({ cwd, env });
    const args = ["eval", "retrieval", "suite.json", "--concurrency", "1", "--report", "now.json"];
    const running = main(args, context);
    const arrived = (): number =>
      sandbox.ledger.requests.filter((each) => each.path === path).length;
    await vi.waitFor(() => expect(arrived()).toBe(5), patienceMs);
    context.abort(new SignalReceived("SIGINT", "interrupted"));
    expect(await running).toBe(130);
    const report = JSON.parse(readFileSync(join(cwd, "now.json"), "utf8")) as EvalReport;
    expect(outcomes(report)).toEqual(threeOfSix);
    expect(report.stopped).toBe("the run was interrupted");
  });
});

describe("ending", () => {
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
});

describe("sandbox caveat", () => {
  const suite = suiteOf({
    id: "leave",
    question: "How many days of leave?",
    must_retrieve: ["docs/leave.md"],
  });
  const caveat = "this is its word search, not your assistant";

  /** The same service without the header that names the sandbox. */
  async function withoutHeader({ sandbox: { url } }: EvalService): Promise<string> {
    const server = createServer(async (request, response) => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece as Buffer);
      const { method = "GET", headers } = request;
      const { authorization = "", "content-type": type = "application/json" } = headers;
      const answer = await fetch(url + request.url, {
        method,
        headers: { authorization, "content-type": type },
        ...(method === "GET" ? {} : { body: Buffer.concat(pieces) }),
      });
      const contentType = answer.headers.get("content-type") ?? "";
      response.writeHead(answer.status, { "content-type": contentType });
      response.end(Buffer.from(await answer.arrayBuffer()));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  async function run(service: EvalService, line: string, more: Record<string, string> = {}) {
    service.write("suite.json", suite);
    const env = { ...service.env, ...more };
    return await runHere(line.split(" "), { cwd: service.folder, env });
  }

  const evals = ["eval retrieval suite.json", "eval answers suite.json --allow-tokens 1"];

  describe("results of the sandbox", () => {
    it.each(evals)("%s says so, in every report", async (line) => {
      const service = await startEval();
      const files = ["r.json", "r.html", "r.xml"];
      const reports = files.map((file) => ` --report ${file}`).join("");
      const { code, stderr } = await run(service, `${line} --quiet${reports}`);
      expect(code, stderr).toBe(0);
      expect(stderr.split(caveat)).toHaveLength(2);
      const [json = "", html, junit] = files.map((file) =>
        readFileSync(join(service.folder, file), "utf8"),
      );
      expect((JSON.parse(json) as EvalReport).sandbox).toBe(true);
      expect(html).toContain(caveat);
      expect(junit).toContain('<property name="sandbox" value="true"/>');
    });

    it("a replay of them says so too", async () => {
      const service = await startEval();
      await run(service, `${evals[0]} --record recorded`);
      const { code, stdout, stderr } = await run(service, `${evals[0]} --replay recorded --json`);
      expect(code, stderr).toBe(0);
      expect((JSON.parse(stdout) as EvalReport).sandbox).toBe(true);
      expect(stderr).toContain(caveat);
    });

    it("search says so, in each of its formats", async () => {
      const service = await startEval();
      const list = await run(service, "search leave");
      expect(list).toMatchObject({ code: 0, stderr: expect.stringContaining(caveat) });
      const { stdout } = await run(service, "search leave --json");
      expect(JSON.parse(stdout)).toMatchObject([{ sandbox: true }, { sandbox: true }]);
      expect((await run(service, "search leave --fields rank,sandbox --json")).code).toBe(0);
    });

    it.each([...evals, "search leave"])("%s of another service has no such word", async (line) => {
      const service = await startEval();
      const url = await withoutHeader(service);
      const { code, stdout, stderr } = await run(service, `${line} --json`, {
        KNOWCTL_BASE_URL: url,
      });
      expect(code, stderr).toBe(0);
      expect(stdout).not.toContain('"sandbox"');
      expect(stderr).not.toContain("sandbox");
    });
  });
});
