import type { ConnectorStatus } from "../../api/schemas.ts";

export interface Change {
  event: "listed" | "added" | "changed" | "removed";
  /** As it is now; of one that was removed as it was. */
  record: ConnectorStatus;
}

interface Known {
  record: ConnectorStatus;
  json: string;
}

/**
 * A function that tells what is new in a listing against the one before: in the
 * order of the listing, what is gone at the end. In the first all are `listed`.
 */
export function createChanges(): (records: readonly ConnectorStatus[]) => Change[] {
  let known: Map<number | string, Known> | undefined;
  return (records) => {
    const before = known;
    known = new Map();
    const changes: Change[] = [];
    for (const record of records) {
      const json = JSON.stringify(record);
      // A record without an id is known by its text.
      const id = record.cc_pair_id ?? json;
      known.set(id, { record, json });
      const old = before?.get(id);
      if (!before) changes.push({ event: "listed", record });
      else if (!old) changes.push({ event: "added", record });
      else if (old.json !== json) changes.push({ event: "changed", record });
    }
    for (const [id, { record }] of before ?? []) {
      if (!known.has(id)) changes.push({ event: "removed", record });
    }
    return changes;
  };
}
