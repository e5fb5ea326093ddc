/** For how many of `count` places `isBefore` holds: for the first ones, and for none behind them. */
export function countBefore(count: number, isBefore: (place: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
