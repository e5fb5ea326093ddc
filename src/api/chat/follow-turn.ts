import { ApiError } from "../../errors.ts";
import type { ChatEvent } from "../chat-schemas.ts";
import {
  followMessages,
  foreignWords,
  isEnded,
  startProgress,
  type Progress,
} from "./chat-stream.ts";
import type { Gate } from "../retry/gate.ts";
import type { Call, Client } from "../client.ts";
import { readFault } from "../transport/faults.ts";
import { StreamTooLargeError, checkLength, createLineSplitter } from "./lines.ts";
import { streamLineBytes } from "../retry/policy.ts";
import { redactMessages } from "./redact-messages.ts";
import { createParser } from "eventsource-parser";
import { parseObject } from "./common-lines.ts";
import { createUtf8Decoder } from "./utf8.ts";

interface StreamLimits {
  /** Maximum length of a line, and of a message that consists of several lines. */
  lineBytes: number;
}

/** Decodes the chunks of a stream into messages, wherever chunks end. Independent of the network. */
interface Decoder {
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

/** Size limits of an answer (defaults in policy.ts), and the gate for its question. */
export interface AnswerLimits {
  /** The gate that all questions of one run share. */
  gate?: Gate | undefined;
  /** Maximum length of a stream line, in bytes; the whole stream may have four times as many. */
  lineBytes?: number | undefined;
}

/** Content types of a chat stream. */
export const streamTypes =
  /^(?:text\/event-stream|application\/(?:[\w.-]+\+)?(?:x-)?(?:json|ndjson|jsonl|jsonlines))\b/i;

function reasonOfCut(cause: unknown): { words: string; code?: string | undefined } {
  const known = cause instanceof Error ? readFault(cause, false) : undefined;
  const isTooLarge = cause instanceof StreamTooLargeError || known?.code === "ANSWER_TOO_LARGE";
  const reason =
    cause instanceof StreamTooLargeError
      ? cause.message
      : (known?.words ?? "the stream ended before its end packet");
  return {
    words: reason + (isTooLarge ? " (raise the limit with --max-packet)" : ""),
    code: known?.code,
  };
}

function cutError(client: Client, call: Call, progress: Progress, cause: unknown): ApiError {
  const { words, code } = reasonOfCut(cause);
  const { method } = call;
  const session = progress.sessionId;
  // Only POST asks; resuming an answer does not.
  const asks = method === "POST";
  const may = `; the question may have been delivered${session === undefined ? "" : `; session ${session}`}`;
  const url = client.url(call.path);
  const message = `${call.what}: ${method} ${url}: the answer is cut: ${words}${asks ? may : ""}`;
  const hint = "the service may have continued: check the session before you ask again";
  return new ApiError("incomplete", message, {
    method,
    url,
    code,
    cause,
    hints: asks ? [hint] : [],
  });
}

/** The error of a body that is no chat stream; undefined if it may be a cut stream. */
function foreignError(client: Client, call: Call, progress: Progress): ApiError | undefined {
  const words = foreignWords(progress);
  if (words === undefined) return undefined;
  const { method } = call;
  const url = client.url(call.path);
  return new ApiError("server-error", `${call.what}: ${method} ${url}: 200: ${words}`, {
    method,
    url,
    status: 200,
    hints: ["check the base URL, and any proxy between this machine and the service"],
  });
}

/**
 * The events of one turn from the body that `call` opened, one batch per network chunk.
 * Returns after the end packet, an error line or a whole reply. Throws ApiError
 * `incomplete` if the body ends before that, `server-error` if it holds no line of a chat
 * stream, and the reason of an abort. `sessionId` is the session that the call names.
 */
export async function* followTurn(
  client: Client,
  call: Call,
  body: AsyncGenerator<Uint8Array>,
  { sessionId, lineBytes = streamLineBytes }: AnswerLimits & { sessionId: string | undefined },
): AsyncGenerator<ChatEvent[]> {
  const progress = startProgress(sessionId);
  try {
    yield* followMessages(
      redactMessages(decodeChunks(body, { lineBytes }), client.secrets),
      progress,
    );
    if (isEnded(progress)) return;
  } catch (error) {
    const isCut = error instanceof StreamTooLargeError || readFault(error, false) !== undefined;
    throw isCut ? cutError(client, call, progress, error) : error;
  }
  throw foreignError(client, call, progress) ?? cutError(client, call, progress, undefined);
}
