import { tombstoneMark } from "../state/records.ts";
import type { PlanRequest } from "./plan-request.ts";
import type { Prepared, ReadyDocument } from "../../documents/inspect/inspection.ts";
import type { PlanTable } from "./plan-table.ts";
import type { AcceptedRecord, FileRecord } from "../state/records.ts";
import { targetFor } from "../state/target.ts";

const unknownOptions = "the recorded document has no recorded options";

/** Counts why documents are sent, see createReasonCount(). */
export interface ReasonCount {
  /** Keeps the recorded rows of a file. Call it before State.openParts() overwrites them. */
  remember(path: string, rows: readonly Prepared[]): void;
  count(document: ReadyDocument, accepted: AcceptedRecord | undefined): void;
}

/**
 * Counts documents that changed only because the options differ from the recorded options.
 * Also counts documents whose file has another id recorded: then the service has both documents.
 */
export function createReasonCount(
  { state, targets, options }: PlanRequest,
  table: PlanTable,
): ReasonCount {
  let remembered: { path: string; files: Map<number, FileRecord>; ids: Set<string> } | undefined;
  const fileOf = (path: string, part: number): FileRecord | undefined =>
    remembered?.path === path ? remembered.files.get(part) : state.file(path, part);
  const differenceFrom = (number: number | undefined): string =>
    number === undefined ? "" : options.differenceFrom(number);
  const countNewId = ({ path, part, id, ownPair }: ReadyDocument): void => {
    const before = fileOf(path, part)?.document?.id;
    if (before === undefined || before === id) return;
    // An inserted row shifts the rows after it, but their documents keep their ids.
    if (part > 0 && remembered?.ids.has(before)) return;
    const earlier = state.accepted(targetFor(targets, ownPair)?.key ?? "", before);
    if (earlier?.path !== path || earlier.whole === tombstoneMark) return;
    if (earlier.options === undefined) return table.addReason("new id", unknownOptions);
    const difference = differenceFrom(earlier.options);
    if (difference !== "") table.addReason("new id", difference);
    // In a file of rows, another id at this position is another row.
    else if (part === 0) table.addReason("own id", "");
  };
  return {
    remember(path, rows) {
      const files = rows.map(({ part }) => [part, state.file(path, part)] as const);
      remembered = {
        path,
        files: new Map(files.filter((each): each is [number, FileRecord] => each[1] !== undefined)),
        ids: new Set(rows.flatMap((row) => (row.kind === "document" ? [row.id] : []))),
      };
    },
    count(document, accepted) {
      if (!accepted) return countNewId(document);
      const { path, part, content, fingerprint } = document;
      if (accepted.whole === fingerprint.whole) return;
      const difference = differenceFrom(accepted.options);
      if (difference === "" || fileOf(path, part)?.content !== content) return;
      table.addReason("changed", difference);
    },
  };
}
