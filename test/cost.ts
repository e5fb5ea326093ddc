import { expect } from "vitest";

// Costs are compared with costs that are measured beside them, as processor time of this process:
// how fast the machine is, and what else it does, makes no difference.

const attempts = 5;
// Below this, the collector of garbage costs more than the work.
const shortestMs = 3;

function cpuMs(work: () => void): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

function fastest(work: () => void): number {
  return Math.min(...[1, 2, 3].map(() => cpuMs(work)));
}

/**
 * Expects a factor that noise can only raise: the lowest of some attempts counts. So what it is
 * divided by is the fastest of some runs, and what is divided needs no second one.
 */
function expectFactor(measure: () => number, most: number): void {
  let factor = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < attempts && factor > most; attempt++) {
    factor = Math.min(factor, measure());
  }
  expect(factor, "times as expensive").toBeLessThanOrEqual(most);
}

// What grows with the square of an eightfold size costs so many times as much.
const [linear, square] = [8, 64];

/** The factor at a `share` of a size that shows the part with the square which `most` shows at all of it. */
export function asStrict(most: number, share: number): number {
  const part = (most - linear) / (square - most) / share;
  return (linear + square * part) / (1 + part);
}

/**
 * Asks for the costs of sizes, and expects that they grow with the size alone: an eighth of the size is
 * done beside the whole. What grows with the square costs 64 times as much, so the size must be worth
 * some milliseconds. Half the size with 16 for `most` finds as much as the whole with 24: a part with
 * the square that is 1.3 times the rest there, and so 2.7 times in the whole, where 24 finds 3.2 times.
 * So where a quarter or half of the size is worth measuring and keeps to a factor that is as strict,
 * the whole is not done.
 */
function* growing(size: number, most: number): Generator<number, void, number> {
  for (const share of [4, 2]) {
    const count = Math.ceil(size / share);
    const part = Math.ceil(count / 8);
    let partMs = yield part;
    if (partMs >= shortestMs) partMs = Math.min(partMs, yield part, yield part);
    if (partMs < shortestMs) continue;
    for (let attempt = 0; attempt < 2; attempt++) {
      if ((yield count) / partMs <= asStrict(most, share)) return;
    }
  }
  let factor = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < attempts && factor > most; attempt++) {
    const whole = yield size;
    // No part counts as cheaper than this.
    if (whole / shortestMs <= most) return;
    const part = Math.ceil(size / 8);
    factor = Math.min(
      factor,
      whole / Math.max(shortestMs, Math.min(yield part, yield part, yield part)),
    );
  }
  expect(factor, "times as expensive").toBeLessThanOrEqual(most);
}

/** Expects that the cost of `work` grows with the size alone. */
export function expectLinear(size: number, work: (size: number) => void, most = 24): void {
  const costs = growing(size, most);
  let next = costs.next();
  while (next.done !== true) {
    const count = next.value;
    next = costs.next(cpuMs(() => work(count)));
  }
}

/** Like expectLinear(), of work that ends later. */
export async function expectLinearLater(
  size: number,
  work: (size: number) => Promise<void>,
): Promise<void> {
  const costs = growing(size, 24);
  let next = costs.next();
  while (next.done !== true) {
    const start = process.cpuUsage();
    await work(next.value);
    const { user, system } = process.cpuUsage(start);
    next = costs.next((user + system) / 1000);
  }
}

/** Expects that `work` costs no more on the large size than on the small one. */
export function expectConstant(
  [small, large]: readonly [small: number, large: number],
  work: (size: number) => void,
): void {
  expectFactor(() => {
    const part = Math.max(
      shortestMs,
      fastest(() => work(small)),
    );
    return cpuMs(() => work(large)) / part;
  }, 4);
}

const ordinary = JSON.stringify(
  Array.from({ length: 20_000 }, (_, id) => ({ id, name: `n${id}` })),
);

/** Expects that `work` is done soon: it costs at most so many times what parsing 560 KB of JSON does. */
export function expectCheap(work: () => void, most = 30): void {
  expectFactor(() => cpuMs(work) / fastest(() => JSON.parse(ordinary)), most);
}
