import type { ChatEvent, Placement, SearchDoc, StreamFailure } from "../../api/chat-schemas.ts";
import { readPacket } from "./packets.ts";

/** Where in the turn something happens. Parallel tools of one turn differ in `tab`; `sub` is set inside a tool. */
export interface Place {
  turn: number;
  tab: number;
  sub: number | null;
}

/** What a tool reports. `tool` is null where the packet does not say which one. */
export interface ToolEvent {
  type: "tool";
  tool: string | null;
  /** `arguments`: the model is still writing the call. `text` is a piece of running text, `output` a finished one. */
  step: "arguments" | "start" | "input" | "text" | "output" | "failed";
  place: Place;
  toolId?: number;
  internet?: boolean;
  queries?: string[];
  filters?: { sources: string[]; from: string | null; to: string | null };
  urls?: string[];
  documents?: SearchDoc[];
  input?: unknown;
  text?: string;
}

/**
 * What happens in a turn, in the tool's own words: the events of
 * `--output ndjson`, and what the renderer for people draws. `interim` says
 * that the text so far turned out not to belong to the answer.
 */
export type TurnEvent =
  | { type: "session"; sessionId: string }
  | { type: "message"; userMessageId: number | null; messageId: number }
  | { type: "models"; models: { messageId: number; name: string | null }[] }
  | { type: "start"; place: Place; documents: SearchDoc[] }
  | { type: "text"; text: string }
  | { type: "interim"; text: string }
  | { type: "citation"; number: number; documentId: string }
  | { type: "reasoning"; text: string }
  | { type: "branches"; count: number }
  | ToolEvent
  | { type: "stop"; reason: string | null }
  | { type: "error"; message: string; code: string | null; retryable: boolean | null };

function placeOf(placement: Placement | null): Place {
  return {
    turn: placement?.turn_index ?? 0,
    tab: placement?.tab_index ?? 0,
    sub: placement?.sub_turn_index ?? null,
  };
}

function isFirstModel({ details }: StreamFailure): boolean {
  if (typeof details !== "object" || details === null || !("model_index" in details)) return true;
  return !(Number(details.model_index) > 0);
}

/**
 * What one line of the stream says, or undefined where it says nothing to a
 * reader. Where several models answer at once, only the first one's packets
 * count: their texts are interleaved.
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
      if (!isFirstModel(event.failure)) return undefined;
      const { error, error_code: code, is_retryable: retryable } = event.failure;
      return { type: "error", message: error, code: code ?? null, retryable: retryable ?? null };
    }
    case "packet": {
      if ((event.placement?.model_index ?? 0) > 0) return undefined;
      return readPacket(event.packet, placeOf(event.placement));
    }
    case "unknown":
      return undefined;
    default:
      return event satisfies never;
  }
}
