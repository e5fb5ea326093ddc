import type * as z from "zod/mini";
import { shorten } from "./shorten.ts";

/** Checks a parsed response: a zod schema, or a faster check in front of one. */
export interface Shape<T> {
  safeParse(
    value: unknown,
  ):
    | { success: true; data: T }
    | { success: false; error: { issues: readonly z.core.$ZodIssue[] } };
}

/** For a response of which only the status matters. */
export const anything: Shape<unknown> = { safeParse: (data) => ({ success: true, data }) };

/** The first three problems of a parsed response, each in a few words. */
export function describeIssues(issues: readonly z.core.$ZodIssue[]): string {
  const shown = issues.slice(0, 3).map((issue) => {
    const place = issue.path.map(String).join(".");
    const problem = issue.code === "invalid_type" ? `expected ${issue.expected}` : issue.message;
    return shorten(place === "" ? problem : `${place}: ${problem}`, 160);
  });
  return shown.join("; ") + (issues.length > 3 ? ` (and ${issues.length - 3} more)` : "");
}
