import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import type { Output } from "../../output/terminal/output.ts";
import { createPrompt } from "../prompt.ts";
import { describePassed, type Passed, type Way } from "./ways.ts";

/**
 * Returns the guard in front of requests that cost model tokens: it announces the cost, and needs
 * `--allow-tokens`, or a yes on a terminal. The guard throws CliError `usage` for a no, for too
 * small an allowance, and without a terminal.
 */
export function createAllowance(
  context: Context,
  flags: GlobalFlags & { allowTokens?: number },
  output: Output,
): (way: Pick<Way, "name" | "calls" | "cost">, passed: readonly Passed[]) => Promise<void> {
  return async ({ name, calls, cost }, passed) => {
    const why =
      passed.length === 0 ? "" : ` The service has no free search: ${describePassed(passed)}.`;
    const announcement = `The search --via ${name} costs model tokens: ${cost}.${why}`;
    const allowed = flags.allowTokens;
    if (allowed !== undefined) {
      if (allowed < calls) {
        throw new CliError("usage", `--allow-tokens ${allowed} is too small: ${announcement}`, {
          hints: [`allow it with --allow-tokens ${calls}`],
        });
      }
      // Also with --quiet: nothing that costs is sent without a word.
      await output.problem(announcement);
      return;
    }
    const prompt = createPrompt(context, flags, output);
    if (!prompt.canAsk) {
      throw new CliError("usage", `there is no terminal to ask on: ${announcement}`, {
        hints: [`allow it with --allow-tokens ${calls}`],
      });
    }
    if (await prompt.confirm(`${announcement} Search?`)) return;
    throw new CliError("usage", "nothing was searched: the cost was not allowed");
  };
}
