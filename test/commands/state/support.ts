import { expect } from "vitest";
import { main } from "../../main.ts";
import { createTestContext } from "../../support.ts";
import type { TestService } from "../../service.ts";

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  stdin?: string;
  /** What is typed on the terminal; without it there is none. */
  answer?: string;
}

/** Runs a command line in the test's process, in the folder of the service. */
export async function runIn(
  service: Pick<TestService, "folder" | "env">,
  line: string | readonly string[],
  { stdin, answer }: RunOptions = {},
): Promise<Ran> {
  const text = answer ?? stdin;
  const context = createTestContext({
    cwd: service.folder,
    env: service.env,
    ...(text === undefined ? {} : { stdin: text }),
    isTTY: answer !== undefined,
  });
  const { stream } = context.stdin;
  const typed = {
    isTTY: answer !== undefined,
    stream,
    [Symbol.asyncIterator]: () => stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>,
  };
  const code = await main(typeof line === "string" ? line.split(" ") : line, {
    ...context,
    stdin: typed,
  });
  return { code, stdout: context.stdoutText(), stderr: context.stderrText() };
}

/** Runs a command line, and expects its exit code and texts on stderr. */
export async function expectRun(
  service: Pick<TestService, "folder" | "env">,
  line: string | readonly string[],
  code: number,
  ...texts: string[]
): Promise<Ran> {
  const ran = await runIn(service, line);
  for (const text of texts) expect(ran.stderr).toContain(text);
  expect(ran.code).toBe(code);
  return ran;
}
