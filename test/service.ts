import type { SandboxOptions } from "../src/sandbox/options.ts";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { PairRecord } from "../src/api/schemas.ts";
import type { FaultSpec } from "../src/sandbox/http/faults.ts";
import { startSandbox, type Sandbox } from "../src/sandbox/http/server.ts";
import { cleanEnvironment, sandboxes, temporaryFolder } from "./support.ts";

/** Key of the sandboxes of the tests: unique, so that a leak of it would be found. */
export const testKey = "CANARY-key-4b1f0c9e";

export interface TestService {
  sandbox: Sandbox;
  /** Working directory of the commands: a folder of its own. */
  folder: string;
  /** Points the tool at the sandbox. */
  env: Record<string, string>;
}

export interface TestServiceOptions {
  faults?: FaultSpec;
  pairs?: readonly PairRecord[];
  dialect?: "standard" | "onyx";
  /** Key that the sandbox takes; default testKey. */
  key?: string;
  /** Any other option of the sandbox: pauses, looks at files, anonymous access, models. */
  sandbox?: Partial<SandboxOptions>;
  /** Files of the working directory by path. */
  files?: Record<string, string | Uint8Array>;
}

export function writeFiles(folder: string, files: Record<string, string | Uint8Array>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

/** A sandbox in this process and a folder to work in; both go when the test ends. */
export async function startTestService(options: TestServiceOptions = {}): Promise<TestService> {
  const home = temporaryFolder();
  const folder = join(home, "work");
  // A repository: its root is where ids start.
  mkdirSync(join(folder, ".git"), { recursive: true });
  writeFiles(folder, options.files ?? {});
  const key = options.key ?? testKey;
  const sandbox = await startSandbox({
    port: 0,
    dataFolder: join(home, "sandbox"),
    key,
    ...options.sandbox,
    ...(options.faults === undefined ? {} : { faults: options.faults }),
    ...(options.pairs === undefined ? {} : { pairs: options.pairs }),
    ...(options.dialect === undefined ? {} : { dialect: options.dialect }),
  });
  sandboxes.set(sandbox.url, sandbox);
  onTestFinished(() => {
    sandboxes.delete(sandbox.url);
    return sandbox.close();
  });
  const env = cleanEnvironment(home, {
    KNOWCTL_BASE_URL: sandbox.url,
    KNOWCTL_API_KEY: key,
    ...(options.dialect === undefined ? {} : { KNOWCTL_DIALECT: options.dialect }),
  });
  return { sandbox, folder, env };
}
