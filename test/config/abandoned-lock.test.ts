import type * as fs from "node:fs";
import {
  closeSync,
  existsSync,
  openSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it, vi } from "vitest";
import { whileLocked } from "../../src/config/file/lock.ts";
import { temporaryFolder } from "../support.ts";

/** What another process does in the moment after this one looked at the lock. */
let meanwhile: () => void = () => {};

vi.mock("node:fs", async (original) => {
  const real = await original<typeof fs>();
  const looked = (path: string, ...more: unknown[]) => {
    const stats = (real.statSync as (...args: unknown[]) => unknown)(path, ...more);
    if (path.endsWith(".lock")) meanwhile();
    return stats;
  };
  return { ...real, statSync: looked };
});

beforeEach(() => (meanwhile = () => {}));

const longAgo = new Date("2020-01-01");

function takeNew(path: string): boolean {
  try {
    closeSync(openSync(path, "wx"));
    return true;
  } catch {
    return false;
  }
}

/** A file whose lock was left by a process that is gone. */
function abandoned(): { path: string; lock: string } {
  const path = join(temporaryFolder(), "config.json");
  const lock = `${path}.lock`;
  writeFileSync(path, "{}");
  writeFileSync(lock, "");
  utimesSync(lock, longAgo, longAgo);
  return { path, lock };
}

it("an abandoned lock is broken, and nothing is left", async () => {
  const { path, lock } = abandoned();
  expect(await whileLocked(path, () => Promise.resolve(existsSync(lock)))).toBe(true);
  expect([existsSync(lock), existsSync(`${lock}.break`)]).toEqual([false, false]);
});

it.each([1, 2])("of two processes that break it, only one works (look %i)", async (turn) => {
  const { path, lock } = abandoned();
  let looks = 0;
  let otherWorks = false;
  // The other process does the same, between this one's look and what it does then.
  meanwhile = () => {
    looks += 1;
    if (looks !== turn || !takeNew(`${lock}.break`)) return;
    rmSync(lock, { force: true });
    otherWorks = takeNew(lock);
    rmSync(`${lock}.break`, { force: true });
  };
  const mine = whileLocked(path, () => {
    expect(otherWorks).toBe(false);
    return Promise.resolve();
  });
  // The other one ends when it is seen to work, and still holds its lock.
  await vi.waitFor(() => expect(looks).toBeGreaterThanOrEqual(turn));
  if (otherWorks) {
    expect(statSync(lock).mtimeMs).toBeGreaterThan(longAgo.getTime());
    otherWorks = false;
    rmSync(lock);
  }
  await mine;
});
