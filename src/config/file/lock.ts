import { closeSync, openSync, realpathSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { CliError, codeOf } from "../../errors.ts";
import { makeFolder } from "../../make-folder.ts";

/** A change takes milliseconds: an older lock belongs to a process that was killed. */
const abandonedMs = 10_000;
const longestWaitMs = 20_000;
const pauseMs = 10;

function lockPath(path: string): string {
  try {
    return `${realpathSync(path)}.lock`;
  } catch {
    return `${path}.lock`;
  }
}

/** Whether the lock was taken; undefined where nothing can be written, which the writer reports. */
function take(lock: string): boolean | undefined {
  try {
    makeFolder(dirname(lock), 0o700);
    closeSync(openSync(lock, "wx", 0o600));
    return true;
  } catch (error) {
    return codeOf(error) === "EEXIST" ? false : undefined;
  }
}

/** Name of the lock under which an abandoned lock is looked at and removed. */
const breaking = (lock: string): string => `${lock}.break`;

/**
 * Removes a lock that a killed process left. Only one process looks and removes at a time: of two that
 * saw the same old lock, the second would remove the fresh one of the first.
 */
function removeAbandoned(lock: string): void {
  const isOld = (): boolean => {
    const stats = statSync(lock, { throwIfNoEntry: false });
    return stats !== undefined && Date.now() - stats.mtimeMs > abandonedMs;
  };
  if (!isOld() || take(breaking(lock)) !== true) return;
  try {
    if (isOld()) rmSync(lock, { force: true });
  } finally {
    rmSync(breaking(lock), { force: true });
  }
}

/**
 * Runs `work` while no other process changes the file: two that read, change and write it at once
 * would each keep only its own change. Throws CliError `local` for a lock that does not end.
 */
export async function whileLocked<Result>(
  path: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const lock = lockPath(path);
  let taken = take(lock);
  for (let waitedMs = 0; taken === false; waitedMs += pauseMs) {
    if (waitedMs > longestWaitMs) {
      throw new CliError("local", `another knowctl is changing ${path}`, {
        hints: [`if none is running, remove ${lock} and ${breaking(lock)}`],
      });
    }
    removeAbandoned(lock);
    await wait(pauseMs);
    taken = take(lock);
  }
  try {
    return await work();
  } finally {
    if (taken) rmSync(lock, { force: true });
  }
}
