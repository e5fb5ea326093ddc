import { streamChat } from "../../../api/chat/chat.ts";
import { deleteSession } from "../../../api/sessions.ts";
import { CliError } from "../../../errors.ts";
import {
  failure,
  need,
  ok,
  skipped,
  warning,
  type Check,
  type Examination,
  type Verdict,
} from "../check.ts";

/** One network chunk of an answer. */
export interface Arrival {
  /** Milliseconds after the question was sent. */
  ms: number;
  /** Messages that the chunk completed. */
  messages: number;
}

interface Stream {
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

const question =
  "This tests the connection. Do not search. Count from 1 to 60 in words, separated by commas, and write nothing else.";
const limitMs = 180_000;

interface Asked {
  arrivals: Arrival[];
  sessionId: string | undefined;
  failure: string | undefined;
}

async function listen(examination: Examination, signal: AbortSignal): Promise<Asked> {
  const { clientUntil } = need(examination, "connected");
  const client = clientUntil(signal);
  const asked: Asked = { arrivals: [], sessionId: undefined, failure: undefined };
  const begun = performance.now();
  try {
    // One batch is one network chunk; its time is taken before any processing.
    for await (const events of streamChat(client, { message: question })) {
      asked.arrivals.push({ ms: performance.now() - begun, messages: events.length });
      for (const event of events) {
        if (event.kind === "session") asked.sessionId = event.sessionId;
        if (event.kind === "failure") asked.failure = event.failure.error;
      }
    }
    return asked;
  } finally {
    await client.close();
  }
}

/** Deletes the session of the test. Returns a text on the result. */
async function cleanUp(
  examination: Examination,
  sessionId: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  if (sessionId === undefined) return "the service may keep a session for this question";
  const client = need(examination, "connected").clientUntil(signal);
  try {
    if (client.dialect.paths.deleteSession === undefined) {
      return `this dialect cannot delete sessions; the session of this question stays: ${sessionId}`;
    }
    await deleteSession(client, sessionId);
    return "the session of this question was deleted";
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return `the session of this question could not be deleted: ${sessionId}`;
  } finally {
    await client.close();
  }
}

async function examineStreaming(examination: Examination, signal: AbortSignal): Promise<Verdict> {
  if (examination.options.streamTest !== true) {
    return skipped("asks a question, which costs tokens: run it with --stream-test");
  }
  const asked = await listen(examination, signal);
  const details = [await cleanUp(examination, asked.sessionId, signal)];
  if (asked.failure !== undefined) {
    const fix = "ask a question with `knowctl chat` to see details";
    const message = `the service could not answer: ${asked.failure}`;
    return failure("server-error", message, [fix], details);
  }
  const { verdict, words } = judgeArrivals(asked.arrivals);
  if (verdict === "streamed") return ok(`not buffered: ${words}`, details);
  if (verdict === "unknown") return skipped(words, details);
  return warning(
    `the answer arrived all at once: ${words}`,
    [
      "a proxy on the way, or the service, buffers answers: turn buffering off for /api/chat (nginx: proxy_buffering off)",
      "answers are complete, but appear late; long answers may exceed the proxy's timeout",
    ],
    details,
  );
}

export const checkStreaming: Check = {
  name: "streaming",
  needs: ["answer", "dialect", "chat"],
  limitMs,
  run: examineStreaming,
};
