import type { ChatEvent, Packet } from "../chat-schemas.ts";
import { nestsTooDeep } from "../answers/redaction.ts";
import { isDamaged } from "./utf8.ts";

/**
 * Hand-written checks for the lines of an ordinary answer. An answer has thousands of
 * lines, and loading the schemas would cost a tenth of the time to the first word. A line
 * that these checks do not surely accept is left to the schemas (packets.ts). A property
 * test keeps both equal.
 */

type Value = Record<string, unknown>;

export function isObject(value: unknown): value is Value {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The JSON object of a line. Undefined for any other text, for an object nested too deep to walk,
 * and for a line with invalid UTF-8 (utf8.ts).
 */
export function parseObject(raw: string): Value | undefined {
  if (isDamaged(raw)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(raw);
  } catch {
    return undefined;
  }
  return isObject(value) && !nestsTooDeep(value, raw) ? value : undefined;
}

/** The event of a line that parseObject rejects: `unknown` for JSON that is no object, else `damaged`. */
export function strangeEvent(raw: string): ChatEvent {
  if (isDamaged(raw)) return { raw, kind: "damaged" };
  try {
    const value: unknown = JSON.parse(raw);
    return { raw, kind: isObject(value) || nestsTooDeep(value, raw) ? "damaged" : "unknown" };
  } catch {
    return { raw, kind: "damaged" };
  }
}

function isNullish(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

function isOptionalText(value: unknown): boolean {
  return typeof value === "string" || isNullish(value);
}

function isOptionalInteger(value: unknown): boolean {
  return isNullish(value) || Number.isSafeInteger(value);
}

function isDocument(value: unknown): boolean {
  return (
    isObject(value) &&
    typeof value["document_id"] === "string" &&
    isOptionalText(value["semantic_identifier"]) &&
    isOptionalText(value["link"]) &&
    isOptionalText(value["blurb"]) &&
    isOptionalText(value["source_type"]) &&
    isOptionalText(value["updated_at"])
  );
}

function areDocuments(value: unknown): boolean {
  return Array.isArray(value) && value.every(isDocument);
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

const anything = (): boolean => true;

/** By packet type: whether its members match the schema. */
const checks = new Map<unknown, (obj: Value) => boolean>([
  ["message_delta", (obj) => isText(obj["content"])],
  ["reasoning_delta", (obj) => isText(obj["reasoning"])],
  ["chat_heartbeat", anything],
  ["section_end", anything],
  ["reasoning_start", anything],
  ["reasoning_done", anything],
  ["stop", (obj) => isOptionalText(obj["stop_reason"])],
  [
    "message_start",
    (obj) =>
      (isNullish(obj["final_documents"]) || areDocuments(obj["final_documents"])) &&
      (isNullish(obj["pre_answer_processing_seconds"]) ||
        Number.isFinite(obj["pre_answer_processing_seconds"])),
  ],
  [
    "citation_info",
    (obj) => Number.isSafeInteger(obj["citation_number"]) && isText(obj["document_id"]),
  ],
  [
    "search_tool_start",
    ({ is_internet_search: internet }) => isNullish(internet) || typeof internet === "boolean",
  ],
  ["search_tool_queries_delta", ({ queries }) => Array.isArray(queries) && queries.every(isText)],
  [
    "search_tool_filter_delta",
    ({ sources, time_filter_start: from, time_filter_end: to }) =>
      (isNullish(sources) || (Array.isArray(sources) && sources.every(isText))) &&
      isOptionalText(from) &&
      isOptionalText(to),
  ],
  ["search_tool_documents_delta", (obj) => areDocuments(obj["documents"])],
]);

type Placement = Extract<ChatEvent, { kind: "packet" }>["placement"];

function isPlacement(value: unknown): value is Placement {
  if (value === null) return true;
  return (
    isObject(value) &&
    isOptionalInteger(value["turn_index"]) &&
    isOptionalInteger(value["tab_index"]) &&
    isOptionalInteger(value["sub_turn_index"]) &&
    isOptionalInteger(value["model_index"])
  );
}

function commonPacket(raw: string, obj: unknown, placement: unknown): ChatEvent | undefined {
  if (!isObject(obj) || !isPlacement(placement)) return undefined;
  if (checks.get(obj["type"])?.(obj) !== true) return undefined;
  return { raw, kind: "packet", placement, packet: obj as Packet };
}

const plainId = /^[\w-]{1,200}$/;

/** The event of a line from its parsed `value`; undefined if the schemas must decide. */
export function commonEvent(raw: string, value: Value): ChatEvent | undefined {
  const { obj, placement = null } = value;
  if (obj !== undefined) return commonPacket(raw, obj, placement);
  if (!isNullish(value["error"])) return undefined;
  const assistantMessageId = value["reserved_assistant_message_id"];
  if (assistantMessageId !== undefined) {
    const userMessageId = value["user_message_id"] ?? null;
    if (!Number.isSafeInteger(assistantMessageId) || !isOptionalInteger(userMessageId)) {
      return undefined;
    }
    return {
      raw,
      kind: "ids",
      userMessageId: userMessageId as number | null,
      assistantMessageId: assistantMessageId as number,
    };
  }
  // A whole reply also has a session id.
  if (value["answer"] !== undefined) return undefined;
  const sessionId = value["chat_session_id"];
  if (value["responses"] !== undefined || typeof sessionId !== "string") return undefined;
  return plainId.test(sessionId) ? { raw, kind: "session", sessionId } : undefined;
}
