import type { Place, TurnEvent } from "./turn-event.ts";
import type { ChatEvent, Placement } from "../../../api/chat-schemas.ts";
import { readPacket } from "./packets.ts";

function placeOf(placement: Placement | null): Place {
  return {
    turn: placement?.turn_index ?? 0,
    tab: placement?.tab_index ?? 0,
    sub: placement?.sub_turn_index ?? null,
  };
}

/** Index of the model of a line, from 0; undefined for a line of all models or of the only one. */
export function modelIndexOf(event: ChatEvent): number | undefined {
  const place = event.kind === "packet" ? event.placement : undefined;
  const details = event.kind === "failure" ? event.failure.details : place;
  if (typeof details !== "object" || details === null || !("model_index" in details)) return;
  return typeof details.model_index === "number" ? details.model_index : undefined;
}

/**
 * The event of one line of the stream; undefined for a line without information for
 * readers.
 */
export function readEvent(event: ChatEvent): TurnEvent | undefined {
  switch (event.kind) {
    case "session":
      return { type: "session", sessionId: event.sessionId };
    case "ids":
      return {
        type: "message",
        userMessageId: event.userMessageId,
        messageId: event.assistantMessageId,
      };
    case "models": {
      const models = event.responses.map((each) => ({
        messageId: each.messageId,
        name: each.modelName,
      }));
      return { type: "models", models };
    }
    case "failure": {
      const { error, error_code: code, is_retryable: retryable, details } = event.failure;
      return {
        type: "error",
        message: error,
        code: code ?? null,
        retryable: retryable ?? null,
        ...(details?.model ? { vendorModel: details.model } : {}),
      };
    }
    case "packet": {
      return readPacket(event.packet, placeOf(event.placement));
    }
    // A reply is processed as a whole (reply.ts); a damaged line is only counted.
    case "reply":
    case "damaged":
    case "unknown":
      return undefined;
    default:
      return event satisfies never;
  }
}
