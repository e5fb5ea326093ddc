import type { DocumentEvent } from "./run-request.ts";
import type { Pending } from "./pending.ts";

/** Documents that failed for now and are attempted once more at the end. */
interface RetryQueue {
  /** False when it cannot be kept. */
  add(pending: Pending, event: DocumentEvent): boolean;
  count(): number;
  /** All of them, those of the spool read again. */
  pending(
    again: (positions: readonly number[]) => AsyncIterable<Pending[]>,
  ): AsyncGenerator<Pending[]>;
  /** A document got its last attempt. */
  take(pending: Pending): void;
  /** Failures of those that did not. */
  left(): Iterable<DocumentEvent>;
}

// Beyond this something else is wrong than a moment's fault; `ingest retry` sends the rest.
const mostPlanned = 10_000;
// What stdin brought cannot be read again: so many are kept for the last attempt.
const keptFromStdin = 256;
const keptBytes = 16 * 1024 * 1024;

function bytesOf({ prepared }: Pending): number {
  return prepared.kind === "document" ? prepared.body.length : 0;
}

/** Creates an empty one; it keeps a bounded number. */
export function createRetryQueue(): RetryQueue {
  const planned = new Map<number, DocumentEvent>();
  const kept = new Map<Pending, DocumentEvent>();
  let bytes = 0;
  return {
    add(pending, event) {
      // Only the position of what the spool holds: its text would add up.
      if (pending.position !== undefined) {
        if (planned.size >= mostPlanned) return false;
        planned.set(pending.position, event);
      } else if (kept.size >= keptFromStdin || bytes + bytesOf(pending) > keptBytes) return false;
      else {
        kept.set(pending, event);
        bytes += bytesOf(pending);
      }
      return true;
    },
    count: () => planned.size + kept.size,
    async *pending(again) {
      if (kept.size > 0) yield [...kept.keys()];
      if (planned.size > 0) yield* again([...planned.keys()].toSorted((a, b) => a - b));
    },
    take(pending) {
      if (pending.position !== undefined) planned.delete(pending.position);
      kept.delete(pending);
    },
    *left() {
      yield* kept.values();
      yield* planned.values();
    },
  };
}
