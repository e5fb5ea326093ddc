import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { main } from "../../main.ts";
import type { Finding } from "../../../src/output/findings.ts";
import {
  cleanEnvironment,
  createTestContext,
  temporaryFolder,
  type TestContext,
  type TestContextOptions,
} from "../../support.ts";

export interface Doctored {
  code: number;
  findings: Record<string, Finding>;
  /** One word a check. */
  statuses: Record<string, string>;
  stderr: string;
  context: TestContext;
}

/** Runs `doctor --json` in this process. */
export async function runDoctor(options: TestContextOptions, ...args: string[]): Promise<Doctored> {
  const context = createTestContext(options);
  const code = await main(["doctor", "--json", ...args], context);
  const text = context.stdoutText();
  const report = (text === "" ? { checks: [] } : JSON.parse(text)) as { checks: Finding[] };
  const entries = report.checks.map((finding) => [finding.check, finding] as const);
  return {
    code,
    findings: Object.fromEntries(entries),
    statuses: Object.fromEntries(entries.map(([name, { status }]) => [name, status])),
    stderr: context.stderrText(),
    context,
  };
}

/** The environment that points at an address, in a folder of its own. */
export function aimAt(baseUrl: string, extra: Record<string, string> = {}): TestContextOptions {
  const cwd = temporaryFolder();
  const env = { KNOWCTL_BASE_URL: baseUrl, KNOWCTL_API_KEY: "CANARY-key-of-doctor", ...extra };
  return { cwd, env: cleanEnvironment(cwd, env) };
}

/** A server on loopback that ends with the test; what was asked, with the key if there was one. */
export async function serve(listener: RequestListener): Promise<{ url: string; seen: string[] }> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    const key = request.headers.authorization === undefined ? "" : " with key";
    seen.push(`${request.method} ${request.url}${key}`);
    request.resume();
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}
