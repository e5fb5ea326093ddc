import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import type { Output } from "../../output/terminal/output.ts";
import { createPrompt } from "../prompt.ts";
import { describePassed, type Passed, type Way } from "./ways.ts";

type AllowFlags = GlobalFlags & { allowTokens?: number };

/** Model calls that are announced before the first of them. */
interface Cost {
  /** Sentences. */
  announcement: string;
  calls: number;
  /** What is asked on a terminal: `Search?` */
  question: string;
  /** Without all its calls it has no result: a smaller allowance is refused. */
  isWhole?: boolean;
}

/**
 * Announces requests that cost model tokens, and returns how many calls are allowed: `--allow-tokens`,
 * or all of them after a yes on a terminal. Throws CliError `usage` for a no, for too small an
 * allowance, and without a terminal.
 */
export async function allowTokens(
  context: Context,
  flags: AllowFlags,
  output: Output,
  { announcement, calls, question, isWhole = false }: Cost,
): Promise<number> {
  const { allowTokens: allowed } = flags;
  const hints = [`allow it with --allow-tokens ${calls}`];
  if (allowed !== undefined) {
    const isLess = allowed < calls;
    if (isLess && isWhole) {
      throw new CliError("usage", `--allow-tokens ${allowed} is too small: ${announcement}`, {
        hints,
      });
    }
    const stops = isLess ? ` It stops after ${allowed}, as --allow-tokens says.` : "";
    // Also with --quiet: nothing that costs is sent without a word.
    await output.problem(announcement + stops);
    return allowed;
  }
  const prompt = createPrompt(context, flags, output);
  if (!prompt.canAsk) {
    throw new CliError("usage", `there is no terminal to ask on: ${announcement}`, { hints });
  }
  if (await prompt.confirm(`${announcement} ${question}`)) return calls;
  throw new CliError("usage", "nothing was asked: the cost was not allowed");
}

/** Returns the guard in front of a search that costs model tokens. It throws as allowTokens(). */
export function createAllowance(
  context: Context,
  flags: AllowFlags,
  output: Output,
): (way: Pick<Way, "name" | "calls" | "cost">, passed: readonly Passed[]) => Promise<void> {
  return async ({ name, calls, cost }, passed) => {
    const why =
      passed.length === 0 ? "" : ` The service has no free search: ${describePassed(passed)}.`;
    const announcement = `The search --via ${name} costs model tokens: ${cost}.${why}`;
    await allowTokens(context, flags, output, {
      announcement,
      calls,
      question: "Search?",
      isWhole: true,
    });
  };
}
