import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { loadToShow } from "../config/files.ts";
import { createPrompt } from "../prompt.ts";
import { tryOut, type RunLine } from "./try.ts";
import { createOutput } from "../../output/terminal/output.ts";

/** Whether any service is configured. A configuration that cannot be read is the user's own matter. */
async function hasService(context: Context): Promise<boolean> {
  const output = createOutput(context, { quiet: true });
  try {
    const config = await loadToShow(context, {}, output, { mayBeNew: true });
    return config.files.some(({ content }) => Object.keys(content.profiles ?? {}).length > 0);
  } catch (error) {
    if (error instanceof CliError) return true;
    throw error;
  }
}

/** After the help of a bare `knowctl`: on a terminal without a profile offers `try`. */
export async function offer(context: Context, runLine: RunLine): Promise<void> {
  const output = createOutput(context, {});
  const prompt = createPrompt(context, {}, output);
  const isSet = (context.env["KNOWCTL_BASE_URL"] ?? "") !== "";
  if (!prompt.canAsk || isSet || (await hasService(context))) return;
  // No empty line before it: help and question fill the 24 lines of a terminal.
  if (await prompt.confirm("Try it now, with a folder of yours?", true)) {
    await tryOut(context, [], {}, runLine);
  }
}
