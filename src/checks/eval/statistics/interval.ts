/** An estimate with the limits of its 95 % interval. */
export interface Interval {
  value: number;
  low: number;
  high: number;
}
