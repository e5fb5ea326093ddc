import {
  judgeCase,
  skippedCase,
  skipReason,
  type JudgeRules,
} from "../../../checks/eval/judge-case.ts";
import { leakedOf } from "../../../checks/eval/leak-control.ts";
import type { Reply } from "../../../checks/eval/reply.ts";
import type { CaseResult } from "../../../checks/eval/result.ts";
import type { EvalCase } from "../../../checks/eval/suite/suite.ts";
import { inOrder } from "../../chat/batch/order.ts";
import type { Attempt, Replies } from "./live.ts";
import type { Recorder } from "./recording/recording.ts";

/** One question to send. */
interface Task {
  evalCase: EvalCase;
  attempt: Attempt;
  /** Whether the case has no further task. */
  isLast: boolean;
}

/** The questions of a case, in order; none if it is skipped. A search is asked once. */
export function attemptsOf(
  evalCase: EvalCase,
  rules: Pick<JudgeRules, "kind" | "judges">,
): Attempt[] {
  if (skipReason(evalCase, rules) !== undefined) return [];
  const count = rules.kind === "answers" ? evalCase.repeat : 1;
  const repetitions = Array.from({ length: count }, (_, index) => index + 1);
  const isLeakTest = leakedOf(evalCase).length > 0;
  return isLeakTest ? [...repetitions, "control"] : repetitions;
}

async function* tasksOf(cases: readonly EvalCase[], rules: JudgeRules): AsyncGenerator<Task> {
  for (const evalCase of cases) {
    const attempts = attemptsOf(evalCase, rules);
    for (const [index, attempt] of attempts.entries()) {
      yield { evalCase, attempt, isLast: index === attempts.length - 1 };
    }
  }
}

export interface CasesRequest {
  cases: readonly EvalCase[];
  rules: JudgeRules;
  replies: Replies;
  /** Questions in flight. */
  concurrency: number;
  recorder?: Recorder | undefined;
}

/** Replies waiting for the rest of their case, for each unit of concurrency. */
const bufferedPerQuestion = 8;

/**
 * Asks all cases and judges them; calls `onCase` for each in the order of the suites. A case that
 * was not asked, for whatever reason, has a result too. Returns the number of model calls.
 */
export async function runCases(
  { cases, rules, replies, concurrency, recorder }: CasesRequest,
  onCase: (result: CaseResult) => Promise<void>,
): Promise<number> {
  let calls = 0;
  let next = 0;
  let runs: Reply[] = [];
  let control: Reply | undefined;
  /** Reports skipped cases up to `before`, or to the end. */
  const reportSkipped = async (before?: EvalCase): Promise<void> => {
    for (; next < cases.length && cases[next] !== before; next++) {
      const skipped = cases[next]!;
      await onCase(skippedCase(skipped, rules, skipReason(skipped, rules) ?? ""));
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
      await recorder?.addCase(evalCase, all);
      await onCase(judgeCase(evalCase, all, rules));
    },
  });
  await reportSkipped();
  return calls;
}
