import { constants, getPriority, platform, setPriority } from "node:os";

/** What an operating system tells and takes of priorities: the higher the number, the later its turn. */
export interface Priorities {
  platform(): string;
  get(): number;
  set(priority: number): void;
}

const ofThisThread: Priorities = { platform, get: getPriority, set: setPriority };

const stepsBack = 10;

/**
 * Lets the calling thread take second place where several want a processor. A thread
 * that reads some milliseconds at a stretch would otherwise keep answers waiting, and
 * with each of them the next request. For Linux alone, where a priority is a thread's
 * own (setpriority(2), "C library/kernel differences"): elsewhere it is the process's.
 * Where it may not be set, everything stays as it is.
 */
export function goToBackground(priorities: Priorities = ofThisThread): void {
  if (priorities.platform() !== "linux") return;
  try {
    const last = constants.priority.PRIORITY_LOW;
    priorities.set(Math.min(last, priorities.get() + stepsBack));
  } catch {
    // A sandbox may forbid it; the upload is only a little slower then.
  }
}
