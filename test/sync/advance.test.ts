import { describe, expect, it } from "vitest";
import type { ReadyDocument } from "../../src/documents/inspection.ts";
import { advanceDate } from "../../src/sync/advance.ts";

const day = "2024-01-01T00:00:00Z";
const sentAtMs = Date.parse("2026-01-01T00:00:00Z");

function sentDate(updatedAt: string | undefined, lastDate: string | undefined, nowMs: number) {
  const document = { id: "a", ...(updatedAt === undefined ? {} : { doc_updated_at: updatedAt }) };
  const body = Buffer.from(JSON.stringify({ document }));
  const ready = { body, updatedAt } as Partial<ReadyDocument> as ReadyDocument;
  const sent = advanceDate(ready, { updatedAt: lastDate, sentAtMs }, nowMs);
  const { document: told } = JSON.parse(Buffer.from(sent.body).toString()) as {
    document: { doc_updated_at?: string };
  };
  expect(told.doc_updated_at).toBe(sent.updatedAt);
  return sent.updatedAt;
}

describe("advanceDate()", () => {
  it.each<[string, string | undefined, string | undefined, string | undefined]>([
    ["leaves a later date", "2024-01-02T00:00:00Z", day, "2024-01-02T00:00:00Z"],
    ["moves the same date", day, day, "2024-01-01T00:00:01.000Z"],
    ["moves an earlier date", "2020-01-01T00:00:00Z", day, "2024-01-01T00:00:01.000Z"],
    ["leaves the service's clock", undefined, undefined, undefined],
    ["leaves the service's clock after a date", undefined, day, undefined],
    ["passes a future date", undefined, "2040-01-01T00:00:00Z", "2040-01-01T00:00:01.000Z"],
    ["passes the service's clock", day, undefined, "2026-01-01T00:05:01.000Z"],
  ])("%s", (_, date, lastDate, expected) => {
    expect(sentDate(date, lastDate, sentAtMs)).toBe(expected);
  });

  it("takes another date than an attempt whose answer was not recorded", () => {
    const first = sentDate(day, day, sentAtMs + 60_000) ?? "";
    const second = sentDate(day, day, sentAtMs + 90_000) ?? "";
    expect(Date.parse(second)).toBeGreaterThan(Date.parse(first));
  });
});
