import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { EvalReport } from "../../../src/checks/eval/result.ts";
import { main, runHere } from "../../main.ts";
import { startTestService, type TestService, type TestServiceOptions } from "../../service.ts";
import { createTestContext } from "../../support.ts";

export const files = {
  "docs/leave.md":
    "---\nlink: https://docs.example.com/leave\n---\n# Leave\n\nStaff take 28 days of leave a year.\n",
  "docs/bikes.md": "# Bikes\n\nLeave the key of the bikes at the desk.\n",
  "docs/lunch.md": "# Lunch\n\nThe canteen serves lunch at noon.\n",
};

export interface EvalService extends TestService {
  /** Runs a command line of words without spaces; `[file, content]` is written first. */
  run(line: string): Promise<{ code: number; stdout: string; stderr: string }>;
  /** Runs it with --json, and returns the report. */
  report(line: string): Promise<EvalReport & { code: number }>;
  write(path: string, content: string): void;
}

/** A sandbox that holds the documents of `files`. */
export async function startEval({
  env: more,
  ...options
}: TestServiceOptions & { env?: Record<string, string> } = {}): Promise<EvalService> {
  const service = await startTestService({ dialect: "onyx", files, ...options });
  Object.assign(service.env, more);
  const { folder: cwd, env, sandbox } = service;
  const upload = ["ingest", "docs", "--cc-pair-id", "2", "--quiet"];
  expect(await main(upload, createTestContext({ cwd, env }))).toBe(0);
  await sandbox.idle();
  const run = (line: string) => runHere(["eval", ...line.split(" ")], { cwd, env });
  return {
    ...service,
    run,
    async report(line) {
      const { code, stdout, stderr } = await run(`${line} --json`);
      expect(stdout, stderr).not.toBe("");
      return { ...(JSON.parse(stdout) as EvalReport), code };
    },
    write: (path, content) => writeFileSync(join(cwd, path), content),
  };
}

/** A suite with these cases. */
export function suiteOf(...cases: object[]): string {
  return JSON.stringify({ version: 1, cases });
}
