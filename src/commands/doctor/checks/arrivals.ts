/** One network chunk of an answer. */
export interface Arrival {
  /** Milliseconds after the question was sent. */
  ms: number;
  /** Messages that the chunk completed. */
  messages: number;
}

export interface Stream {
  verdict: "streamed" | "buffered" | "unknown";
  words: string;
}

/** Chunks closer together than this are one burst. */
const burstMs = 30;
/** Many small chunks over at least this time are streamed too, even without gaps. */
const minSpanMs = 200;
/** A wait that a person notices. A shorter answer had no time to be buffered. */
const longWaitMs = 1000;
const minMessages = 8;

const seconds = (ms: number): string =>
  ms < 995 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;

/** No chunk holds most of the messages, and they arrived over a while. */
function trickles(arrivals: readonly Arrival[], messages: number, span: number): boolean {
  const largest = arrivals.reduce((most, each) => Math.max(most, each.messages), 0);
  return span >= minSpanMs && arrivals.length >= minMessages && largest * 2 <= messages;
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
 * Judges whether something on the way buffered an answer. A short or quick answer proves
 * nothing: its verdict is `unknown`.
 */
export function judgeArrivals(arrivals: readonly Arrival[]): Stream {
  const [first] = arrivals;
  const last = arrivals.at(-1);
  const messages = arrivals.reduce((sum, each) => sum + each.messages, 0);
  if (!first || !last) return { verdict: "unknown", words: "nothing arrived" };
  const gaps = gapsOf(arrivals);
  const bursts = gaps.length + 1;
  const span = last.ms - first.ms;
  const shape = `${messages} messages in ${arrivals.length === 1 ? "1 chunk" : `${arrivals.length} chunks`} (${bursts} apart by more than ${burstMs} ms), the first after ${seconds(first.ms)}, over ${seconds(span)}`;
  const median = gaps[Math.floor(gaps.length / 2)] ?? 0;
  const longest = gaps.at(-1) ?? 0;
  const gapWords =
    gaps.length === 0 ? "" : `, gaps ${seconds(median)} (median) to ${seconds(longest)}`;
  if (messages < minMessages) {
    return { verdict: "unknown", words: `the answer is too short to judge: ${shape}` };
  }
  // A buffered answer can have two bursts: first the ids of the stream, then all the rest.
  if (bursts >= 4 || trickles(arrivals, messages, span))
    return { verdict: "streamed", words: shape + gapWords };
  if (last.ms >= longWaitMs) return { verdict: "buffered", words: shape + gapWords };
  return { verdict: "unknown", words: `the answer was too quick to judge: ${shape}` };
}
