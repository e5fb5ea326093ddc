import type { Place, ToolEvent, TurnEvent } from "./turn-event.ts";
import type { Packet } from "../../../api/chat-schemas.ts";
import {
  citation,
  customResult,
  fileOf,
  imageOf,
  memoryOf,
  messageStart,
  toolEvent,
} from "./packet-details.ts";

type PacketReader<Type extends Packet["type"]> = (
  packet: Extract<Packet, { type: Type }>,
  place: Place,
) => TurnEvent | undefined;

const noEvent = (): undefined => undefined;

const toolStart =
  (tool: string) =>
  (_packet: unknown, place: Place): ToolEvent => ({ type: "tool", tool, step: "start", place });

const toolText =
  (tool: string) =>
  (packet: { content: string }, place: Place): ToolEvent => ({
    type: "tool",
    tool,
    step: "text",
    place,
    text: packet.content,
  });

/** One reader for each packet type; a new type without one does not compile. */
const readers: { [Type in Packet["type"]]: PacketReader<Type> } = {
  stop: (packet) => ({ type: "stop", reason: packet.stop_reason ?? null }),
  chat_heartbeat: noEvent,
  error: (_packet, place) => toolEvent(null, "failed", place, {}),
  section_end: (_packet, place) => ({ type: "end", place }),
  top_level_branching: (packet, place) => ({
    type: "branches",
    count: packet.num_parallel_branches,
    place,
  }),
  message_start: messageStart,
  message_delta: (packet, place) =>
    place.sub === null
      ? { type: "text", text: packet.content }
      : toolEvent("agent", "text", place, { text: packet.content }),
  citation_info: citation,
  reasoning_start: noEvent,
  reasoning_delta: (packet, place) => ({ type: "reasoning", text: packet.reasoning, place }),
  reasoning_done: (_packet, place) => ({ type: "reasoning", text: "\n", place }),
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
  open_url_start: toolStart("open-url"),
  open_url_urls: (packet, place) => toolEvent("open-url", "input", place, { urls: packet.urls }),
  open_url_documents: (packet, place) =>
    toolEvent("open-url", "output", place, { documents: packet.documents }),
  image_generation_start: toolStart("image-generation"),
  image_generation_heartbeat: noEvent,
  image_generation_final: (packet, place) =>
    toolEvent("image-generation", "output", place, { images: packet.images.map(imageOf) }),
  python_tool_start: (packet, place) => toolEvent("python", "start", place, { input: packet.code }),
  python_tool_delta: (packet, place) =>
    toolEvent("python", "output", place, {
      text: packet.stdout,
      errorText: packet.stderr,
      fileIds: packet.file_ids,
    }),
  custom_tool_start: (packet, place) =>
    toolEvent(packet.tool_name, "start", place, { toolId: packet.tool_id }),
  custom_tool_args: (packet, place) =>
    toolEvent(packet.tool_name, "input", place, { input: packet.tool_args }),
  custom_tool_delta: customResult,
  tool_call_argument_delta: (packet, place) =>
    toolEvent(packet.tool_type ?? "tool", "arguments", place, { input: packet.argument_deltas }),
  tool_call_debug: (packet, place) =>
    toolEvent(packet.tool_name ?? null, "call", place, {
      callId: packet.tool_call_id,
      input: packet.tool_args,
    }),
  file_reader_start: toolStart("file-reader"),
  file_reader_result: (packet, place) =>
    toolEvent("file-reader", "output", place, { file: fileOf(packet), text: packet.file_name }),
  memory_tool_start: toolStart("memory"),
  memory_tool_delta: (packet, place) => toolEvent("memory", "output", place, memoryOf(packet)),
  memory_tool_no_access: (_packet, place) =>
    toolEvent("memory", "failed", place, {
      error: { auth: false, status: null, message: "no access to memories" },
    }),
  deep_research_plan_start: toolStart("plan"),
  deep_research_plan_delta: toolText("plan"),
  research_agent_start: (packet, place) =>
    toolEvent("research-agent", "start", place, { input: packet.research_task }),
  intermediate_report_start: toolStart("report"),
  intermediate_report_delta: toolText("report"),
  intermediate_report_cited_docs: (packet, place) =>
    toolEvent("report", "output", place, { documents: packet.cited_docs ?? [] }),
  coding_agent_start: (packet, place) =>
    toolEvent("coding-agent", "start", place, {
      input: packet.query,
      repository: packet.repo,
    }),
  coding_agent_thinking_delta: toolText("coding-agent"),
  coding_agent_final: (packet, place) =>
    toolEvent("coding-agent", "output", place, { text: packet.answer }),
  bash_tool_start: (packet, place) => toolEvent("bash", "start", place, { input: packet.cmd }),
  bash_tool_delta: (packet, place) =>
    toolEvent("bash", "output", place, {
      text: packet.stdout,
      errorText: packet.stderr,
      exitCode: packet.exit_code,
      timedOut: packet.timed_out,
    }),
};

/** The event of a packet; undefined for a packet without information for readers. */
export function readPacket(packet: Packet, place: Place): TurnEvent | undefined {
  const read = readers[packet.type] as PacketReader<Packet["type"]>;
  return read(packet as never, place);
}
