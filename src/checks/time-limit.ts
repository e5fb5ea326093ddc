import { createContext, Script } from "node:vm";
import { codeOf } from "../errors.ts";

const script = new Script("work()");

/**
 * Runs `work` and returns its value; undefined if it takes longer than `limitMs`. A regular expression
 * with catastrophic backtracking blocks the thread, so no timer and no signal could end it; the time
 * limit of node:vm does. `work` must be pure, because it may end at any point without `finally`.
 */
export function runWithin<Value>(limitMs: number, work: () => Value): { value: Value } | undefined {
  const context = createContext({ work });
  try {
    return { value: script.runInContext(context, { timeout: limitMs }) as Value };
  } catch (error) {
    if (codeOf(error) === "ERR_SCRIPT_EXECUTION_TIMEOUT") return undefined;
    throw error;
  }
}

/** A text that does not compile as a regular expression, with the reason; undefined if it compiles. */
export function patternProblem(source: string): string | undefined {
  try {
    RegExp(source);
    return undefined;
  } catch (error) {
    const message = error instanceof Error ? error.message : "";
    // The engine repeats the expression before the reason.
    return message.slice(message.lastIndexOf(": ") + 2).toLowerCase() || "not an expression";
  }
}

/** Limit of one test of an expression from a suite or a configuration. */
const patternLimitMs = 1000;

/** Whether `pattern` matches `text`; undefined if that is not decided within the time limit. */
export function matchesWithin(
  pattern: RegExp,
  text: string,
  limitMs = patternLimitMs,
): boolean | undefined {
  return runWithin(limitMs, () => pattern.test(text))?.value;
}
