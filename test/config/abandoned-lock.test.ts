import fs, {
  closeSync,
  existsSync,
  openSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { whileLocked } from "../../src/config/file/files.ts";
import { temporaryFolder } from "../support.ts";

/** What another process does in the moment after this one looked at the lock. */
let meanwhile: () => void = () => {};

/** Lets `meanwhile` happen after each look at a lock, until the test has ended. */
function watchLooks(): void {
  const real = fs.statSync;
  const looked = (path: string, ...more: unknown[]) => {
    const stats = (real as (...args: unknown[]) => unknown)(path, ...more);
    if (path.endsWith(".lock")) meanwhile();
    return stats;
  };
  Object.assign(fs, { statSync: looked });
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.assign(fs, { statSync: real });
    syncBuiltinESMExports();
  });
}

beforeEach(() => {
  meanwhile = () => {};
  watchLooks();
});

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
