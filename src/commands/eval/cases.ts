import {
  judgeCase,
  leakedOf,
  skippedCase,
  skipReason,
  type JudgeRules,
} from "../../checks/eval/judge-case.ts";
import { rubricsOf, type CaseReplies, type Reply } from "../../checks/eval/replies.ts";
import type { ReportedCase } from "../../checks/eval/result.ts";
import type { EvalCase } from "../../checks/eval/suite/suite.ts";
import type { CliError } from "../../errors.ts";
import { inOrder } from "../chat/batch/order.ts";
import type { Way } from "./ask.ts";

/** An attempt at a case, from 1; `control` asks as the profile of the run. */
export type Attempt = number | keyof Pick<CaseReplies, "control">;

/** Where replies come from: the service, or a recording. Throws only for bugs. */
export interface Replies {
  get(evalCase: EvalCase, attempt: Attempt): Promise<Reply>;
  /** Why the run ended early; undefined while it goes on. */
  stopped(): CliError | undefined;
}

/** A reply in place of one that never came. */
export function noReply(error: string, elapsedMs = 0, calls = 0): Reply {
  return { retrieved: [], cited: [], elapsedMs, calls, error };
}

type Rules = Pick<JudgeRules, "kind" | "judges" | "drafts">;

/** The questions of a case, in order; none if it is skipped. A search is asked once. */
export function attemptsOf(evalCase: EvalCase, rules: Rules): Attempt[] {
  if (skipReason(evalCase, rules) !== undefined) return [];
  const count = rules.kind === "answers" ? evalCase.repeat : 1;
  const repetitions = Array.from({ length: count }, (_, index) => index + 1);
  const isLeakTest = leakedOf(evalCase).length > 0;
  return isLeakTest ? [...repetitions, "control"] : repetitions;
}

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
export function costOf(cases: readonly EvalCase[], way: Pick<Way, "calls">, rules: Rules): Cost {
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

/** One question to send. */
interface Task {
  evalCase: EvalCase;
  attempt: Attempt;
  /** Whether the case has no further task. */
  isLast: boolean;
}

async function* tasksOf(cases: readonly EvalCase[], rules: Rules): AsyncGenerator<Task> {
  for (const evalCase of cases) {
    const attempts = attemptsOf(evalCase, rules);
    for (const [index, attempt] of attempts.entries()) {
      yield { evalCase, attempt, isLast: index === attempts.length - 1 };
    }
  }
}

/** Replies waiting for the rest of their case, for each unit of concurrency. */
const bufferedPerQuestion = 8;

/**
 * Asks all cases, `concurrency` questions at once, and judges them; calls `onCase` for each in the order
 * of the suites, without replies for one that was skipped. Returns the number of model calls.
 */
export async function runCases(
  cases: readonly EvalCase[],
  rules: JudgeRules,
  replies: Replies,
  concurrency: number,
  onCase: (result: ReportedCase, of: EvalCase, replies?: CaseReplies) => Promise<void>,
): Promise<number> {
  let calls = 0;
  let next = 0;
  let runs: Reply[] = [];
  let control: Reply | undefined;
  /** Reports skipped cases up to `before`, or to the end. */
  const reportSkipped = async (before?: EvalCase): Promise<void> => {
    for (; next < cases.length && cases[next] !== before; next++) {
      const skipped = cases[next]!;
      await onCase(skippedCase(skipped, rules, skipReason(skipped, rules) ?? ""), skipped);
    }
  };
  await inOrder(tasksOf(cases, rules), {
    concurrency,
    window: concurrency * bufferedPerQuestion,
    keyOf: () => undefined,
    work: async (task) => ({ ...task, reply: await replies.get(task.evalCase, task.attempt) }),
    isOver: () => false,
    async write({ evalCase, attempt, isLast, reply }) {
      calls += reply.calls;
      if (attempt === "control") control = reply;
      else runs.push(reply);
      if (!isLast) return;
      await reportSkipped(evalCase);
      next++;
      const all = { runs, control };
      [runs, control] = [[], undefined];
      await onCase(judgeCase(evalCase, all, rules), evalCase, all);
    },
  });
  await reportSkipped();
  return calls;
}
