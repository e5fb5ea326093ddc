import type { ChatEvent } from "./chat-schemas.ts";
import { parseStreamLine } from "./packets.ts";

/** How much of an answer has come: enough for it to be complete, and what names it. */
export interface Progress {
  expected: number;
  ended: number;
  sessionId: string | undefined;
}

/** Nothing has come yet. `sessionId`: the session that the question names. */
export function startProgress(sessionId?: string): Progress {
  return { expected: 1, ended: 0, sessionId };
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

/** What messages of the stream are, up to the end of the answer, which is noted in `progress`. */
export function eventsOf(messages: readonly string[], progress: Progress): ChatEvent[] {
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
