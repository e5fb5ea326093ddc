/** One piece of an answer as the network brought it. */
export interface Arrival {
  /** Milliseconds since the question was sent. */
  ms: number;
  /** Messages that it completed. */
  messages: number;
}

export interface Stream {
  verdict: "streamed" | "buffered" | "unknown";
  words: string;
}

/** Pieces closer together than this came as one. */
const burstMs = 30;
/** Many small pieces over this time were not held back either, however close together. */
const leastSpanMs = 200;
/** A wait that a person notices. Below it there was nothing to buffer. */
const longWaitMs = 1000;
const leastMessages = 8;

const seconds = (ms: number): string =>
  ms < 995 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;

/** No piece holds most of the messages, and they took a while. */
function trickles(arrivals: readonly Arrival[], messages: number, span: number): boolean {
  const largest = arrivals.reduce((most, each) => Math.max(most, each.messages), 0);
  return span >= leastSpanMs && arrivals.length >= leastMessages && largest * 2 <= messages;
}

/** The gaps between bursts, ascending. */
function gapsOf(arrivals: readonly Arrival[]): number[] {
  return arrivals
    .slice(1)
    .map(({ ms }, index) => ms - (arrivals[index]?.ms ?? 0))
    .filter((gap) => gap > burstMs)
    .toSorted((a, b) => a - b);
}

/**
 * Whether something on the way held an answer back. A short answer that comes
 * at once proves nothing: then the verdict is `unknown`.
 */
export function judgeArrivals(arrivals: readonly Arrival[]): Stream {
  const [first] = arrivals;
  const last = arrivals.at(-1);
  const messages = arrivals.reduce((sum, each) => sum + each.messages, 0);
  if (!first || !last) return { verdict: "unknown", words: "nothing came" };
  const gaps = gapsOf(arrivals);
  const bursts = gaps.length + 1;
  const span = last.ms - first.ms;
  const shape = `${messages} messages in ${arrivals.length === 1 ? "1 piece" : `${arrivals.length} pieces`} (${bursts} apart by more than ${burstMs} ms), the first after ${seconds(first.ms)}, over ${seconds(span)}`;
  const middle = gaps[Math.floor(gaps.length / 2)] ?? 0;
  const longest = gaps.at(-1) ?? 0;
  const gapWords =
    gaps.length === 0 ? "" : `, gaps ${seconds(middle)} (middle) to ${seconds(longest)}`;
  if (messages < leastMessages) {
    return { verdict: "unknown", words: `the answer is too short to tell: ${shape}` };
  }
  // The greeting of a stream (its ids) may come first and the rest in one heap: that is two bursts.
  if (bursts >= 4 || trickles(arrivals, messages, span))
    return { verdict: "streamed", words: shape + gapWords };
  if (last.ms >= longWaitMs) return { verdict: "buffered", words: shape + gapWords };
  return { verdict: "unknown", words: `the answer was too quick to tell: ${shape}` };
}
