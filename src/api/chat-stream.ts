import type { ChatEvent } from "./chat-schemas.ts";
import { parseStreamLine } from "./packets.ts";

/** How much of an answer has come: enough for it to be complete, and what names it. */
export interface Progress {
  expected: number;
  ended: number;
  sessionId: string | undefined;
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

function eventsOf(messages: readonly string[], progress: Progress): ChatEvent[] {
  const events: ChatEvent[] = [];
  for (const message of messages) {
    // An end mark of other streaming interfaces, which a gateway may add.
    if (message === "[DONE]") continue;
    const event = parseStreamLine(message);
    follow(progress, event);
    events.push(event);
    if (isEnded(progress)) break;
  }
  return events;
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
    const events = eventsOf(messages, progress);
    if (events.length > 0) yield events;
    if (isEnded(progress)) return;
  }
}

/**
 * The events of a stream that is at hand already, in batches as given. Returns
 * after the end packet or an error line; true when there was none, so that the
 * answer is cut. Knows no network.
 */
export async function* replayChat(
  batches: AsyncIterable<string[]>,
): AsyncGenerator<ChatEvent[], boolean> {
  const progress: Progress = { expected: 1, ended: 0, sessionId: undefined };
  yield* followMessages(batches, progress);
  return !isEnded(progress);
}
