import type { Context } from "../src/context.ts";
import { main as run } from "../src/main.ts";
import { keepContext, lineOf } from "./ran.ts";
import { createTestContext, type TestContextOptions } from "./support.ts";

/** Runs a command line in this process; a failing test prints it with its output. */
export function main(args: readonly string[], context: Context): Promise<number> {
  return run(args, keepContext(context, lineOf(["knowctl", ...args])));
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
