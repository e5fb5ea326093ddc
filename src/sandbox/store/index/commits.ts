import type { Database } from "../../../database.ts";

interface PendingWrite {
  apply(): void;
  settle(): void;
  fail(error: unknown): void;
}

/**
 * Group commit: writes that arrive together share one transaction. Each write is durable
 * when it is acknowledged, and thousands of writes per second are possible.
 */
export function createCommits(database: Database) {
  let pending: PendingWrite[] = [];

  const commit = (group: readonly PendingWrite[]): void => {
    try {
      database.transaction(() => {
        for (const item of group) item.apply();
      });
      for (const item of group) item.settle();
    } catch (error) {
      // One write failed the group: run each in its own transaction.
      if (group.length === 1) group[0]!.fail(error);
      else for (const item of group) commit([item]);
    }
  };
  const flush = (): void => {
    const group = pending;
    pending = [];
    if (group.length > 0) commit(group);
  };

  return {
    flush,
    /** Runs `apply` in the next transaction; resolves with its value after the commit. */
    submit: <T>(apply: () => T) =>
      new Promise<T>((resolve, reject) => {
        let value: T;
        if (pending.length === 0) setImmediate(flush);
        pending.push({
          apply: () => {
            value = apply();
          },
          settle: () => resolve(value),
          fail: reject,
        });
      }),
  };
}
