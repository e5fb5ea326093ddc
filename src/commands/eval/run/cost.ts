import { rubricsOf } from "../../../checks/eval/judgement.ts";
import type { JudgeRules } from "../../../checks/eval/judge-case.ts";
import type { EvalCase } from "../../../checks/eval/suite/suite.ts";
import type { GlobalFlags } from "../../../config/global-flags.ts";
import type { Context } from "../../../context.ts";
import { CliError } from "../../../errors.ts";
import { countOf } from "../../../output/terminal/progress.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { createPrompt } from "../../prompt.ts";
import type { Way } from "./ask/ask.ts";
import { createBudget, type Budget } from "./budget.ts";
import { attemptsOf } from "./run-cases.ts";

/** What a run asks, at most. */
export interface Cost {
  /** Cases that are asked. */
  cases: number;
  /** Questions with all repetitions and the controls of leak tests. */
  questions: number;
  /** Model calls of the service. */
  calls: number;
  /** Model calls of the judge. */
  judgeCalls: number;
}

/** Counts what the cases ask. */
export function costOf(
  cases: readonly EvalCase[],
  way: Pick<Way, "calls">,
  rules: Pick<JudgeRules, "kind" | "judges">,
): Cost {
  const cost: Cost = { cases: 0, questions: 0, calls: 0, judgeCalls: 0 };
  for (const evalCase of cases) {
    const attempts = attemptsOf(evalCase, rules);
    const repetitions = attempts.filter((each) => each !== "control").length;
    cost.cases += attempts.length > 0 ? 1 : 0;
    cost.questions += attempts.length;
    cost.calls += attempts.length * way.calls;
    cost.judgeCalls += rules.judges ? repetitions * rubricsOf(evalCase).length : 0;
  }
  return cost;
}

function announcementOf(
  { cases, questions, calls, judgeCalls }: Cost,
  judge: string | null,
): string {
  const repeated = questions > cases ? `, ${countOf(questions, "question")} with repetitions` : "";
  const judged =
    judge === null ? "" : `; ${judge} judges answers: ${countOf(judgeCalls, "model call")}`;
  return `${countOf(cases, "case")}${repeated}: up to ${countOf(calls, "model call")} of the service${judged}`;
}

/**
 * Announces the model calls of a run, and returns their bound: `--allow-tokens`, or all of them after
 * a yes on a terminal. Throws CliError `usage` for a no, and without a terminal.
 */
export async function allowCost(
  context: Context,
  flags: GlobalFlags & { allowTokens?: number },
  output: Output,
  { cost, judge }: { cost: Cost; judge: string | null },
): Promise<Budget> {
  const total = cost.calls + cost.judgeCalls;
  if (total === 0) return createBudget(Number.POSITIVE_INFINITY);
  const announcement = `This run costs model tokens. ${announcementOf(cost, judge)}`;
  const { allowTokens } = flags;
  if (allowTokens !== undefined) {
    const stops =
      allowTokens < total ? `. It stops after ${allowTokens}, as --allow-tokens says` : "";
    // Also with --quiet: nothing that costs is sent without a word.
    await output.problem(`${announcement}${stops}.`);
    return createBudget(allowTokens);
  }
  const prompt = createPrompt(context, flags, output);
  if (!prompt.canAsk) {
    throw new CliError("usage", `there is no terminal to ask on: ${announcement}`, {
      hints: [`allow it with --allow-tokens ${total}`],
    });
  }
  if (await prompt.confirm(`${announcement}. Continue?`)) return createBudget(total);
  throw new CliError("usage", "nothing was asked: the cost was not allowed");
}
