import type { TurnEvent } from "../../output/chat/turn/turn-event.ts";
import type { ChatEvent } from "../../api/chat-schemas.ts";
import type { StoredMessage, StoredSession } from "../../api/session-schemas.ts";
import { CliError } from "../../errors.ts";
import type { Turn } from "../../output/chat/turn/answer.ts";
import { eventsOfReply } from "../../output/chat/turn/reply.ts";
import { turnOfAnswers } from "../../output/chat/stored/stored.ts";
import { applyLines, type Batch } from "../chat/send.ts";

/** A recovered answer: in progress as a stream, or stored. */
export type Found =
  | { kind: "stream"; events: AsyncGenerator<ChatEvent[]> }
  | { kind: "stored"; session: StoredSession; answer: StoredMessage };

function storedEvents(turn: Turn, found: Extract<Found, { kind: "stored" }>): TurnEvent[] {
  Object.assign(turn, turnOfAnswers(found.session, found.answer));
  return eventsOfReply(turn);
}

/** The rest of a stored answer whose beginning a stream has already shown. */
function eventsAfter(shown: string, events: readonly TurnEvent[]): TurnEvent[] {
  return events.flatMap((event): TurnEvent[] => {
    if ((event.model ?? 0) > 0) return [event];
    if (event.type === "text" && event.text.startsWith(shown)) {
      return [{ ...event, text: event.text.slice(shown.length) }];
    }
    if (event.type === "text") return [{ type: "interim", text: shown }, event];
    return event.type === "stop" || event.type === "error" ? [event] : [];
  });
}

/**
 * Yields a recovered answer and applies it to `turn`. If the stream is cut again, `again`
 * finds the stored answer; without `again`, the cut is thrown.
 */
export async function* batchesOf(
  found: Found,
  turn: Turn,
  again: (() => Promise<Found>) | undefined,
): AsyncGenerator<Batch> {
  if (found.kind === "stored") {
    yield { events: storedEvents(turn, found), lines: [] };
    return;
  }
  try {
    for await (const lines of found.events) yield applyLines(turn, lines);
  } catch (error) {
    const isCut = error instanceof CliError && error.exit === "incomplete";
    if (!isCut || !again) throw error;
    const { answer } = turn;
    const stored = await again();
    if (stored.kind !== "stored") throw error;
    yield { events: eventsAfter(answer, storedEvents(turn, stored)), lines: [] };
  }
}
