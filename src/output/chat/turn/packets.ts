import type { Place, ToolEvent, TurnEvent } from "./chat-events.ts";
import type { GeneratedImage, Packet } from "../../../api/chat-schemas.ts";

type PacketReader<Type extends Packet["type"]> = (
  packet: Extract<Packet, { type: Type }>,
  place: Place,
) => TurnEvent | undefined;

type Details = {
  [Name in Exclude<keyof ToolEvent, "type" | "tool" | "step" | "place">]?: ToolEvent[Name] | null;
};

/** Creates a tool's event without the details that are null or absent. */
function toolEvent(
  name: string | null,
  step: ToolEvent["step"],
  place: Place,
  details: Details,
): ToolEvent {
  const event: ToolEvent = { type: "tool", tool: name, step, place };
  for (const [member, value] of Object.entries(details)) {
    if (value !== null && value !== undefined) Object.assign(event, { [member]: value });
  }
  return event;
}

/** The reader of a packet of the service's own tool `name`. */
const tool =
  <P>(name: string | null, step: ToolEvent["step"], details: (packet: P) => Details = () => ({})) =>
  (packet: P, place: Place): ToolEvent =>
    toolEvent(name, step, place, details(packet));

/** The same for a tool that an administrator of the service has added: the packet names it. */
const customTool =
  <P extends { tool_name: string }>(
    step: ToolEvent["step"],
    details: (packet: P) => Details,
  ): ((packet: P, place: Place) => ToolEvent) =>
  (packet, place) =>
    toolEvent(packet.tool_name, step, place, details(packet));

const noEvent = (): undefined => undefined;
const content = (packet: { content: string }): Details => ({ text: packet.content });

function asText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A generated image. */
export function imageOf(image: GeneratedImage) {
  return {
    fileId: image.file_id ?? null,
    url: image.url ?? null,
    prompt: image.revised_prompt ?? null,
    shape: image.shape ?? null,
  };
}

/** One reader for each packet type; a new type without one does not compile. */
const readers: { [Type in Packet["type"]]: PacketReader<Type> } = {
  stop: (packet) => ({ type: "stop", reason: packet.stop_reason ?? null }),
  chat_heartbeat: noEvent,
  error: tool(null, "failed"),
  section_end: (_packet, place) => ({ type: "end", place }),
  top_level_branching: (packet, place) => ({
    type: "branches",
    count: packet.num_parallel_branches,
    place,
  }),
  // What a message inside a tool (e.g. of a research agent) brings belongs to the tool, not to the answer.
  message_start: (packet, place) => {
    const documents = packet.final_documents ?? [];
    if (place.sub !== null) return toolEvent("agent", "output", place, { documents });
    const processingSeconds = packet.pre_answer_processing_seconds;
    const event: TurnEvent = { type: "start", place, documents };
    return typeof processingSeconds === "number" ? { ...event, processingSeconds } : event;
  },
  message_delta: (packet, place) =>
    place.sub === null
      ? { type: "text", text: packet.content }
      : toolEvent("agent", "text", place, content(packet)),
  citation_info: ({ citation_number: number, document_id: documentId }, place) =>
    place.sub === null
      ? { type: "citation", number, documentId }
      : toolEvent("agent", "output", place, { citation: { number, documentId } }),
  reasoning_start: noEvent,
  reasoning_delta: (packet, place) => ({ type: "reasoning", text: packet.reasoning, place }),
  reasoning_done: (_packet, place) => ({ type: "reasoning", text: "\n", place }),
  search_tool_start: tool("search", "start", (packet) => ({
    internet: packet.is_internet_search === true,
  })),
  search_tool_queries_delta: tool("search", "input", ({ queries }) => ({ queries })),
  search_tool_filter_delta: tool("search", "input", (packet) => ({
    filters: {
      sources: packet.sources ?? [],
      from: packet.time_filter_start ?? null,
      to: packet.time_filter_end ?? null,
    },
  })),
  search_tool_documents_delta: tool("search", "output", ({ documents }) => ({ documents })),
  open_url_start: tool("open-url", "start"),
  open_url_urls: tool("open-url", "input", ({ urls }) => ({ urls })),
  open_url_documents: tool("open-url", "output", ({ documents }) => ({ documents })),
  image_generation_start: tool("image-generation", "start"),
  image_generation_heartbeat: noEvent,
  image_generation_final: tool("image-generation", "output", (packet) => ({
    images: packet.images.map(imageOf),
  })),
  python_tool_start: tool("python", "start", (packet) => ({ input: packet.code })),
  python_tool_delta: tool("python", "output", (packet) => ({
    text: packet.stdout,
    errorText: packet.stderr,
    fileIds: packet.file_ids,
  })),
  custom_tool_start: customTool("start", (packet) => ({ toolId: packet.tool_id })),
  custom_tool_args: customTool("input", (packet) => ({ input: packet.tool_args })),
  custom_tool_delta: (packet, place) => {
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
  },
  tool_call_argument_delta: (packet, place) =>
    toolEvent(packet.tool_type ?? "tool", "arguments", place, { input: packet.argument_deltas }),
  tool_call_debug: (packet, place) =>
    toolEvent(packet.tool_name ?? null, "call", place, {
      callId: packet.tool_call_id,
      input: packet.tool_args,
    }),
  file_reader_start: tool("file-reader", "start"),
  file_reader_result: tool("file-reader", "output", (packet) => ({
    file: {
      name: packet.file_name ?? null,
      fileId: packet.file_id ?? null,
      from: packet.start_char ?? null,
      to: packet.end_char ?? null,
      total: packet.total_chars ?? null,
      beginning: packet.preview_start ?? null,
      end: packet.preview_end ?? null,
    },
    text: packet.file_name,
  })),
  memory_tool_start: tool("memory", "start"),
  memory_tool_delta: tool("memory", "output", (packet) => ({
    memory: {
      operation: packet.operation ?? null,
      text: packet.memory_text ?? null,
      id: packet.memory_id ?? null,
      index: packet.index ?? null,
    },
    text: packet.memory_text,
  })),
  memory_tool_no_access: tool("memory", "failed", () => ({
    error: { auth: false, status: null, message: "no access to memories" },
  })),
  deep_research_plan_start: tool("plan", "start"),
  deep_research_plan_delta: tool("plan", "text", content),
  research_agent_start: tool("research-agent", "start", (packet) => ({
    input: packet.research_task,
  })),
  intermediate_report_start: tool("report", "start"),
  intermediate_report_delta: tool("report", "text", content),
  intermediate_report_cited_docs: tool("report", "output", (packet) => ({
    documents: packet.cited_docs ?? [],
  })),
  coding_agent_start: tool("coding-agent", "start", (packet) => ({
    input: packet.query,
    repository: packet.repo,
  })),
  coding_agent_thinking_delta: tool("coding-agent", "text", content),
  coding_agent_final: tool("coding-agent", "output", (packet) => ({ text: packet.answer })),
  bash_tool_start: tool("bash", "start", (packet) => ({ input: packet.cmd })),
  bash_tool_delta: tool("bash", "output", (packet) => ({
    text: packet.stdout,
    errorText: packet.stderr,
    exitCode: packet.exit_code,
    timedOut: packet.timed_out,
  })),
};

/** The event of a packet; undefined for a packet without information for readers. */
export function readPacket(packet: Packet, place: Place): TurnEvent | undefined {
  const read = readers[packet.type] as PacketReader<Packet["type"]>;
  return read(packet as never, place);
}
