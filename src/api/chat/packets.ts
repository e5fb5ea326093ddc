import {
  ChatReply,
  MessageIdsLine,
  ModelsLine,
  Packet,
  PacketLine,
  SessionLine,
  StreamFailure,
  type ChatEvent,
} from "../chat-schemas.ts";
import { commonEvent, isObject, parseObject, strangeEvent } from "./common-lines.ts";

/** Whether the packet carries text of the answer, so that losing it damages the answer. */
function holdsText(obj: unknown): boolean {
  return isObject(obj) && obj["type"] === "message_delta";
}

function readPacket(raw: string, value: Record<string, unknown>): ChatEvent {
  const line = PacketLine.safeParse({ placement: null, ...value });
  // A packet of a known type with wrong members is reported raw, not used.
  const packet = line.success ? Packet.safeParse(line.data.obj) : undefined;
  if (!line.success || !packet?.success) {
    return { raw, kind: holdsText(value["obj"]) ? "damaged" : "unknown" };
  }
  return { raw, kind: "packet", placement: line.data.placement, packet: packet.data };
}

function readFailure(raw: string, value: Record<string, unknown>): ChatEvent {
  const { error } = value;
  // Some gateways put an object there, as in `{"error": {"message": "…"}}`.
  const words = isObject(error) ? (error["message"] ?? error["detail"] ?? "unknown error") : error;
  const line = StreamFailure.safeParse({ ...value, error: words });
  return line.success
    ? { raw, kind: "failure", failure: line.data }
    : {
        raw,
        kind: "failure",
        failure: { error: typeof words === "string" ? words : "unknown error" },
      };
}

function readIds(raw: string, value: Record<string, unknown>): ChatEvent {
  const line = MessageIdsLine.safeParse(value);
  if (!line.success) return { raw, kind: "unknown" };
  return {
    raw,
    kind: "ids",
    userMessageId: line.data.user_message_id ?? null,
    assistantMessageId: line.data.reserved_assistant_message_id,
  };
}

function readModels(raw: string, value: Record<string, unknown>): ChatEvent {
  const line = ModelsLine.safeParse(value);
  // Without it, nobody knows how many answers are to come.
  if (!line.success) return { raw, kind: "damaged" };
  const responses = line.data.responses.map((response) => ({
    messageId: response.message_id,
    modelName: response.model_name ?? null,
  }));
  return { raw, kind: "models", userMessageId: line.data.user_message_id ?? null, responses };
}

function readReply(raw: string, value: Record<string, unknown>): ChatEvent {
  const line = ChatReply.safeParse(value);
  return line.success ? { raw, kind: "reply", reply: line.data } : { raw, kind: "unknown" };
}

function readSession(raw: string, value: Record<string, unknown>): ChatEvent {
  const line = SessionLine.safeParse(value);
  if (!line.success) return { raw, kind: "unknown" };
  return { raw, kind: "session", sessionId: line.data.chat_session_id };
}

/**
 * Parses one message of the stream, recognised by its members (observed-service.md 2.2):
 *
 * | has                             | is      |
 * |---------------------------------|---------|
 * | `obj`                           | packet  |
 * | `error`, a value other than null | failure |
 * | `reserved_assistant_message_id` | ids     |
 * | `responses`                     | models  |
 * | `answer`                        | reply   |
 * | `chat_session_id`               | session |
 * | anything else that is JSON      | unknown |
 * | anything else                   | damaged |
 *
 * A line that is nested too deep or has invalid UTF-8, a text packet without text, or an unreadable
 * list of models is damaged, too. A service that does not stream sends a reply, and some gateways
 * turn a stream into one.
 *
 * Never throws.
 */
export function parseStreamLine(raw: string): ChatEvent {
  const value = parseObject(raw);
  if (value === undefined) return strangeEvent(raw);
  return commonEvent(raw, value) ?? eventBySchemas(raw, value);
}

/** Parses an already parsed line by the schemas alone. */
export function eventBySchemas(raw: string, value: Record<string, unknown>): ChatEvent {
  if (value["obj"] !== undefined) return readPacket(raw, value);
  if (value["error"] !== undefined && value["error"] !== null) return readFailure(raw, value);
  if (value["reserved_assistant_message_id"] !== undefined) return readIds(raw, value);
  if (value["responses"] !== undefined) return readModels(raw, value);
  if (value["answer"] !== undefined) return readReply(raw, value);
  if (value["chat_session_id"] !== undefined) return readSession(raw, value);
  return { raw, kind: "unknown" };
}
