import type { Database } from "../../database.ts";

interface Waiting {
  apply(): void;
  settle(): void;
  fail(error: unknown): void;
}

export interface Commits {
  /** Runs `apply` in the next transaction; resolves with its value once that is durable. */
  submit<T>(apply: () => T): Promise<T>;
  flush(): void;
}

/**
 * Group commit: writes that arrive together share one transaction, so that each
 * is durable when it is acknowledged and thousands of them fit in a second.
 */
export function createCommits(database: Database): Commits {
  let waiting: Waiting[] = [];
  let scheduled = false;

  const flush = (): void => {
    scheduled = false;
    const group = waiting;
    waiting = [];
    if (group.length === 0) return;
    try {
      database.transaction(() => {
        for (const item of group) item.apply();
      });
      for (const item of group) item.settle();
    } catch (error) {
      if (group.length === 1) return group[0]!.fail(error);
      // One write broke the group: give each its own transaction.
      for (const item of group) {
        try {
          database.transaction(() => item.apply());
          item.settle();
        } catch (own) {
          item.fail(own);
        }
      }
    }
  };

  return {
    flush,
    submit: <T>(apply: () => T) =>
      new Promise<T>((resolve, reject) => {
        let value: T;
        waiting.push({
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
