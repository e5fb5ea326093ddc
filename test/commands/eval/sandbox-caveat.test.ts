import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { EvalReport } from "../../../src/checks/eval/result.ts";
import { runHere } from "../../main.ts";
import { startEval, suiteOf, type EvalService } from "./running.ts";

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
