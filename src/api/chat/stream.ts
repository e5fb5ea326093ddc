import { createParser } from "eventsource-parser";
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
const space = 0x20;

// Counted at least per line, because millions of empty lines need far more memory than their text.
const minLineLength = 16;

const otherField = /^(?:(?:event|id|retry)(?::|$)|:)/;

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

/** The error line (observed-service.md 2.6) that the data of an event named `error` stands for. */
function errorLine(data: string): string {
  const value = parseObject(data);
  if (value === undefined) return JSON.stringify({ error: data });
  // A packet is what it says: the failure of a tool does not end the turn.
  const saysWhat = (value["error"] ?? value["obj"] ?? undefined) !== undefined;
  if (saysWhat) return data;
  return JSON.stringify({ ...value, error: value["message"] ?? value["detail"] ?? data });
}

/** The messages of an SSE event: one, unless only line ends separate several. */
function messagesOf(name: string | undefined, data: string): string[] {
  if (name === "error") return [errorLine(data)];
  const lines = data.includes("\n") ? data.split("\n") : [data];
  // One of them is damaged: keep the others.
  const areSeveral = lines.length > 1 && lines.some(isObjectText) && !isJson(data);
  return (areSeveral ? lines : [data]).filter((each) => each.trim() !== "");
}

/** An SSE event that no empty line has ended yet. Its data is in the parser, its name is not. */
interface OpenEvent {
  name: string;
  /** The name came after data, so it may be that of the next event. */
  isNamedLate: boolean;
  lines: number;
  /** The data, if it is one line. */
  only: string;
  length: number;
}

const noEvent: OpenEvent = { name: "", isNamedLate: false, lines: 0, only: "", length: 0 };

/**
 * Decodes both framings of a chat stream, also mixed. SSE joins `data:` lines until an empty
 * line, and ignores comments, `id` and `retry`; an event named `error` becomes an error line. The
 * other framing is one JSON text per line, which a service may send as SSE (observed-service.md
 * 2.1). Any other line is a message, too, kept for diagnosis. Messages before a line that is too
 * long are returned first.
 */
export function createDecoder({ lineBytes }: StreamLimits): Decoder {
  let messages: string[] = [];
  let open = noEvent;
  const { feed } = createParser({
    onEvent: ({ event, data }) => void messages.push(...messagesOf(event, data)),
  });
  const endEvent = (): void => {
    if (open === noEvent) return;
    if (open.name !== "") feed(`event:${open.name}\n`);
    // Without data the parser would drop the event.
    feed(open.name === "error" && open.lines === 0 ? "data\n\n" : "\n");
    open = noEvent;
  };
  const addData = (value: string): void => {
    // Some services separate messages by a line end only, instead of an empty line.
    if (value.charCodeAt(0) === openBrace && isObjectText(open.only)) {
      const name = open.isNamedLate ? open.name : "";
      if (open.isNamedLate) open = { ...open, name: "" };
      endEvent();
      open = { ...noEvent, name };
    }
    const { name, isNamedLate, lines } = open;
    const length = open.length + Math.max(value.length + 1, minLineLength);
    checkLength(length, lineBytes);
    open = { name, isNamedLate, lines: lines + 1, only: lines === 0 ? value : "", length };
    feed(`data: ${value}\n`);
  };
  const addLine = (line: string): void => {
    const first = line.charCodeAt(0);
    if (line === "") endEvent();
    else if (line.startsWith("data:")) addData(line.slice(line.charCodeAt(5) === space ? 6 : 5));
    else if (line === "data") addData("");
    else if (line.startsWith("event:")) {
      open = { ...open, name: line.slice(6).trim(), isNamedLate: open.lines > 0 };
    } else if (first === openBrace && open.name === "error" && open.lines === 0) {
      // The data of an event without the prefix.
      addData(line);
    } else if (!otherField.test(line) && line.trim() !== "") {
      endEvent();
      messages.push(line);
    }
  };
  const splitter = createLineSplitter(lineBytes, addLine, createUtf8Decoder());
  let failure: unknown;
  /** Takes a chunk, or the end of the body. */
  const take = (chunk: Uint8Array | undefined): string[] => {
    if (failure !== undefined) throw failure;
    try {
      if (chunk) splitter.push(chunk);
      else {
        splitter.end();
        endEvent();
      }
    } catch (error) {
      failure = error;
      if (messages.length === 0) throw error;
    }
    const complete = messages;
    if (complete.length > 0) messages = [];
    return complete;
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
