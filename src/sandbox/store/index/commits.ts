import type { Database } from "../../../database.ts";

interface PendingWrite {
  apply(): void;
  settle(): void;
  fail(error: unknown): void;
}

export interface Commits {
  /** Runs `apply` in the next transaction; resolves with its value after the commit. */
  submit<T>(apply: () => T): Promise<T>;
  flush(): void;
}

/**
 * Group commit: writes that arrive together share one transaction. Each write is durable
 * when it is acknowledged, and thousands of writes per second are possible.
 */
export function createCommits(database: Database): Commits {
  let pending: PendingWrite[] = [];
  let scheduled = false;

  const flush = (): void => {
    scheduled = false;
    const group = pending;
    pending = [];
    if (group.length === 0) return;
    try {
      database.transaction(() => {
        for (const item of group) item.apply();
      });
      for (const item of group) item.settle();
    } catch (error) {
      if (group.length === 1) return group[0]!.fail(error);
      // One write failed the group: run each in its own transaction.
      for (const item of group) {
        try {
          database.transaction(() => item.apply());
          item.settle();
        } catch (itemError) {
          item.fail(itemError);
        }
      }
    }
  };

  return {
    flush,
    submit: <T>(apply: () => T) =>
      new Promise<T>((resolve, reject) => {
        let value: T;
        pending.push({
          apply: () => {
            value = apply();
          },
          settle: () => resolve(value),
          fail: reject,
        });
        if (scheduled) return;
        scheduled = true;
        setImmediate(flush);
      }),
  };
}
