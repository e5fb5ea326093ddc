import { expect, it } from "vitest";
import { createDeadlines } from "../../src/api/deadlines.ts";
import { watch, type Exchange, type Watch } from "../../src/api/watch.ts";

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
