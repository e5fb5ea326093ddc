import type { ReadyDocument } from "../documents/inspection.ts";
import type { PlanRequest } from "./plan.ts";
import type { PlanTable } from "./plan-table.ts";
import type { AcceptedRecord } from "./records.ts";
import { targetFor } from "./target.ts";

/**
 * Counts the documents that are new or changed only because the options are others than the
 * recorded ones: their files are as they were.
 */
export function createReasonCount(
  { state, targets, options }: PlanRequest,
  table: PlanTable,
): (document: ReadyDocument, accepted: AcceptedRecord | undefined) => void {
  const differenceFrom = (number: number | undefined): string =>
    number === undefined ? "" : options.differenceFrom(number);
  return ({ path, part, id, content, ownPair, fingerprint }, accepted) => {
    if (accepted) {
      if (accepted.whole === fingerprint.whole) return;
      const difference = differenceFrom(accepted.options);
      if (difference === "" || state.file(path, part)?.content !== content) return;
      table.addReason("changed", difference);
      return;
    }
    const before = state.file(path, part);
    if (!before?.document || before.document.id === id || before.content !== content) return;
    const key = targetFor(targets, ownPair)?.key ?? "";
    const difference = differenceFrom(state.accepted(key, before.document.id)?.options);
    if (difference !== "") table.addReason("new id", difference);
  };
}
