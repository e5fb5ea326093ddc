import type { ChatEvent } from "../chat-schemas.ts";
import { commonEvent, parseObject, strangeEvent } from "./common-lines.ts";
import { nestsTooDeep } from "../answers/depth.ts";
import { readServiceWords } from "../answers/words.ts";

/** What a line is; undefined where it takes the schemas to say it, which are loaded when needed. */
type ReadLine = (raw: string) => ChatEvent | undefined;

const readCommonLine: ReadLine = (raw) => {
  const value = parseObject(raw);
  return value === undefined ? strangeEvent(raw) : commonEvent(raw, value);
};

/** How much of an answer has come: enough for it to be complete, and what names it. */
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
   * What came before the first line of a chat stream: it may be another body
   * altogether, or one reply written over several lines. Undefined from that line on.
   */
  opening: ChatEvent[] | undefined;
}

/** Nothing has come yet. `sessionId`: the session that the question names. */
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
  // Neither does an end that comes twice, or that of a model nobody announced.
  else if (model >= 0 && model < progress.expected) progress.ended.add(model);
}

/** All events of a chunk, or undefined where one of them needs the schemas. */
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

/** Holds events back until one of them shows that this is a chat stream. */
function opened(progress: Progress, events: ChatEvent[]): ChatEvent[] {
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

/** The events that are left when the body has ended: of a body that is no chat stream, all of it. */
export async function lastEvents(progress: Progress): Promise<ChatEvent[]> {
  const { opening = [] } = progress;
  if (isEnded(progress) || opening.length === 0) return [];
  const { parseStreamLine } = await import("./packets.ts");
  const whole = parseStreamLine(textOf(opening));
  if (isStrange(whole)) return opening;
  follow(progress, whole);
  return [whole];
}

/** Shorter plain text may be the beginning of a line that was cut. */
const shortestText = 8;

/**
 * What a body was that held no line of a chat stream, in the service's own words
 * where it has any; undefined where it may be a stream that was cut.
 */
export function foreignWords({ opening = [] }: Progress): string | undefined {
  const text = textOf(opening);
  if (!text.isWellFormed()) return undefined;
  const words = (): string => readServiceWords(Buffer.from(text), "", 200).text;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    if (text.trim().length < shortestText || /^\s*[[{]/.test(text)) return undefined;
    return `no chat stream came, but ${/^\s*</.test(text) ? words() : `the text: ${words()}`}`;
  }
  if (Array.isArray(value)) return "no chat stream came, but a JSON array";
  if (typeof value !== "object" || value === null) return "no chat stream came, but a JSON value";
  if ("obj" in value) return undefined;
  if (nestsTooDeep(value, text)) return "no chat stream came, but an object nested too deep";
  const said = words();
  return `no chat stream came, but ${said === "" ? "an object of another kind" : `the message: ${said}`}`;
}

/**
 * What messages of the stream are, up to the end of the answer, which is noted in
 * `progress`. Nothing once the answer has ended.
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
  // A list over several lines: what it holds is not sent as a line of a stream.
  if (opening && (opening[0] ?? all[0])?.raw.trim() === "[") {
    for (const { raw } of all) opening.push({ raw, kind: "unknown" });
    return [];
  }
  for (const [index, event] of all.entries()) {
    follow(progress, event);
    if (isEnded(progress)) return opened(progress, all.slice(0, index + 1));
  }
  return opened(progress, all);
}

/**
 * The events of a stream, in batches as its messages come; ends `progress` and returns
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
