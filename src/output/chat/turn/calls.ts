import type { ToolCall, ToolEvent } from "./chat-events.ts";
import type { SearchDoc } from "../../../api/chat-schemas.ts";

export function createCall(
  tool: string,
  turn: number,
  tab = 0,
  sub: number | null = null,
): ToolCall {
  return {
    tool,
    turn,
    tab,
    sub,
    toolId: null,
    internet: false,
    queries: [],
    filters: null,
    input: null,
    reasoning: "",
    output: "",
    errorOutput: "",
    exitCode: null,
    documentIds: [],
    images: [],
    fileIds: [],
    files: [],
    failed: false,
    error: null,
  };
}

// Indexes, kept outside the records because those are written to the output. They avoid a
// search through all earlier packets for each packet.
const documentsOf = new WeakMap<ToolCall, Set<string>>();
const latestOf = new WeakMap<ToolCall[], Map<string, ToolCall>>();

/** Adds documents to a call. Several chunks of one document count once. */
export function noteDocuments(call: ToolCall, documents: readonly SearchDoc[]): void {
  const known = documentsOf.get(call) ?? new Set(call.documentIds);
  documentsOf.set(call, known);
  for (const { document_id: id } of documents) {
    if (!known.has(id)) call.documentIds.push(id);
    known.add(id);
  }
}

/** The call of an event: the latest one at its place, of the event's tool if it names one. */
function callOf(calls: ToolCall[], event: ToolEvent): ToolCall | undefined {
  const { turn, tab, sub } = event.place;
  const latest = latestOf.get(calls) ?? new Map<string, ToolCall>();
  latestOf.set(calls, latest);
  const place = `${turn}.${tab}.${sub ?? ""}`;
  const key = event.tool === null ? place : `${place} ${event.tool}`;
  const known = event.step === "start" ? undefined : latest.get(key);
  if (known || event.tool === null) return known;
  const call = createCall(event.tool, turn, tab, sub);
  calls.push(call);
  latest.set(place, call).set(key, call);
  return call;
}

function noteResult(call: ToolCall, event: ToolEvent): void {
  if (event.documents) noteDocuments(call, event.documents);
  for (const image of event.images ?? []) call.images.push(image);
  for (const id of event.fileIds ?? []) call.fileIds.push(id);
  if (event.file) call.files.push(event.file);
  if (event.exitCode !== undefined) call.exitCode = event.exitCode;
  if (event.step === "failed" || event.timedOut) call.failed = true;
  if (event.error) call.error = event.error;
  // A coding agent's streamed text is reasoning; only its final output is the result.
  if (event.step === "text" && event.tool === "coding-agent") call.reasoning += event.text ?? "";
  else call.output += event.text ?? "";
  call.errorOutput += event.errorText ?? "";
}

/** Adds a tool's event to the record of its call; the first event creates the record. */
export function recordCall(calls: ToolCall[], event: ToolEvent): void {
  // Not tool runs: `arguments` is an unfinished call, `call` a debug packet of a test server.
  if (event.step === "arguments" || event.step === "call") return;
  const call = callOf(calls, event);
  if (!call) return;
  if (event.toolId !== undefined) call.toolId = event.toolId;
  if (event.internet !== undefined) call.internet = event.internet;
  for (const query of event.queries ?? []) call.queries.push(query);
  if (event.filters) call.filters = event.filters;
  if (event.urls) call.input = event.urls;
  if (event.input !== undefined) call.input = event.input;
  noteResult(call, event);
}
