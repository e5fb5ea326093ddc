import type * as z from "zod/mini";
import { shorten } from "./words.ts";

/** What checks a parsed answer: a zod schema, or something cheaper in front of one. */
export interface Shape<T> {
  safeParse(
    value: unknown,
  ):
    | { success: true; data: T }
    | { success: false; error: { issues: readonly z.core.$ZodIssue[] } };
}

/** For an answer of which only the status counts. */
export const anything: Shape<unknown> = { safeParse: (data) => ({ success: true, data }) };

/** What is wrong with a parsed answer, its first three places, each in few words. */
export function describeIssues(issues: readonly z.core.$ZodIssue[]): string {
  const shown = issues.slice(0, 3).map((issue) => {
    const place = issue.path.map(String).join(".");
    const problem = issue.code === "invalid_type" ? `expected ${issue.expected}` : issue.message;
    return shorten(place === "" ? problem : `${place}: ${problem}`, 160);
  });
  return shown.join("; ") + (issues.length > 3 ? ` (and ${issues.length - 3} more)` : "");
}
