/** Counts model calls against an upper bound. */
export interface Budget {
  /** Reserves calls before they are made; false if they would pass the bound. */
  take(calls: number): boolean;
  /** Returns calls that were reserved and not made. */
  giveBack(calls: number): void;
  readonly bound: number;
}

/** A budget of `bound` model calls. */
export function createBudget(bound: number): Budget {
  let left = bound;
  return {
    bound,
    take(calls) {
      if (calls > left) return false;
      left -= calls;
      return true;
    },
    giveBack(calls) {
      left += calls;
    },
  };
}
