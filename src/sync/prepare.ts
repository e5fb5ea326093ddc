import type { FileFacts } from "../documents/facts.ts";
import type { Inspector, Prepared, ReadItem } from "../documents/inspection.ts";
import type { NumberedEntry } from "./plan-table.ts";

/** A document on its way: what the plan says of it, and what reading it gave. */
export interface Due {
  /** Of the plan's entry; undefined for what came from stdin. */
  number: number | undefined;
  prepared: Prepared;
}

export interface PrepareRequest {
  entries: Iterable<NumberedEntry>;
  inspector: Pick<Inspector, "read" | "readRows">;
  /** The project root with a separator at the end. */
  rootPrefix: string;
  /** What others say of a file. */
  factsOf?: ((path: string) => FileFacts | undefined) | undefined;
}

const filesAtOnce = 32;
const batchesAhead = 4;

function itemOf({ path, absolutePath }: NumberedEntry, request: PrepareRequest): ReadItem {
  const { rootPrefix, factsOf } = request;
  return { path, absolutePath: absolutePath ?? rootPrefix + path, facts: factsOf?.(path) };
}

// The id was checked for uniqueness with the plan; another one may collide.
function checked(entry: NumberedEntry, prepared: Prepared | undefined): Due {
  const { path, part, id, number } = entry;
  const isPlanned = prepared !== undefined && (prepared.kind !== "document" || prepared.id === id);
  if (isPlanned) return { number, prepared };
  const reason = `${path}: changed during the run; run again to send it`;
  return { number, prepared: { kind: "failed", path, part, reason } };
}

/** The planned rows of one file; entries that its rows no longer give are failures. */
async function* prepareRows(
  entries: readonly NumberedEntry[],
  request: PrepareRequest,
): AsyncGenerator<Due[]> {
  const [first] = entries;
  if (!first) return;
  const planned = new Map(entries.map((entry) => [entry.part, entry]));
  for await (const prepared of request.inspector.readRows(itemOf(first, request))) {
    const entry = planned.get(prepared.part);
    if (entry) yield [checked(entry, prepared)];
    planned.delete(prepared.part);
  }
  yield [...planned.values()].map((entry) => checked(entry, undefined));
}

/** Entries in groups: files of one document each, or the rows of one file. */
function* grouped(entries: Iterable<NumberedEntry>): Generator<NumberedEntry[]> {
  let group: NumberedEntry[] = [];
  for (const entry of entries) {
    const [first] = group;
    const isFull = first?.part === 0 && group.length >= filesAtOnce;
    const isOther = first && (first.part > 0 || entry.part > 0) && first.path !== entry.path;
    if (isFull || isOther) {
      yield group;
      group = [];
    }
    group.push(entry);
  }
  if (group.length > 0) yield group;
}

/**
 * Reads what is due, in order, some batches ahead of the caller, so that a pool
 * of threads is never idle and memory stays bounded.
 */
export async function* prepareDue(request: PrepareRequest): AsyncGenerator<Due[]> {
  const { inspector } = request;
  const inWork: (() => AsyncIterable<Due[]>)[] = [];
  for (const group of grouped(request.entries)) {
    if (group[0]?.part !== 0) inWork.push(() => prepareRows(group, request));
    else {
      const reading = inspector.read(group.map((entry) => itemOf(entry, request)));
      // Awaited in order; a rejection meanwhile must not count as unhandled.
      reading.catch(() => {});
      inWork.push(async function* () {
        const prepared = await reading;
        yield group.map((entry, index) => checked(entry, prepared[index]));
      });
    }
    if (inWork.length >= batchesAhead) yield* inWork.shift()?.() ?? [];
  }
  for (const each of inWork) yield* each();
}
