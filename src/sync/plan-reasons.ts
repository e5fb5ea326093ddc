import type { ReadyDocument } from "../documents/inspection.ts";
import { tombstoneMark } from "./orphans.ts";
import type { PlanRequest } from "./plan.ts";
import type { PlanTable } from "./plan-table.ts";
import type { AcceptedRecord } from "./records.ts";
import { targetFor } from "./target.ts";

const unknownOptions = "recorded by an earlier knowctl, without options";

/**
 * Counts the documents that changed only because the options are others than the recorded ones,
 * and those that get another id than the recorded one of their file: then both documents exist.
 */
export function createReasonCount(
  { state, targets, options }: PlanRequest,
  table: PlanTable,
): (document: ReadyDocument, accepted: AcceptedRecord | undefined) => void {
  const differenceFrom = (number: number | undefined): string =>
    number === undefined || number === options.number ? "" : options.differenceFrom(number);
  const countNewId = ({ path, part, id, content, ownPair }: ReadyDocument): void => {
    const before = state.file(path, part);
    if (!before?.document || before.document.id === id) return;
    // A row that was inserted moves the others: the row of this number need not be the same one.
    if (part > 0 && before.content !== content) return;
    const key = targetFor(targets, ownPair)?.key ?? "";
    const earlier = state.accepted(key, before.document.id);
    if (earlier?.path !== path || earlier.whole === tombstoneMark) return;
    if (earlier.options === undefined) return table.addReason("new id", unknownOptions);
    const difference = differenceFrom(earlier.options);
    if (difference !== "") table.addReason("new id", difference);
    else table.addReason("own id", "");
  };
  return (document, accepted) => {
    if (!accepted) return countNewId(document);
    const { path, part, content, fingerprint } = document;
    if (accepted.whole === fingerprint.whole) return;
    const difference = differenceFrom(accepted.options);
    if (difference === "" || state.file(path, part)?.content !== content) return;
    table.addReason("changed", difference);
  };
}
