import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  createDeadlines,
  type Bounded,
  type Deadlines,
} from "../../../src/api/transport/deadlines.ts";

interface Item extends Bounded {
  at: number;
  ended: number | undefined;
}

function addItem(deadlines: Deadlines<Item>, ms: number, movesOnBy = 0): Item {
  const item: Item = {
    place: -1,
    at: deadlines.now() + ms,
    ended: undefined,
    dueAt: () => item.at,
    expire() {
      if (movesOnBy > 0) {
        item.at += movesOnBy;
        movesOnBy = 0;
        return;
      }
      item.ended = deadlines.now();
      deadlines.remove(item);
    },
  };
  deadlines.add(item);
  return item;
}

describe("deadlines of what is in flight", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("end each at its own time, whatever the order in which they came", () => {
    const deadlines = createDeadlines<Item>();
    const begun = deadlines.now();
    const waits = [500, 20, 3000, 20, 1, 100_000];
    const items = waits.map((ms) => addItem(deadlines, ms));
    vi.advanceTimersByTime(200_000);
    const late = items.map(({ ended }, index) => (ended ?? 0) - begun - (waits[index] ?? 0));
    for (const ms of late) expect(Math.abs(ms)).toBeLessThanOrEqual(1);
    expect(deadlines.all()).toEqual([]);
  });

  it("that move away or nearer count where they are now", () => {
    const deadlines = createDeadlines<Item>();
    const [away, nearer, later] = [100, 5000, 50].map((ms, index) =>
      addItem(deadlines, ms, index === 2 ? 1000 : 0),
    ) as [Item, Item, Item];
    away.at += 2000;
    nearer.at -= 4000;
    deadlines.sooner(nearer);
    vi.advanceTimersByTime(1000);
    expect([away, nearer, later].map((item) => item.ended !== undefined)).toEqual([
      false,
      true,
      false,
    ]);
    vi.advanceTimersByTime(1100);
    expect([away, later].map((item) => item.ended !== undefined)).toEqual([true, true]);
  });

  it("hold the process only while something is in flight", () => {
    const deadlines = createDeadlines<Item>();
    const [first, second] = [addItem(deadlines, 100), addItem(deadlines, 200)];
    deadlines.remove(first);
    deadlines.remove(first);
    expect([deadlines.all(), vi.getTimerCount()]).toEqual([[second], 1]);
    deadlines.remove(second);
    expect([deadlines.all(), vi.getTimerCount()]).toEqual([[], 0]);
    addItem(deadlines, 10);
    vi.advanceTimersByTime(11);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("without a limit need no timer", () => {
    const deadlines = createDeadlines<Item>();
    addItem(deadlines, Number.POSITIVE_INFINITY);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("that are equal share one timer, however many come and go", () => {
    const deadlines = createDeadlines<Item>();
    // Not a spy: at the end of the file, vitest would put the held timers back that it replaces.
    const held = globalThis.setTimeout;
    let timers = 0;
    const counting = (...given: Parameters<typeof held>) => (timers++, held(...given));
    globalThis.setTimeout = Object.assign(counting, held);
    let oldest = addItem(deadlines, 1000);
    for (let index = 0; index < 10_000; index++) {
      const next = addItem(deadlines, 1000);
      deadlines.remove(oldest);
      oldest = next;
    }
    globalThis.setTimeout = held;
    expect(timers).toBe(1);
  });
});
