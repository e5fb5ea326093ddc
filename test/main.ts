import { PassThrough } from "node:stream";
import { onTestFinished } from "vitest";
import type { Context, Sink } from "../src/context.ts";
import { main as run } from "../src/main.ts";
import { keepContext, lineOf } from "./ran.ts";
import { createTestContext, sandboxes, type TestContextOptions } from "./support.ts";

/**
 * Runs a command line in this process; a failing test prints it with its output. What it uploaded is in
 * the index afterwards: the next command here begins sooner than any process could.
 */
export async function main(args: readonly string[], context: Context): Promise<number> {
  const code = await run(args, keepContext(context, lineOf(["knowctl", ...args])));
  await sandboxes.get(context.env["KNOWCTL_BASE_URL"] ?? "")?.idle();
  return code;
}

/** As runCli, in this process: its waits end at once. */
export async function runHere(
  args: readonly string[],
  options: TestContextOptions,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const context = createTestContext(options);
  const code = await main(args, context);
  return { code, stdout: context.stdoutText(), stderr: context.stderrText() };
}

/** A command in this process that reads `input` until it ends; `seen` holds what it has written. */
export function serveHere(args: readonly string[], options: TestContextOptions) {
  const context = createTestContext(options);
  const input = new PassThrough();
  const seen = {
    out: "",
    get err() {
      return context.stderrText();
    },
  };
  const listeners: ((text: string) => void)[] = [];
  const stdout: Sink = {
    ...context.stdout,
    write(text) {
      seen.out += String(text);
      for (const listener of listeners) listener(String(text));
      return Promise.resolve();
    },
  };
  const stdin = { ...context.stdin, stream: input };
  const ended = main(args, { ...context, stdin, stdout });
  onTestFinished(async () => {
    input.end();
    await ended;
  });
  return {
    input,
    seen,
    ended,
    context,
    onText: (each: (text: string) => void) => listeners.push(each),
  };
}
