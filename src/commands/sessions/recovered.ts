import type { TurnEvent } from "../../output/chat/turn/turn-event.ts";
import type { ChatEvent } from "../../api/chat-schemas.ts";
import type { StoredMessage, StoredSession } from "../../api/session-schemas.ts";
import { CliError } from "../../errors.ts";
import type { Turn } from "../../output/chat/turn/answer.ts";
import { eventsOfReply } from "../../output/chat/turn/reply.ts";
import { turnOfAnswers } from "../../output/chat/stored/stored.ts";
import { takeLines, type Batch } from "../chat/send.ts";

/** Where an answer was found: still being made, or stored. */
export type Found =
  | { kind: "stream"; events: AsyncGenerator<ChatEvent[]> }
  | { kind: "stored"; session: StoredSession; answer: StoredMessage };

function storedEvents(turn: Turn, found: Extract<Found, { kind: "stored" }>): TurnEvent[] {
  Object.assign(turn, turnOfAnswers(found.session, found.answer));
  return eventsOfReply(turn);
}

/** What is left to show of a stored answer whose beginning a stream has brought. */
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
 * A recovered answer as it comes, taken into `turn`. `again` finds the stored
 * one, for a stream that is cut once more; without it the cut is thrown.
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
    for await (const lines of found.events) yield takeLines(turn, lines);
  } catch (error) {
    const isCut = error instanceof CliError && error.exit === "incomplete";
    if (!isCut || !again) throw error;
    const { answer } = turn;
    const stored = await again();
    if (stored.kind !== "stored") throw error;
    yield { events: eventsAfter(answer, storedEvents(turn, stored)), lines: [] };
  }
}
