import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { watch, type Exchange, type Watch } from "../../../src/api/transport/watch.ts";

const exchange: Exchange = {
  method: "GET",
  path: "/",
  headers: {},
  headersMs: 0,
  idleMs: 0,
  totalMs: 0,
  responseBytes: 10,
  fresh: false,
};

/** An exchange, and what its listener is told. */
function follow(): { watched: Watch; told: unknown[] } {
  const told: unknown[] = [];
  const listener = {
    onHeaders: (status: number) => told.push(status),
    onChunk: (chunk: Buffer) => told.push(String(chunk)),
    onEnd: () => told.push("end"),
    onError: (error: Error) => told.push(error),
  };
  return { watched: watch(exchange, listener, new Set()), told };
}

it("does not let a request out that was ended while it waited for a connection", () => {
  const { watched, told } = follow();
  const reason = new Error("ended");
  watched.abort(reason);
  const ended: Error[] = [];
  watched.handler.onConnect((error) => ended.push(error));
  expect(ended).toEqual([reason]);
  watched.handler.onError(reason);
  expect(told).toEqual([reason]);
});

it("takes no interim answer for the answer", () => {
  const { watched, told } = follow();
  watched.handler.onConnect(() => {});
  expect(watched.handler.onHeaders(103, [], () => {})).toBe(true);
  expect(watched.handler.onHeaders(200, [], () => {})).toBe(true);
  watched.handler.onData(Buffer.from("text"));
  watched.handler.onComplete([]);
  expect(told).toEqual([200, "text", "end"]);
});

describe("the deadlines of an exchange", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** Starts an exchange with limits; says when it ended, and why. */
  function start(limits: Partial<Exchange>, isBehind = () => false) {
    const begun = performance.now();
    const ended: [ms: number, code: string][] = [];
    const inFlight = new Set<Watch>();
    const onError = (error: Error) => {
      const { code } = error as Error & { code: string };
      ended.push([Math.round(performance.now() - begun), code]);
    };
    const listener = { onHeaders() {}, onChunk() {}, onEnd() {}, onError, isBehind };
    const { handler } = watch({ ...exchange, ...limits }, listener, inFlight);
    handler.onConnect(() => {});
    return { handler, ended, inFlight };
  }

  it.each<[string, Partial<Exchange>, [number, string]]>([
    ["headers that do not come", { headersMs: 500 }, [500, "HEADERS_TIMEOUT"]],
    ["no end in time", { headersMs: 500, totalMs: 20 }, [20, "TOTAL_TIMEOUT"]],
    ["a limit beyond those of timers", { totalMs: 3e9 }, [3e9, "TOTAL_TIMEOUT"]],
  ])("end it: %s", (_name, limits, expected) => {
    const { ended, inFlight } = start(limits);
    vi.advanceTimersByTime(4e9);
    expect([ended, inFlight.size, vi.getTimerCount()]).toEqual([[expected], 0, 0]);
  });

  it("count the wait for an answer from the last piece of the body", () => {
    let sent = 0;
    const limits = { headersMs: 1000, totalMs: 5000, onSent: () => void sent++ };
    const { handler, ended } = start(limits);
    for (const ms of [900, 900, 900, 900, 900]) {
      vi.advanceTimersByTime(ms);
      handler.onBodySent(Buffer.from("piece"));
    }
    vi.advanceTimersByTime(10_000);
    expect([sent, ended]).toEqual([5, [[5000, "TOTAL_TIMEOUT"]]]);
  });

  it("count the silence within a body, unless its reader is behind", () => {
    let isBehind = true;
    const { handler, ended } = start({ headersMs: 9000, idleMs: 100 }, () => isBehind);
    vi.advanceTimersByTime(1000);
    handler.onHeaders(200, [], () => {});
    vi.advanceTimersByTime(350);
    expect(ended).toEqual([]);
    isBehind = false;
    vi.advanceTimersByTime(100);
    expect(ended).toEqual([[1400, "IDLE_TIMEOUT"]]);
  });

  it("hold the process only while something is in flight and has a limit", () => {
    start({});
    expect(vi.getTimerCount()).toBe(0);
    const { handler } = start({ totalMs: 1000 });
    expect(vi.getTimerCount()).toBe(1);
    handler.onComplete([]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
