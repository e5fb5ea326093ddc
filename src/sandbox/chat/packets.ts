import type { StreamFailure } from "../../api/chat-schemas.ts";

/** Framing of stream lines: `sse` sends `data:` events, `ndjson` bare lines (observed-service.md 2.1). */
export type Framing = "sse" | "ndjson";

export type Line =
  | { chat_session_id: string; incognito: boolean }
  | { user_message_id: number | null; reserved_assistant_message_id: number }
  | {
      user_message_id: number | null;
      responses: { message_id: number; model_name: string }[];
    }
  | { placement: Placement; obj: { type: string; [member: string]: unknown } }
  | StreamFailure;

interface Placement {
  turn_index: number;
  tab_index: number;
  sub_turn_index: number | null;
  model_index: number | null;
}

export function packet(
  turn: number,
  type: string,
  members: object = {},
  model: number | null = 0,
): Line {
  return {
    placement: { turn_index: turn, tab_index: 0, sub_turn_index: null, model_index: model },
    obj: { type, ...members },
  };
}

export function failure(
  code: string,
  error: string,
  retryable: boolean,
  details: StreamFailure["details"] = null,
): StreamFailure {
  return { error, stack_trace: null, error_code: code, is_retryable: retryable, details };
}

/** Encodes one line of the stream as JSON, with non-ASCII characters escaped as in the service. */
export function encodeLine(line: Line, framing: Framing): string {
  const text = JSON.stringify(line).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return frameLine(text, framing);
}

/** Frames a line that is JSON text already. */
export function frameLine(text: string, framing: Framing): string {
  return framing === "sse" ? `data: ${text}\n\n` : `${text}\n`;
}

/** A stream of texts as a response: observed-service.md 2.1. */
export function streamOf(texts: AsyncIterable<string | Uint8Array>): Response {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    for await (const text of texts) yield Buffer.from(text);
  }
  return new Response(ReadableStream.from(bytes()), {
    headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" },
  });
}

/** A streamed chat response from lines. */
export function streamReply(lines: AsyncIterable<Line>, framing: Framing): Response {
  async function* encoded(): AsyncGenerator<string> {
    for await (const line of lines) yield encodeLine(line, framing);
  }
  const response = streamOf(encoded());
  response.headers.set("x-accel-buffering", "no");
  return response;
}
