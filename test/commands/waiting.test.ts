import { createServer, request as forward, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { main } from "../main.ts";
import { startTestService, type TestService } from "../service.ts";
import { createTestContext } from "../support.ts";

const question = { id: "leave", question: "How do I request leave?" };
const suite = JSON.stringify({
  version: 1,
  cases: [{ ...question, must_retrieve: ["docs/leave.md"] }],
});
const files = { "docs/leave.md": "# Leave\n\nRequest leave early.\n", "suite.json": suite };

const sign = /waiting for|uploading|checking|asking/;

/** A way to the service that passes a response on only once the terminal shows that somebody waits. */
async function openSlowWay(service: TestService) {
  const held: (() => void)[] = [];
  let isSlow = false;
  const target = new URL(service.sandbox.url);
  const server = createServer((asked, response: ServerResponse) => {
    const { method, url: path } = asked;
    const headers = { ...asked.headers, host: target.host };
    const { hostname, port } = target;
    const sent = forward({ hostname, port, method, path, headers }, (answer) => {
      const pass = (): void => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      };
      if (isSlow) held.push(pass);
      else pass();
    });
    asked.pipe(sent);
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    slowDown: () => void (isSlow = true),
    passOn: () => held.splice(0).forEach((pass) => pass()),
  };
}

/** Runs a command on a terminal; it ends only if it shows that it waits at each request. */
async function runSlowly(args: readonly string[]) {
  const service = await startTestService({ dialect: "onyx", files });
  const way = await openSlowWay(service);
  const cwd = service.folder;
  const env = { ...service.env, KNOWCTL_BASE_URL: way.url };
  for (const line of ["ingest docs --cc-pair-id 2 -q", "chat hello"]) {
    expect(await main(line.split(" "), createTestContext({ cwd, env }))).toBe(0);
  }
  await service.sandbox.idle();
  way.slowDown();
  const test = createTestContext({ cwd, env, isTTY: true });
  const write = (text: string): Promise<void> => {
    if (sign.test(text)) way.passOn();
    return test.stderr.write(text);
  };
  const code = await main([...args], { ...test, stderr: { ...test.stderr, write } });
  return { code, stderr: test.stderrText() };
}

it.each([
  "sessions list",
  "sessions show last",
  "sessions export last",
  "sessions rename last Leave",
  "sessions delete last --yes",
  "search leave",
  "eval retrieval suite.json",
  "eval init --from-sessions --out drafted.yaml",
  "eval coverage docs --sessions",
  "connectors create Manuals",
  "connectors errors 2",
  "agents list",
  "ingest docs --cc-pair-id 2 --dry-run --json",
  "ingest docs --cc-pair-id 2 --force --verify --wait 0s",
])("shows on a terminal that it waits: %s", async (line) => {
  const { code, stderr } = await runSlowly(line.split(" "));
  expect(code, stderr).toBe(0);
});
