import type { ReportFailure } from "../record.ts";
import { bareReason } from "../text.ts";

const maxGroups = 1000;
const maxListed = 1000;

/** Failures with the same reason. */
export interface FailureGroup {
  reason: string;
  count: number;
  retryable: number;
  /** The first failures, not all. */
  failures: ReportFailure[];
}

export interface GroupedFailures {
  /** Most frequent first. */
  groups: FailureGroup[];
  count: number;
  /** Number of failures listed in all groups: at most 1,000. */
  shown: number;
}

/** Reason to group by: without the path and id of the failure. */
export function reasonOf(failure: ReportFailure): string {
  let reason = bareReason(failure);
  for (const own of [failure.path, failure.id ?? ""]) {
    // A short name may be a part of a word.
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
    const reason = groups.has(own) || groups.size < maxGroups ? own : "other reasons";
    let group = groups.get(reason);
    if (!group) groups.set(reason, (group = { reason, count: 0, retryable: 0, failures: [] }));
    group.count++;
    if (failure.retryable) group.retryable++;
    if (shown < maxListed) {
      group.failures.push(failure);
      shown++;
    }
  }
  return { groups: [...groups.values()].toSorted((a, b) => b.count - a.count), count, shown };
}
