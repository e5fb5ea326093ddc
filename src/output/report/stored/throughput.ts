import type { Throughput } from "./record.ts";

/** Maximum buckets of a chart; a run that needs more doubles their width. */
const maxBuckets = 600;

/** Counts of documents over time, in bounded memory for any duration. */
export interface ThroughputCounter {
  /** `second`: time since the start of the run; negative values count as 0. */
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
      while (time / width >= maxBuckets) {
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
