import type { DocumentEvent } from "./run-request.ts";
import type { Pending } from "./pending.ts";

/** Documents with a retryable failure, which are sent once more at the end. */
interface RetryQueue {
  /** False when the queue is full. */
  add(pending: Pending, event: DocumentEvent): boolean;
  count(): number;
  /** All queued documents; `again` reads documents of the plan again. */
  pending(
    again: (numbers: readonly number[]) => AsyncIterable<Pending[]>,
  ): AsyncGenerator<Pending[]>;
  /** Removes a document, whose last attempt starts. Returns its failure. */
  remove(pending: Pending): DocumentEvent | undefined;
  /** Failures of the documents that are still queued. */
  remaining(): Iterable<DocumentEvent>;
}

// More failures are not a temporary fault; `retry` sends the rest.
const mostPlanned = 10_000;
// Documents from stdin cannot be read again: the queue keeps them in memory, up to these limits.
const mostFromStdin = 256;
const mostBytesFromStdin = 16 * 1024 * 1024;

function bytesOf({ prepared }: Pending): number {
  return prepared.kind === "document" ? prepared.body.length : 0;
}

/** Creates an empty queue with bounded memory. */
export function createRetryQueue(): RetryQueue {
  const fromPlan = new Map<number, DocumentEvent>();
  const fromStdin = new Map<Pending, DocumentEvent>();
  let bytes = 0;
  return {
    add(pending, event) {
      // Keep only the number of a document of the plan, to save memory.
      if (pending.number !== undefined) {
        if (fromPlan.size >= mostPlanned) return false;
        fromPlan.set(pending.number, event);
      } else if (fromStdin.size >= mostFromStdin || bytes + bytesOf(pending) > mostBytesFromStdin)
        return false;
      else {
        fromStdin.set(pending, event);
        bytes += bytesOf(pending);
      }
      return true;
    },
    count: () => fromPlan.size + fromStdin.size,
    async *pending(again) {
      if (fromStdin.size > 0) yield [...fromStdin.keys()];
      if (fromPlan.size > 0) yield* again([...fromPlan.keys()].toSorted((a, b) => a - b));
    },
    remove(pending) {
      const { number } = pending;
      const event = number === undefined ? fromStdin.get(pending) : fromPlan.get(number);
      if (number !== undefined) fromPlan.delete(number);
      fromStdin.delete(pending);
      return event;
    },
    *remaining() {
      yield* fromStdin.values();
      yield* fromPlan.values();
    },
  };
}
