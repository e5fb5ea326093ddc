import { expect, it } from "vitest";
import { createDeadlines, type Deadlines } from "../../../src/api/transport/deadlines.ts";
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
  return { watched: watch(exchange, listener, createDeadlines<Watch>()), told };
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

it("counts the wait for an answer from the last piece of the body", () => {
  let now = 0;
  const limits: Deadlines<Watch> = { ...createDeadlines<Watch>(), now: () => now, add: () => {} };
  let sent = 0;
  const slow = { ...exchange, headersMs: 1000, totalMs: 5000, onSent: () => void sent++ };
  const listener = { onHeaders() {}, onChunk() {}, onEnd() {}, onError() {} };
  const watched = watch(slow, listener, limits);
  expect(watched.dueAt()).toBe(1000);
  now = 900;
  watched.handler.onBodySent(Buffer.from("piece"));
  expect([watched.dueAt(), sent]).toEqual([1900, 1]);
  now = 4500;
  watched.handler.onBodySent(Buffer.from("piece"));
  expect(watched.dueAt()).toBe(5000);
});
