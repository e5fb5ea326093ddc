/** Counts model calls against an upper bound. */
export interface Budget {
  /**
   * Reserves calls before they are made; false if they would pass the bound, and from then on: a
   * cheaper question of a later case would use up what is left for nothing.
   */
  take(calls: number): boolean;
  /** Returns calls that were reserved and not made. */
  giveBack(calls: number): void;
  readonly bound: number;
}

/** A budget of `bound` model calls. */
export function createBudget(bound: number): Budget {
  let left = bound;
  let isUsedUp = false;
  return {
    bound,
    take(calls) {
      isUsedUp ||= calls > left;
      if (isUsedUp) return false;
      left -= calls;
      return true;
    },
    giveBack(calls) {
      left += calls;
    },
  };
}
