import type { ChatEvent } from "./chat-schemas.ts";
import { commonEvent, parseObject } from "./common-lines.ts";

/** What a line is; undefined where it takes the schemas to say it, which are loaded when needed. */
type ReadLine = (raw: string) => ChatEvent | undefined;

const readCommonLine: ReadLine = (raw) => {
  const value = parseObject(raw);
  return value === undefined ? { raw, kind: "unknown" } : commonEvent(raw, value);
};

/** How much of an answer has come: enough for it to be complete, and what names it. */
export interface Progress {
  expected: number;
  ended: number;
  sessionId: string | undefined;
  read: ReadLine;
}

/** Nothing has come yet. `sessionId`: the session that the question names. */
export function startProgress(sessionId?: string): Progress {
  return { expected: 1, ended: 0, sessionId, read: readCommonLine };
}

/** Whether nothing of the answer can follow. */
export function isEnded({ ended, expected }: Progress): boolean {
  return ended >= expected;
}

function isOfOneModel(details: unknown): boolean {
  if (typeof details !== "object" || details === null || !("model_index" in details)) return false;
  return typeof details.model_index === "number";
}

function follow(progress: Progress, event: ChatEvent): void {
  if (event.kind === "session") progress.sessionId = event.sessionId;
  else if (event.kind === "models") progress.expected = Math.max(1, event.responses.length);
  const isStop = event.kind === "packet" && event.packet.type === "stop";
  if (!isStop && event.kind !== "failure") return;
  // With several models the end of one does not end the others (observed-service.md 2.2).
  const place = event.kind === "packet" ? event.placement : event.failure.details;
  progress.ended = isOfOneModel(place) ? progress.ended + 1 : progress.expected;
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
  for (const [index, event] of all.entries()) {
    follow(progress, event);
    if (isEnded(progress)) return all.slice(0, index + 1);
  }
  return all;
}

/**
 * The events of a stream, in batches as its messages come; ends `progress` and returns
 * after the end packet or an error line.
 */
export async function* followMessages(
  batches: AsyncIterable<string[]>,
  progress: Progress,
): AsyncGenerator<ChatEvent[]> {
  for await (const messages of batches) {
    const events = await eventsOf(messages, progress);
    if (events.length > 0) yield events;
    if (isEnded(progress)) return;
  }
}
