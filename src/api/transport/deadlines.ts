import { clampTimer } from "../retry/timing.ts";

/** Something in flight that must not take for ever. */
export interface Bounded {
  /** Where it stands in the list of what is in flight; kept by Deadlines. */
  place: number;
  /** When its time is up, by `Deadlines.now`; Infinity: never. May move at any time, see `sooner`. */
  dueAt(): number;
  /** Its time is up: it ends itself (and is removed), or moves its deadline on. */
  expire(): void;
}

/**
 * What is in flight, with the time limits of all of it behind one timer: two
 * timers for each exchange would cost more than the parsing of its answer.
 */
export interface Deadlines<T extends Bounded> {
  /** Milliseconds of a clock that nobody sets. */
  now(): number;
  add(item: T): void;
  /** The deadline of an item has moved; needed only when it may have come nearer. */
  sooner(item: T): void;
  remove(item: T): void;
  /** All that is in flight. */
  all(): T[];
}

/**
 * The timer is set to the nearest deadline known when it was set. Deadlines that
 * move away or go leave it as it is: it then wakes early, finds nothing due and is
 * set anew. With equal limits that is once per limit, not once per exchange.
 *
 * The list is an array and not a Set: V8 links the outgrown tables of a Set to
 * the newer ones (OrderedHashTable::Rehash), so that one which has become old
 * drags all that came and went later into the old generation.
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
    // Timers count whole milliseconds and may fire a fraction early.
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
      // Nothing is left to wait for: the timer would hold the process.
      clearTimeout(timer);
      wakesAt = Number.POSITIVE_INFINITY;
    },
    all: () => [...items],
  };
}
