import type { TestService } from "../../service.ts";
import { createTestContext } from "../../support.ts";
import { main } from "../../main.ts";
import type { Ran } from "../state/support.ts";

/** Runs a command line in the folder; a wait ends when the sandbox has indexed what it can. */
export async function runIndexed(
  { folder: cwd, env, sandbox }: Pick<TestService, "folder" | "env" | "sandbox">,
  line: string,
  stdin?: string,
): Promise<Ran> {
  const context = createTestContext({ cwd, env, ...(stdin === undefined ? {} : { stdin }) });
  const sleep: typeof context.sleep = async (ms, signal) => {
    await sandbox.idle();
    await context.sleep(ms, signal);
  };
  const code = await main(line.split(" "), { ...context, sleep });
  return { code, stdout: context.stdoutText(), stderr: context.stderrText() };
}
