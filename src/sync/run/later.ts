import type { DocumentEvent } from "./run-request.ts";
import type { Due } from "./due.ts";

/** Documents that failed for now and are attempted once more at the end. */
interface Later {
  /** False when it cannot be kept. */
  add(due: Due, event: DocumentEvent): boolean;
  count(): number;
  /** All of them, those of the spool read again. */
  due(again: (positions: readonly number[]) => AsyncIterable<Due[]>): AsyncGenerator<Due[]>;
  /** A document got its last attempt. */
  take(due: Due): void;
  /** Failures of those that did not. */
  left(): Iterable<DocumentEvent>;
}

// Beyond this something else is wrong than a moment's fault; `ingest retry` sends the rest.
const mostPlanned = 10_000;
// What stdin brought cannot be read again: so many are kept for the last attempt.
const keptFromStdin = 256;
const keptBytes = 16 * 1024 * 1024;

function bytesOf({ prepared }: Due): number {
  return prepared.kind === "document" ? prepared.body.length : 0;
}

/** Creates an empty one; it keeps a bounded number. */
export function createLater(): Later {
  const planned = new Map<number, DocumentEvent>();
  const kept = new Map<Due, DocumentEvent>();
  let bytes = 0;
  return {
    add(due, event) {
      // Only the position of what the spool holds: its text would add up.
      if (due.position !== undefined) {
        if (planned.size >= mostPlanned) return false;
        planned.set(due.position, event);
      } else if (kept.size >= keptFromStdin || bytes + bytesOf(due) > keptBytes) return false;
      else {
        kept.set(due, event);
        bytes += bytesOf(due);
      }
      return true;
    },
    count: () => planned.size + kept.size,
    async *due(again) {
      if (kept.size > 0) yield [...kept.keys()];
      if (planned.size > 0) yield* again([...planned.keys()].toSorted((a, b) => a - b));
    },
    take(due) {
      if (due.position !== undefined) planned.delete(due.position);
      kept.delete(due);
    },
    *left() {
      yield* kept.values();
      yield* planned.values();
    },
  };
}
