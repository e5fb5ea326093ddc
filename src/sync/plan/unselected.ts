import type { PlanRequest } from "./plan-request.ts";
import type { Prepared } from "../../documents/inspect/inspection.ts";
import { formatOf } from "../../documents/read/readers.ts";
import type { Candidate } from "./merge.ts";
import type { PlanEntries } from "./plan-entries.ts";

/**
 * Plans the ids of unchanged files without a record, so that changed files do not overwrite their
 * documents. Other problems of these files do not concern this run.
 */
export interface Unselected {
  /** Returns a promise only when there is something to await. */
  add(candidate: Candidate): Promise<void> | undefined;
  /** Waits until all files are planned. */
  settle(): Promise<void>;
}

const filesAtOnce = 64;

/** Creates an Unselected that adds to `entries`. */
export function createUnselected(request: PlanRequest, entries: PlanEntries): Unselected {
  const { inspector, formatFor } = request;
  let waiting: Candidate[] = [];
  const plan = (path: string, prepared: Prepared): void => {
    if (prepared.kind === "document") entries.addUnselected(path, prepared.part, prepared.id);
  };
  const readRows = async ({ item }: Candidate): Promise<void> => {
    for await (const row of inspector.readRows(item)) plan(item.path, row);
  };
  const settle = async (): Promise<void> => {
    const all = waiting.map(({ item }) => item);
    waiting = [];
    const peeked = all.length > 0 ? await inspector.peekIds(all) : [];
    const items: typeof all = [];
    for (const [index, item] of all.entries()) {
      const id = peeked[index]?.id;
      if (id === undefined) items.push(item);
      else entries.addUnselected(item.path, 0, id);
    }
    const looked = items.length > 0 ? await inspector.look(items) : [];
    for (const [index, each] of looked.entries()) {
      if (each.kind !== "same") plan(items[index]?.path ?? "", each);
    }
  };
  return {
    settle,
    add(candidate) {
      const { item } = candidate;
      if (formatOf(item.path, formatFor?.(item.path))?.gives === "rows") return readRows(candidate);
      waiting.push(candidate);
      return waiting.length >= filesAtOnce ? settle() : undefined;
    },
  };
}
