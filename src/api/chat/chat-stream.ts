import type { ChatEvent } from "../chat-schemas.ts";
import { commonEvent, parseObject, strangeEvent } from "./common-lines.ts";
import { nestsTooDeep } from "../answers/redaction.ts";
import { readServiceWords } from "../answers/words.ts";

/** Parses a line; undefined if that needs the schemas, which are loaded on demand. */
type ReadLine = (raw: string) => ChatEvent | undefined;

const readCommonLine: ReadLine = (raw) => {
  const value = parseObject(raw);
  return value === undefined ? strangeEvent(raw) : commonEvent(raw, value);
};

/** How much of an answer has arrived, and its session. Complete once `ended` reaches `expected` models. */
export interface Progress {
  /** Models that answer. */
  expected: number;
  /** Indexes of the models whose answer has ended. */
  ended: Set<number>;
  /** The end of all models has come. */
  isOver: boolean;
  sessionId: string | undefined;
  read: ReadLine;
  /**
   * Events before the first line of a chat stream: the body may be a different response, or
   * one reply written over several lines. Undefined from that first line on.
   */
  opening: ChatEvent[] | undefined;
}

/** The progress before the first event. `sessionId` is the session that the question names. */
export function startProgress(sessionId?: string): Progress {
  return {
    expected: 1,
    ended: new Set(),
    isOver: false,
    sessionId,
    read: readCommonLine,
    opening: [],
  };
}

/** Whether nothing of the answer can follow. */
export function isEnded({ ended, expected, isOver }: Progress): boolean {
  return isOver || ended.size >= expected;
}

/** The model that a placement, or the details of a failure, names; undefined for none. */
function modelIndexOf(details: unknown): number | undefined {
  if (typeof details !== "object" || details === null || !("model_index" in details)) return;
  return typeof details.model_index === "number" ? details.model_index : undefined;
}

function follow(progress: Progress, event: ChatEvent): void {
  if (event.kind === "session") progress.sessionId = event.sessionId;
  else if (event.kind === "models") progress.expected = Math.max(1, event.responses.length);
  else if (event.kind === "reply") progress.isOver = true;
  const isStop = event.kind === "packet" && event.packet.type === "stop";
  if (!isStop && event.kind !== "failure") return;
  // With several models the end of one does not end the others (observed-service.md 2.2).
  const model = modelIndexOf(event.kind === "packet" ? event.placement : event.failure.details);
  if (model === undefined) progress.isOver = true;
  // Neither does a repeated end, nor the end of a model that was not announced.
  else if (model >= 0 && model < progress.expected) progress.ended.add(model);
}

/** All events of a chunk; undefined if one of them needs the schemas. */
function readAll(messages: readonly string[], read: ReadLine): ChatEvent[] | undefined {
  const events: ChatEvent[] = [];
  for (const message of messages) {
    // An end mark of other streaming interfaces, which a gateway may add.
    if (message === "[DONE]") continue;
    const event = read(message);
    if (event === undefined) return undefined;
    events.push(event);
  }
  return events;
}

/** Whether an event is no known line of a chat stream. */
export function isStrange({ kind }: ChatEvent): boolean {
  return kind === "unknown" || kind === "damaged";
}

/** Holds events back until one event shows that this is a chat stream. */
function releaseOpening(progress: Progress, events: ChatEvent[]): ChatEvent[] {
  const { opening } = progress;
  if (opening === undefined) return events;
  if (events.every(isStrange)) {
    for (const event of events) opening.push(event);
    return [];
  }
  progress.opening = undefined;
  return opening.length === 0 ? events : [...opening, ...events];
}

const textOf = (opening: readonly ChatEvent[]): string => opening.map(({ raw }) => raw).join("\n");

/** The events held back when the body ended, read together as one reply if possible. */
export async function lastEvents(progress: Progress): Promise<ChatEvent[]> {
  const { opening = [] } = progress;
  if (isEnded(progress) || opening.length === 0) return [];
  const { parseStreamLine } = await import("./packets.ts");
  const reply = parseStreamLine(textOf(opening));
  if (isStrange(reply)) return opening;
  follow(progress, reply);
  return [reply];
}

/** Shorter plain text may be the beginning of a cut line. */
const minTextChars = 8;

/**
 * Describes a body without any line of a chat stream, with the service's own message if it
 * has one. Undefined if the body may be a cut stream.
 */
export function foreignWords({ opening = [] }: Progress): string | undefined {
  const text = textOf(opening);
  if (!text.isWellFormed()) return undefined;
  const words = (): string => readServiceWords(Buffer.from(text), "", 200).text;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    if (text.trim().length < minTextChars || /^\s*[[{]/.test(text)) return undefined;
    return `expected a chat stream, got ${/^\s*</.test(text) ? words() : `the text: ${words()}`}`;
  }
  if (Array.isArray(value)) return "expected a chat stream, got a JSON array";
  if (typeof value !== "object" || value === null)
    return "expected a chat stream, got a JSON value";
  if ("obj" in value) return undefined;
  if (nestsTooDeep(value, text)) return "no chat stream came, but an object nested too deep";
  const said = words();
  return `expected a chat stream, got ${said === "" ? "an unknown JSON object" : `the message: ${said}`}`;
}

/**
 * The events of stream messages up to the end of the answer. Updates `progress`. Returns
 * no event once the answer has ended.
 */
export async function eventsOf(
  messages: readonly string[],
  progress: Progress,
): Promise<ChatEvent[]> {
  if (isEnded(progress)) return [];
  let all = readAll(messages, progress.read);
  if (all === undefined) {
    progress.read = (await import("./packets.ts")).parseStreamLine;
    all = readAll(messages, progress.read) ?? [];
  }
  const { opening } = progress;
  // A JSON list over several lines: its elements are not lines of a stream.
  if (opening && (opening[0] ?? all[0])?.raw.trim() === "[") {
    for (const { raw } of all) opening.push({ raw, kind: "unknown" });
    return [];
  }
  for (const [index, event] of all.entries()) {
    follow(progress, event);
    if (isEnded(progress)) return releaseOpening(progress, all.slice(0, index + 1));
  }
  return releaseOpening(progress, all);
}

/**
 * The events of a stream, in batches as its messages arrive. Updates `progress`, and returns
 * after the end packet, an error line or a whole reply. Throws what `batches` throws.
 */
export async function* followMessages(
  batches: AsyncIterable<string[]>,
  progress: Progress,
): AsyncGenerator<ChatEvent[]> {
  try {
    for await (const messages of batches) {
      const events = await eventsOf(messages, progress);
      if (events.length > 0) yield events;
      if (isEnded(progress)) return;
    }
  } catch (error) {
    const rest = await lastEvents(progress);
    if (rest.length > 0) yield rest;
    if (isEnded(progress)) return;
    throw error;
  }
  const rest = await lastEvents(progress);
  if (rest.length > 0) yield rest;
}
