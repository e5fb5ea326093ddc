import type { Packet } from "../../api/chat-schemas.ts";
import type { Place, ToolEvent, TurnEvent } from "./events.ts";

type Reading<Type extends Packet["type"]> = (
  packet: Extract<Packet, { type: Type }>,
  place: Place,
) => TurnEvent | undefined;

const nothing = (): undefined => undefined;

const begins =
  (tool: string) =>
  (_packet: unknown, place: Place): ToolEvent => ({ type: "tool", tool, step: "start", place });

const tells =
  (tool: string) =>
  (packet: { content: string }, place: Place): ToolEvent => ({
    type: "tool",
    tool,
    step: "text",
    place,
    text: packet.content,
  });

type Details = Omit<ToolEvent, "type" | "tool" | "step" | "place">;

function toolEvent(
  tool: string | null,
  step: ToolEvent["step"],
  place: Place,
  details: Details,
): ToolEvent {
  return { type: "tool", tool, step, place, ...details };
}

function outputOf(...parts: (string | null | undefined)[]): Details {
  return { text: parts.filter(Boolean).join("\n") };
}

function asText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

// Text inside a tool (a research agent's own message) is that tool's, not the answer's.
function messageStart(packet: Extract<Packet, { type: "message_start" }>, place: Place): TurnEvent {
  const documents = packet.final_documents ?? [];
  if (place.sub !== null) return toolEvent("agent", "output", place, { documents });
  return { type: "start", place, documents };
}

function customResult(
  packet: Extract<Packet, { type: "custom_tool_delta" }>,
  place: Place,
): TurnEvent {
  const { error } = packet;
  if (!error) return toolEvent(packet.tool_name, "output", place, outputOf(asText(packet.data)));
  const status = error.status_code ? `status ${error.status_code}` : "";
  const login = error.is_auth_error ? "sign in to this tool on the service's web page" : "";
  const text = [status, error.message, login].filter(Boolean).join(": ");
  return toolEvent(packet.tool_name, "failed", place, { text });
}

function shellResult(
  packet: Extract<Packet, { type: "bash_tool_delta" }>,
  place: Place,
): TurnEvent {
  const code = packet.exit_code ? `exit code ${packet.exit_code}` : "";
  const late = packet.timed_out ? "timed out" : "";
  return toolEvent("bash", "output", place, outputOf(packet.stdout, packet.stderr, code, late));
}

/** One entry per packet type; a new member of the union does not compile until it has one. */
const readings: { [Type in Packet["type"]]: Reading<Type> } = {
  stop: (packet) => ({ type: "stop", reason: packet.stop_reason ?? null }),
  chat_heartbeat: nothing,
  error: (_packet, place) => toolEvent(null, "failed", place, {}),
  section_end: nothing,
  top_level_branching: (packet) => ({ type: "branches", count: packet.num_parallel_branches }),
  message_start: messageStart,
  message_delta: (packet, place) =>
    place.sub === null
      ? { type: "text", text: packet.content }
      : toolEvent("agent", "text", place, { text: packet.content }),
  citation_info: (packet, place) =>
    place.sub === null
      ? { type: "citation", number: packet.citation_number, documentId: packet.document_id }
      : undefined,
  reasoning_start: nothing,
  reasoning_delta: (packet) => ({ type: "reasoning", text: packet.reasoning }),
  reasoning_done: () => ({ type: "reasoning", text: "\n" }),
  search_tool_start: (packet, place) =>
    toolEvent("search", "start", place, { internet: packet.is_internet_search === true }),
  search_tool_queries_delta: (packet, place) =>
    toolEvent("search", "input", place, { queries: packet.queries }),
  search_tool_filter_delta: (packet, place) =>
    toolEvent("search", "input", place, {
      filters: {
        sources: packet.sources ?? [],
        from: packet.time_filter_start ?? null,
        to: packet.time_filter_end ?? null,
      },
    }),
  search_tool_documents_delta: (packet, place) =>
    toolEvent("search", "output", place, { documents: packet.documents }),
  open_url_start: begins("open-url"),
  open_url_urls: (packet, place) => toolEvent("open-url", "input", place, { urls: packet.urls }),
  open_url_documents: (packet, place) =>
    toolEvent("open-url", "output", place, { documents: packet.documents }),
  image_generation_start: begins("image-generation"),
  image_generation_heartbeat: nothing,
  image_generation_final: (packet, place) =>
    toolEvent("image-generation", "output", place, {
      urls: packet.images.flatMap((image) => image.url ?? image.file_id ?? []),
      ...outputOf(...packet.images.map((image) => image.revised_prompt)),
    }),
  python_tool_start: (packet, place) => toolEvent("python", "start", place, { input: packet.code }),
  python_tool_delta: (packet, place) =>
    toolEvent("python", "output", place, outputOf(packet.stdout, packet.stderr)),
  custom_tool_start: (packet, place) =>
    toolEvent(packet.tool_name, "start", place, packet.tool_id ? { toolId: packet.tool_id } : {}),
  custom_tool_args: (packet, place) =>
    toolEvent(packet.tool_name, "input", place, { input: packet.tool_args }),
  custom_tool_delta: customResult,
  tool_call_argument_delta: (packet, place) =>
    toolEvent(packet.tool_type ?? "tool", "arguments", place, {}),
  tool_call_debug: nothing,
  file_reader_start: begins("file-reader"),
  file_reader_result: (packet, place) =>
    toolEvent("file-reader", "output", place, outputOf(packet.file_name)),
  memory_tool_start: begins("memory"),
  memory_tool_delta: (packet, place) =>
    toolEvent("memory", "output", place, outputOf(packet.operation, packet.memory_text)),
  memory_tool_no_access: (_packet, place) =>
    toolEvent("memory", "failed", place, { text: "no access" }),
  deep_research_plan_start: begins("plan"),
  deep_research_plan_delta: tells("plan"),
  research_agent_start: (packet, place) =>
    toolEvent("research-agent", "start", place, { input: packet.research_task ?? undefined }),
  intermediate_report_start: begins("report"),
  intermediate_report_delta: tells("report"),
  intermediate_report_cited_docs: (packet, place) =>
    toolEvent("report", "output", place, { documents: packet.cited_docs ?? [] }),
  coding_agent_start: (packet, place) =>
    toolEvent("coding-agent", "start", place, { input: packet.query ?? undefined }),
  coding_agent_thinking_delta: tells("coding-agent"),
  coding_agent_final: (packet, place) =>
    toolEvent("coding-agent", "output", place, outputOf(packet.answer)),
  bash_tool_start: (packet, place) =>
    toolEvent("bash", "start", place, { input: packet.cmd ?? undefined }),
  bash_tool_delta: shellResult,
};

/** What a packet says, or undefined where it says nothing to a reader. */
export function readPacket(packet: Packet, place: Place): TurnEvent | undefined {
  const read = readings[packet.type] as Reading<Packet["type"]>;
  return read(packet as never, place);
}
