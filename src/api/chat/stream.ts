import { parseObject } from "./common-lines.ts";
import { checkLength, createLineSplitter, StreamTooLargeError } from "./lines.ts";
import { createUtf8Decoder } from "./utf8.ts";

export interface StreamLimits {
  /** Maximum length of a line, and of a message that consists of several lines. */
  lineBytes: number;
}

/** Decodes the chunks of a stream into messages, wherever chunks end. Independent of the network. */
export interface Decoder {
  /**
   * The messages that `chunk` completes. Throws StreamTooLargeError; if messages precede the
   * error, returns them first and throws at the next call.
   */
  push(chunk: Uint8Array): string[];
  /**
   * The messages that the end of the body completes: the last line needs no line end. Throws
   * StreamTooLargeError, also one that push held back. Completes no message before it throws.
   */
  end(): string[];
}

const openBrace = 0x7b;
const colon = 0x3a;
const space = 0x20;

// Counted at least per line, because millions of empty lines need far more memory than their text.
const minLineLength = 16;

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

/** Completed messages, and the data lines of the SSE message that no empty line has ended yet. */
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
  // Nearly every message is one line, and taking it out costs less than setting a length.
  const isOne = data.length === 1;
  const message = (isOne ? data.pop() : data.join("\n")) ?? "";
  if (!isOne && data.some(isObjectText) && !isJson(message)) {
    // Only line ends separate these messages, and one is damaged: keep the others.
    for (const line of data) if (line.trim() !== "") collected.messages.push(line);
  } else if (message.charCodeAt(0) === openBrace || message.trim() !== "") {
    collected.messages.push(message);
  }
  if (!isOne) data.length = 0;
  collected.length = 0;
}

function nameEvent(collected: Collected, isError: boolean): void {
  collected.isError = isError;
  collected.linesBeforeName = collected.data.length;
}

function addData(collected: Collected, value: string, limit: number): void {
  const { data } = collected;
  // Some services separate messages by a line end only, instead of an empty line.
  if (data.length === 1 && value.charCodeAt(0) === openBrace && isJson(data[0] ?? "")) {
    // A name between two of them is the name of the second.
    const isNextError = collected.isError && collected.linesBeforeName > 0;
    if (isNextError) collected.isError = false;
    closeMessage(collected);
    nameEvent(collected, isNextError);
  }
  collected.length += Math.max(value.length + 1, minLineLength);
  checkLength(collected.length, limit);
  data.push(value);
}

function addOther(collected: Collected, line: string, limit: number): void {
  if (line === "data") addData(collected, "", limit);
  else if (line.startsWith("event:")) nameEvent(collected, line.slice(6).trim() === "error");
  else if (!otherField.test(line) && line.trim() !== "") {
    closeMessage(collected);
    collected.messages.push(line);
  }
}

/** Adds one line: `text` from `start` (inclusive) to `end` (exclusive). */
function addLine(
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
      return addData(collected, text.slice(start, end), limit);
    }
    closeMessage(collected);
    collected.messages.push(text.slice(start, end));
  } else if (text.startsWith("data:", start) && start + 5 <= end) {
    const from = start + 5 + (start + 5 < end && text.charCodeAt(start + 5) === space ? 1 : 0);
    addData(collected, text.slice(from, end), limit);
  } else if (first !== colon) addOther(collected, text.slice(start, end), limit);
}

/**
 * Decodes both framings of a chat stream, also mixed. SSE joins `data:` lines until an empty
 * line, and ignores comments, `id` and `retry`; an event named `error` becomes an error line. The
 * other framing is one JSON text per line, which a service may send as SSE (observed-service.md
 * 2.1). Any other line is a message, too, kept for diagnosis. Messages before a line that is too
 * long are returned first.
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
    (text, start, end) => addLine(collected, text, start, end, lineBytes),
    createUtf8Decoder(),
  );
  let failure: unknown;
  /** Takes a chunk, or the end of the body. */
  const take = (chunk: Uint8Array | undefined): string[] => {
    if (failure !== undefined) throw failure;
    try {
      if (chunk) splitter.push(chunk);
      else {
        splitter.end();
        closeMessage(collected);
      }
    } catch (error) {
      failure = error;
      if (collected.messages.length === 0) throw error;
    }
    const { messages } = collected;
    if (messages.length > 0) collected.messages = [];
    return messages;
  };
  return { push: take, end: () => take(undefined) };
}

/**
 * The messages of a body, one batch per chunk that completes any. If the body ends in a
 * fault, yields a last message without line end before the fault: a failing service writes
 * its error line that way.
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
}
