import { describe, expect, it, onTestFinished } from "vitest";
import type { ReadyDocument } from "../../../src/documents/inspect/inspection.ts";
import { bumpUpdatedAt, createDates } from "../../../src/sync/run/bodies.ts";
import { openTestState } from "../open-state.ts";

const day = "2024-01-01T00:00:00Z";
const sentAtMs = Date.parse("2026-01-01T00:00:00Z");

function sentDate(updatedAt: string | undefined, lastDate: string | undefined, nowMs: number) {
  const document = { id: "a", ...(updatedAt === undefined ? {} : { doc_updated_at: updatedAt }) };
  const body = Buffer.from(JSON.stringify({ document }));
  const ready = { body, updatedAt } as Partial<ReadyDocument> as ReadyDocument;
  const sent = bumpUpdatedAt(ready, { updatedAt: lastDate, sentAtMs }, nowMs);
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

describe("createDates()", () => {
  const ready = (id: string, updatedAt: string | undefined): ReadyDocument => {
    const body = Buffer.from(JSON.stringify({ document: { id, doc_updated_at: updatedAt } }));
    return { id, body, updatedAt } as Partial<ReadyDocument> as ReadyDocument;
  };
  const record = { path: undefined, part: 0, whole: "w", fields: "", storedId: undefined };

  it("goes beyond what any pair of the same service got last", async () => {
    const state = await openTestState();
    onTestFinished(() => state.close());
    const accepted = [
      { ...record, target: "https://a#2", id: "x", updatedAt: day, sentAtMs },
      {
        ...record,
        target: "https://a#7",
        id: "x",
        updatedAt: "2024-02-01T00:00:00Z",
        sentAtMs: sentAtMs + 1,
      },
      {
        ...record,
        target: "https://b#7",
        id: "x",
        updatedAt: "2024-03-01T00:00:00Z",
        sentAtMs: sentAtMs + 2,
      },
    ];
    state.save({ accepted });
    const now = (): number => sentAtMs + 1;
    const dates = createDates({ state, baseUrl: "https://a", force: false, now });
    for (const last of [accepted[0], undefined]) {
      expect(dates.adapt(ready("x", day), last).updatedAt).toBe("2024-02-01T00:00:01.000Z");
    }
    expect(dates.adapt(ready("other", day), undefined).updatedAt).toBe(day);
    expect(dates.unknown()).toBe(0);
  });

  it("goes with force beyond the clock of a service that got no date before", async () => {
    const state = await openTestState();
    onTestFinished(() => state.close());
    const nowMs = Date.parse("2026-06-01T00:00:00Z");
    const lost = { state, baseUrl: "https://a", now: () => nowMs };
    const forced = createDates({ ...lost, force: true }).adapt(ready("x", day), undefined);
    // The clock of the service may be five minutes ahead.
    expect(Date.parse(forced.updatedAt ?? "")).toBeGreaterThan(nowMs + 5 * 60_000);
    const there = createDates({ ...lost, force: false }).adapt(ready("x", day), undefined);
    expect(Date.parse(there.dateIfThere?.() ?? "")).toBeGreaterThanOrEqual(nowMs + 5 * 60_000);
  });

  it("goes with force, or once it is known to be there, beyond what years of changes made of a date", async () => {
    const state = await openTestState();
    onTestFinished(() => state.close());
    let nowMs = Date.parse(day);
    let sent: { updatedAt: string | undefined } = { updatedAt: day };
    const now = (): number => nowMs;
    for (let change = 0; change < 50; change++) {
      const last = { updatedAt: sent.updatedAt, sentAtMs: nowMs };
      nowMs += change * 1_000_000_000;
      sent = bumpUpdatedAt(ready("x", day), last, nowMs);
    }
    const reached = Date.parse(sent.updatedAt ?? "");
    const lost = { state, baseUrl: "https://a", now };
    const forced = createDates({ ...lost, force: true }).adapt(ready("x", day), undefined);
    expect(Date.parse(forced.updatedAt ?? "")).toBeGreaterThan(reached);
    nowMs += 1000;
    const again = createDates({ ...lost, force: true }).adapt(ready("x", day), undefined);
    expect(Date.parse(again.updatedAt ?? "")).toBeGreaterThan(Date.parse(forced.updatedAt ?? ""));
    const dates = createDates({ ...lost, force: false });
    const asItIs = dates.adapt(ready("x", day), undefined);
    expect(asItIs.updatedAt).toBe(day);
    expect(Date.parse(asItIs.dateIfThere?.() ?? "")).toBeGreaterThan(reached);
    expect(dates.unknown()).toBe(1);
    expect(dates.adapt(ready("x", undefined), undefined).dateIfThere).toBeUndefined();
  });
});
