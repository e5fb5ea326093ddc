import type { LintPage } from "../rule.ts";

/**
 * Returns a function that reads each page once. Rules look at one page after the other, and several
 * of them ask for the same of it: only the last page is kept.
 */
export function oncePerPage<Value>(read: (page: LintPage) => Value): (page: LintPage) => Value {
  let last: { page: LintPage; value: Value } | undefined;
  return (page) => {
    if (last?.page !== page) last = { page, value: read(page) };
    return last.value;
  };
}
