import { main } from "../../../src/main.ts";
import { createTestContext } from "../../support.ts";

/** Runs the tool in this process; its waits end at once. */
export async function runMain(
  args: readonly string[],
  { folder, env }: { folder: string; env: Record<string, string> },
): Promise<{ code: number; stdout: string; stderr: string }> {
  const context = createTestContext({ cwd: folder, env });
  const code = await main([...args], context);
  return { code, stdout: context.stdoutText(), stderr: context.stderrText() };
}
