import type { MadeImage, Place, ReadFile, ToolEvent, TurnEvent } from "./turn-event.ts";
import type { GeneratedImage, Packet } from "../../../api/chat-schemas.ts";

type Details = {
  [Name in Exclude<keyof ToolEvent, "type" | "tool" | "step" | "place">]?:
    | ToolEvent[Name]
    | null
    | undefined;
};

/** Creates a tool's event without the details that are null or absent. */
export function toolEvent(
  tool: string | null,
  step: ToolEvent["step"],
  place: Place,
  details: Details,
): ToolEvent {
  const event: ToolEvent = { type: "tool", tool, step, place };
  for (const [name, value] of Object.entries(details)) {
    if (value !== null && value !== undefined) Object.assign(event, { [name]: value });
  }
  return event;
}

function asText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A message start inside a tool (e.g. of a research agent) belongs to the tool, not to the answer. */
export function messageStart(
  packet: Extract<Packet, { type: "message_start" }>,
  place: Place,
): TurnEvent {
  const documents = packet.final_documents ?? [];
  if (place.sub !== null) return toolEvent("agent", "output", place, { documents });
  const processingSeconds = packet.pre_answer_processing_seconds;
  return {
    type: "start",
    place,
    documents,
    ...(typeof processingSeconds === "number" ? { processingSeconds } : {}),
  };
}

/** A citation inside a tool belongs to the tool, too. */
export function citation(
  packet: Extract<Packet, { type: "citation_info" }>,
  place: Place,
): TurnEvent {
  const { citation_number: number, document_id: documentId } = packet;
  if (place.sub === null) return { type: "citation", number, documentId };
  return toolEvent("agent", "output", place, { citation: { number, documentId } });
}

/** Result or failure of a custom tool, which an administrator of the service has added. */
export function customResult(
  packet: Extract<Packet, { type: "custom_tool_delta" }>,
  place: Place,
): TurnEvent {
  const { error, tool_name: name } = packet;
  const rest: Details = {
    toolId: packet.tool_id,
    responseType: packet.response_type,
    fileIds: packet.file_ids,
  };
  if (!error) return toolEvent(name, "output", place, { ...rest, text: asText(packet.data) });
  const { is_auth_error: auth, status_code: status, message } = error;
  return toolEvent(name, "failed", place, {
    ...rest,
    error: { auth: auth === true, status: status ?? null, message: message ?? null },
  });
}

/** A generated image. */
export function imageOf(image: GeneratedImage): MadeImage {
  return {
    fileId: image.file_id ?? null,
    url: image.url ?? null,
    prompt: image.revised_prompt ?? null,
    shape: image.shape ?? null,
  };
}

/** The part of a file that was read. */
export function fileOf(packet: Extract<Packet, { type: "file_reader_result" }>): ReadFile {
  return {
    name: packet.file_name ?? null,
    fileId: packet.file_id ?? null,
    from: packet.start_char ?? null,
    to: packet.end_char ?? null,
    total: packet.total_chars ?? null,
    beginning: packet.preview_start ?? null,
    end: packet.preview_end ?? null,
  };
}

/** A change of the service's memory about the user. */
export function memoryOf(packet: Extract<Packet, { type: "memory_tool_delta" }>): Details {
  const memory = {
    operation: packet.operation ?? null,
    text: packet.memory_text ?? null,
    id: packet.memory_id ?? null,
    index: packet.index ?? null,
  };
  return { memory, text: memory.text };
}
