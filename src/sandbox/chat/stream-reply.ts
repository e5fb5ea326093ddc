import { encodeLine, type Framing, type Line } from "./packets.ts";
import type { Reply } from "../http/reply.ts";

async function* encoded(lines: AsyncIterable<Line>, framing: Framing): AsyncGenerator<string> {
  for await (const line of lines) yield encodeLine(line, framing);
}

/** A streamed chat response from lines: observed-service.md 2.1. */
export function streamReply(lines: AsyncIterable<Line>, framing: Framing): Reply {
  return {
    status: 200,
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache",
      "x-accel-buffering": "no",
    },
    body: encoded(lines, framing),
  };
}
