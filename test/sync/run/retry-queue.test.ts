import { expect, it } from "vitest";
import type { Prepared } from "../../../src/documents/inspect/inspection.ts";
import { createRetryQueue } from "../../../src/sync/run/run.ts";
import type { Pending } from "../../../src/sync/run/pending.ts";

function pending(bytes: number, number?: number): Pending {
  const prepared = { kind: "document", path: "", body: new Uint8Array(bytes) } as Prepared;
  return { number, known: undefined, prepared };
}

const event = { status: "failed", path: "", id: "a", ms: 0 } as const;

it.each([
  [10, 300, 256],
  [5 * 1024 * 1024, 10, 3],
  [17 * 1024 * 1024, 1, 0],
])("of documents of %i bytes from stdin, %i of them, keeps %i", (bytes, count, kept) => {
  const later = createRetryQueue();
  for (let index = 0; index < count; index++) later.add(pending(bytes), event);
  expect(later.count()).toBe(kept);
});

it("keeps a bounded number of those that can be read again", () => {
  const later = createRetryQueue();
  const kept = Array.from({ length: 10_001 }, (_, index) => later.add(pending(1, index), event));
  expect(kept.lastIndexOf(true)).toBe(9999);
  expect(later.count()).toBe(10_000);
});
