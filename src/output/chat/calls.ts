import type { SearchDoc } from "../../api/chat-schemas.ts";
import type { AppliedFilters, MadeImage, ReadFile, ToolEvent } from "./events.ts";

/** What one tool was asked and what it gave: a member of `toolCalls` in the result. */
export interface ToolCall {
  tool: string;
  turn: number;
  tab: number;
  /** Set inside a sub-agent. */
  sub: number | null;
  toolId: number | null;
  internet: boolean;
  queries: string[];
  /** What this search was really limited to; null where the service does not say. */
  filters: AppliedFilters | null;
  input: unknown;
  /** What the model thought before or during this call. */
  reasoning: string;
  output: string;
  errorOutput: string;
  exitCode: number | null;
  /** Ids of what it found, opened or cited, each once. */
  documentIds: string[];
  images: MadeImage[];
  fileIds: string[];
  files: ReadFile[];
  failed: boolean;
  error: NonNullable<ToolEvent["error"]> | null;
}

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

/** Notes documents of a call. Many chunks of one document count once. */
export function noteDocuments(call: ToolCall, documents: readonly SearchDoc[]): void {
  const ids = new Set([...call.documentIds, ...documents.map((each) => each.document_id)]);
  call.documentIds = [...ids];
}

function callOf(calls: ToolCall[], event: ToolEvent): ToolCall | undefined {
  const { turn, tab, sub } = event.place;
  const matches = (call: ToolCall): boolean =>
    call.turn === turn &&
    call.tab === tab &&
    call.sub === sub &&
    (event.tool === null || call.tool === event.tool);
  const known = event.step === "start" ? undefined : calls.findLast(matches);
  if (known || event.tool === null) return known;
  const call = createCall(event.tool, turn, tab, sub);
  calls.push(call);
  return call;
}

function noteResult(call: ToolCall, event: ToolEvent): void {
  if (event.documents) noteDocuments(call, event.documents);
  if (event.images) call.images.push(...event.images);
  if (event.fileIds) call.fileIds.push(...event.fileIds);
  if (event.file) call.files.push(event.file);
  if (event.exitCode !== undefined) call.exitCode = event.exitCode;
  if (event.step === "failed" || event.timedOut) call.failed = true;
  if (event.error) call.error = event.error;
  // Of a coding agent only the last word is its result.
  if (event.step === "text" && event.tool === "coding-agent") call.reasoning += event.text ?? "";
  else call.output += event.text ?? "";
  call.errorOutput += event.errorText ?? "";
}

/** Takes what a tool reports into the record of its call, which begins with its first event. */
export function recordCall(calls: ToolCall[], event: ToolEvent): void {
  // Neither is the run of a tool: the one is still being written, the other a test server's note.
  if (event.step === "arguments" || event.step === "call") return;
  const call = callOf(calls, event);
  if (!call) return;
  if (event.toolId !== undefined) call.toolId = event.toolId;
  if (event.internet !== undefined) call.internet = event.internet;
  if (event.queries) call.queries.push(...event.queries);
  if (event.filters) call.filters = event.filters;
  if (event.urls) call.input = event.urls;
  if (event.input !== undefined) call.input = event.input;
  noteResult(call, event);
}
