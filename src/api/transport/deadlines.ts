import { clampTimer } from "../retry/timing.ts";

/** An item in flight with a deadline. */
export interface Bounded {
  /** Index in the list of items in flight; maintained by Deadlines. */
  place: number;
  /** Its deadline by `Deadlines.now`; Infinity: none. May change at any time, see `sooner`. */
  dueAt(): number;
  /** Called after the deadline: the item ends and removes itself, or extends its deadline. */
  expire(): void;
}

/**
 * The items in flight, with one timer for all their deadlines: two timers per exchange would
 * cost more than parsing its response.
 */
export interface Deadlines<T extends Bounded> {
  /** Milliseconds of a monotonic clock. */
  now(): number;
  add(item: T): void;
  /** Call this if the deadline of an item may now be earlier. */
  sooner(item: T): void;
  remove(item: T): void;
  /** All items in flight. */
  all(): T[];
}

/**
 * The timer fires at the nearest deadline known when it was set. A later or removed deadline
 * does not change it: it then fires early, finds nothing expired, and is set again. With equal
 * timeouts that happens once per timeout, not once per exchange.
 *
 * The list is an array, not a Set: V8 links the outgrown tables of a Set to the newer ones
 * (OrderedHashTable::Rehash). An old table then keeps all later short-lived items alive into
 * the old generation.
 */
export function createDeadlines<T extends Bounded>(): Deadlines<T> {
  const items: T[] = [];
  let timer: NodeJS.Timeout | undefined;
  let wakesAt = Number.POSITIVE_INFINITY;
  const now = (): number => performance.now();

  const wakeAt = (at: number): void => {
    if (at >= wakesAt) return;
    clearTimeout(timer);
    wakesAt = at;
    timer = setTimeout(sweep, clampTimer(at - now()));
  };
  const sweep = (): void => {
    wakesAt = Number.POSITIVE_INFINITY;
    // Timers count whole milliseconds, so they may fire a fraction early.
    const until = now() + 1;
    for (const item of items.filter((each) => each.dueAt() <= until)) item.expire();
    wakeAt(items.reduce((nearest, item) => Math.min(nearest, item.dueAt()), wakesAt));
  };
  return {
    now,
    add(item) {
      item.place = items.push(item) - 1;
      wakeAt(item.dueAt());
    },
    sooner: (item) => wakeAt(item.dueAt()),
    remove(item) {
      if (items[item.place] !== item) return;
      const last = items.pop();
      if (last && last !== item) {
        items[item.place] = last;
        last.place = item.place;
      }
      if (items.length > 0) return;
      // Without items, the timer would only keep the process alive.
      clearTimeout(timer);
      wakesAt = Number.POSITIVE_INFINITY;
    },
    all: () => [...items],
  };
}
