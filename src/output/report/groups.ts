import type { ReportFailure } from "./record.ts";
import { bareReason } from "./text.ts";

const groupsKept = 1000;
const listed = 1000;

/** Failures with the same reason: how many, and the first of them. */
export interface FailureGroup {
  reason: string;
  count: number;
  retryable: number;
  failures: ReportFailure[];
}

export interface GroupedFailures {
  /** Most frequent first. */
  groups: FailureGroup[];
  count: number;
  /** How many stand in `failures` of the groups: the first 1,000 of all. */
  shown: number;
}

/** What failures have in common: the reason without their own path and id. */
export function reasonOf(failure: ReportFailure): string {
  let reason = bareReason(failure);
  for (const own of [failure.path, failure.id ?? ""]) {
    // A short name would tear words apart.
    if (own.length > 3) reason = reason.replaceAll(own, "…");
  }
  return reason;
}

/** Reads all failures once and groups them in bounded memory. */
export function groupFailures(failures: Iterable<ReportFailure>): GroupedFailures {
  const groups = new Map<string, FailureGroup>();
  let count = 0;
  let shown = 0;
  for (const failure of failures) {
    count++;
    const own = reasonOf(failure);
    const reason = groups.has(own) || groups.size < groupsKept ? own : "other reasons";
    let group = groups.get(reason);
    if (!group) groups.set(reason, (group = { reason, count: 0, retryable: 0, failures: [] }));
    group.count++;
    if (failure.retryable) group.retryable++;
    if (shown < listed) {
      group.failures.push(failure);
      shown++;
    }
  }
  return { groups: [...groups.values()].toSorted((a, b) => b.count - a.count), count, shown };
}
