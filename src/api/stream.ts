import { checkLength, createLineSplitter } from "./lines.ts";

export interface StreamLimits {
  /** Longest line, and longest message made of several. */
  lineBytes: number;
}

/** Turns the bytes of a stream into its messages, however they are cut. Knows no network. */
export interface Decoder {
  /** The messages that `chunk` completes. Throws StreamTooLargeError. */
  push(chunk: Uint8Array): string[];
  /** The messages that the end of the body completes: a last line needs no line end. */
  end(): string[];
}

const openBrace = 0x7b;
const colon = 0x3a;
const space = 0x20;

/** The value of an SSE `data` field, undefined for another line. */
function dataOf(line: string): string | undefined {
  if (!line.startsWith("data")) return undefined;
  if (line.length === 4) return "";
  if (line.charCodeAt(4) !== colon) return undefined;
  return line.slice(line.charCodeAt(5) === space ? 6 : 5);
}

const otherField = /^(?:event|id|retry)(?::|$)/;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Lines of an SSE message that no empty line has ended yet. */
interface OpenMessage {
  data: string[];
  length: number;
}

function closeMessage(open: OpenMessage, messages: string[]): void {
  if (open.data.length === 0) return;
  const message = open.data.join("\n");
  open.data.length = open.length = 0;
  if (message.trim() !== "") messages.push(message);
}

function takeField(open: OpenMessage, line: string, messages: string[], limit: number): void {
  const value = dataOf(line);
  if (value !== undefined) {
    // Messages that only a line end separates, not an empty line as they should.
    if (open.data.length === 1 && value.startsWith("{") && isJson(open.data[0] ?? "")) {
      closeMessage(open, messages);
    }
    open.length += value.length + 1;
    checkLength(open.length, limit);
    open.data.push(value);
  } else if (!otherField.test(line) && line.trim() !== "") {
    closeMessage(open, messages);
    messages.push(line);
  }
}

/**
 * Decodes both framings of a chat stream, also mixed: SSE (`data:` lines joined
 * until an empty line; comments, `event`, `id` and `retry` skipped) and one JSON
 * text a line, which is what a service may send under the name of SSE
 * (observed-service.md 2.1). Any other line is a message, too: it is kept for
 * diagnosis.
 */
export function createDecoder({ lineBytes }: StreamLimits): Decoder {
  const splitter = createLineSplitter(lineBytes);
  const open: OpenMessage = { data: [], length: 0 };
  const take = (lines: string[]): string[] => {
    const messages: string[] = [];
    for (const line of lines) {
      const first = line.charCodeAt(0);
      if (first === openBrace) {
        closeMessage(open, messages);
        messages.push(line);
      } else if (line === "") closeMessage(open, messages);
      else if (first !== colon) takeField(open, line, messages, lineBytes);
    }
    return messages;
  };
  return {
    push: (chunk) => take(splitter.push(chunk)),
    end() {
      const messages = take(splitter.end());
      closeMessage(open, messages);
      return messages;
    },
  };
}

/**
 * The messages of a body, in one batch for each chunk that completes any. When
 * the body ends in a fault, a last message that lacks only its line end comes
 * before the fault: a service that fails writes its error line like that.
 */
export async function* decodeChunks(
  chunks: AsyncIterable<Uint8Array>,
  limits: StreamLimits,
): AsyncGenerator<string[]> {
  const decoder = createDecoder(limits);
  try {
    for await (const chunk of chunks) {
      const messages = decoder.push(chunk);
      if (messages.length > 0) yield messages;
    }
  } catch (error) {
    const complete = decoder.end().filter(isJson);
    if (complete.length > 0) yield complete;
    throw error;
  }
  const rest = decoder.end();
  if (rest.length > 0) yield rest;
}
