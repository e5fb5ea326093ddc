import type { StatusRow } from "./rows.ts";

export interface Change {
  event: "listed" | "added" | "changed" | "removed";
  /** The current record; for a removed connector, the last one. */
  record: StatusRow;
}

interface Known {
  record: StatusRow;
  json: string;
}

/**
 * Returns a function that compares a listing with the previous one. Changes are in the
 * order of the listing, removed records last. In the first listing, all are `listed`.
 */
export function createChanges(): (records: readonly StatusRow[]) => Change[] {
  let known: Map<number | string, Known> | undefined;
  return (records) => {
    const previous = known;
    known = new Map();
    const changes: Change[] = [];
    for (const record of records) {
      const json = JSON.stringify(record);
      // A record without an id is identified by its text.
      const id = record.ccPairId ?? json;
      known.set(id, { record, json });
      const old = previous?.get(id);
      if (!previous) changes.push({ event: "listed", record });
      else if (!old) changes.push({ event: "added", record });
      else if (old.json !== json) changes.push({ event: "changed", record });
    }
    for (const [id, { record }] of previous ?? []) {
      if (!known.has(id)) changes.push({ event: "removed", record });
    }
    return changes;
  };
}
