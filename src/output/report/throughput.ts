import type { Throughput } from "./record.ts";

/** Most buckets of a chart: when a run outgrows them, their width doubles. */
const mostBuckets = 600;

/** Counts of documents over time, in bounded memory however long the run takes. */
export interface ThroughputCounter {
  /** `second` after the begin of the run; what lies before it counts as 0. */
  add(second: number, documents: number, failed: number): void;
  result(): Throughput;
}

/** Starts with buckets of `bucketSeconds`. */
export function createThroughput(bucketSeconds = 1): ThroughputCounter {
  let width = bucketSeconds;
  let documents: number[] = [];
  let failed: number[] = [];
  const halve = (values: readonly number[]): number[] => {
    const result: number[] = [];
    for (const [index, value] of values.entries()) {
      const at = Math.floor(index / 2);
      result[at] = (result[at] ?? 0) + value;
    }
    return result;
  };
  return {
    add(second, sent, lost) {
      const time = Number.isFinite(second) ? Math.max(0, second) : 0;
      while (time / width >= mostBuckets) {
        width *= 2;
        documents = halve(documents);
        failed = halve(failed);
      }
      const index = Math.floor(time / width);
      while (documents.length <= index) {
        documents.push(0);
        failed.push(0);
      }
      documents[index] = (documents[index] ?? 0) + sent;
      failed[index] = (failed[index] ?? 0) + lost;
    },
    result: () => ({
      bucketSeconds: width,
      buckets: documents.map((sent, index) => ({
        second: index * width,
        documents: sent,
        failed: failed[index] ?? 0,
      })),
    }),
  };
}
