import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { scripts } from "./scripts.ts";

/** `completion SHELL`: prints the script. It is constant, so it needs no output gate. */
export async function printScript(
  context: Context,
  [shell = ""]: string[],
  _options: GlobalFlags,
): Promise<void> {
  await context.stdout.write(scripts[shell as keyof typeof scripts]);
}
