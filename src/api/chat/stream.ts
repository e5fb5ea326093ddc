import { parseObject } from "./common-lines.ts";
import { checkLength, createLineSplitter, StreamTooLargeError } from "./lines.ts";
import { createUtf8Decoder } from "./utf8.ts";

export interface StreamLimits {
  /** Longest line, and longest message made of several. */
  lineBytes: number;
}

/** Turns the bytes of a stream into its messages, however they are cut. Knows no network. */
export interface Decoder {
  /** The messages that `chunk` completes. Throws StreamTooLargeError, with messages before it at the next call. */
  push(chunk: Uint8Array): string[];
  /** The messages that the end of the body completes: a last line needs no line end. Throws as push does. */
  end(): string[];
}

const openBrace = 0x7b;
const colon = 0x3a;
const space = 0x20;

// What a line takes in memory, however short: millions of empty ones would take much more than they say.
const leastPerLine = 16;

const otherField = /^(?:event|id|retry)(?::|$)/;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function isObjectText(text: string): boolean {
  return text.charCodeAt(0) === openBrace && isJson(text);
}

/** Messages as they are completed, and the SSE message that no empty line has ended yet. */
interface Collected {
  messages: string[];
  data: string[];
  length: number;
  /** The message is an event named `error`. */
  isError: boolean;
  /** Data of the message that came before its name. */
  linesBeforeName: number;
}

/** The error line (observed-service.md 2.6) that the data of an event named `error` stands for. */
function errorLine(data: string): string {
  const value = parseObject(data);
  if (value === undefined) return JSON.stringify({ error: data });
  // A packet is what it says: the failure of a tool does not end the turn.
  const saysWhat = (value["error"] ?? value["obj"] ?? undefined) !== undefined;
  if (saysWhat) return data;
  return JSON.stringify({ ...value, error: value["message"] ?? value["detail"] ?? data });
}

function closeMessage(collected: Collected): void {
  const { data } = collected;
  if (collected.isError) {
    collected.messages.push(errorLine(data.join("\n")));
    collected.isError = false;
    data.length = collected.length = 0;
    return;
  }
  if (data.length === 0) return;
  const message = data.length === 1 ? (data[0] ?? "") : data.join("\n");
  if (data.length > 1 && data.some(isObjectText) && !isJson(message)) {
    // Messages that only a line end separates, one of them damaged: the others count.
    for (const line of data) if (line.trim() !== "") collected.messages.push(line);
  } else if (message.charCodeAt(0) === openBrace || message.trim() !== "") {
    collected.messages.push(message);
  }
  data.length = collected.length = 0;
}

function nameEvent(collected: Collected, isError: boolean): void {
  collected.isError = isError;
  collected.linesBeforeName = collected.data.length;
}

function takeData(collected: Collected, value: string, limit: number): void {
  const { data } = collected;
  // Messages that only a line end separates, not an empty line as they should.
  if (data.length === 1 && value.charCodeAt(0) === openBrace && isJson(data[0] ?? "")) {
    // A name between two of them is the name of the second.
    const isNextError = collected.isError && collected.linesBeforeName > 0;
    if (isNextError) collected.isError = false;
    closeMessage(collected);
    nameEvent(collected, isNextError);
  }
  collected.length += Math.max(value.length + 1, leastPerLine);
  checkLength(collected.length, limit);
  data.push(value);
}

function takeOther(collected: Collected, line: string, limit: number): void {
  if (line === "data") takeData(collected, "", limit);
  else if (line.startsWith("event:")) nameEvent(collected, line.slice(6).trim() === "error");
  else if (!otherField.test(line) && line.trim() !== "") {
    closeMessage(collected);
    collected.messages.push(line);
  }
}

/** Takes one line, which stands in `text` from `start` to `end`. */
function takeLine(
  collected: Collected,
  text: string,
  start: number,
  end: number,
  limit: number,
): void {
  if (start === end) return closeMessage(collected);
  const first = text.charCodeAt(start);
  if (first === openBrace) {
    // The data of an event without the prefix.
    if (collected.isError && collected.data.length === 0) {
      return takeData(collected, text.slice(start, end), limit);
    }
    closeMessage(collected);
    collected.messages.push(text.slice(start, end));
  } else if (text.startsWith("data:", start) && start + 5 <= end) {
    const from = start + 5 + (start + 5 < end && text.charCodeAt(start + 5) === space ? 1 : 0);
    takeData(collected, text.slice(from, end), limit);
  } else if (first !== colon) takeOther(collected, text.slice(start, end), limit);
}

/**
 * Decodes both framings of a chat stream, also mixed: SSE (`data:` lines joined
 * until an empty line; an event named `error` as an error line; comments, other names, `id` and
 * `retry` skipped) and one JSON
 * text a line, which is what a service may send under the name of SSE
 * (observed-service.md 2.1). Any other line is a message, too: it is kept for
 * diagnosis. What is complete before a line that is too long comes first.
 */
export function createDecoder({ lineBytes }: StreamLimits): Decoder {
  const collected: Collected = {
    messages: [],
    data: [],
    length: 0,
    isError: false,
    linesBeforeName: 0,
  };
  const splitter = createLineSplitter(
    lineBytes,
    (text, start, end) => takeLine(collected, text, start, end, lineBytes),
    createUtf8Decoder(),
  );
  let failure: unknown;
  const run = (step: () => void): string[] => {
    if (failure !== undefined) throw failure;
    try {
      step();
    } catch (error) {
      failure = error;
      if (collected.messages.length === 0) throw error;
    }
    const { messages } = collected;
    if (messages.length > 0) collected.messages = [];
    return messages;
  };
  return {
    push: (chunk) => run(() => splitter.push(chunk)),
    end: () =>
      run(() => {
        splitter.end();
        closeMessage(collected);
      }),
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
    if (error instanceof StreamTooLargeError) throw error;
    const complete = decoder.end().filter(isJson);
    if (complete.length > 0) yield complete;
    throw error;
  }
  const rest = decoder.end();
  if (rest.length > 0) yield rest;
  // Throws where the last line was too long.
  decoder.end();
}
