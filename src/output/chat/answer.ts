import type { ChatEvent, SearchDoc } from "../../api/chat-schemas.ts";
import { readEvent, type ToolEvent, type TurnEvent } from "./events.ts";

export interface ToolCall {
  tool: string;
  turn: number;
  tab: number;
  toolId: number | null;
  internet: boolean;
  queries: string[];
  input: unknown;
  output: string;
  failed: boolean;
}

/** Everything known of one question and its answer while the stream runs. */
export interface Turn {
  sessionId: string | null;
  userMessageId: number | null;
  /** The assistant's message: the parent of the next question. */
  messageId: number | null;
  model: string | null;
  /** Text of the last step; the answer, once the turn has stopped. */
  answer: string;
  /** `turn_index` of the step that `answer` belongs to. */
  step: number;
  /** Texts that came before a tool ran. They are not part of the answer. */
  interim: string[];
  reasoning: string;
  /** Citation number in the text to document id. */
  citations: Map<number, string>;
  /** By id: all documents that were gathered, in the order in which they came. */
  documents: Map<string, SearchDoc>;
  tools: ToolCall[];
  filtersApplied: NonNullable<ToolEvent["filters"]> | null;
  stopped: boolean;
  stopReason: string | null;
  failure: Extract<TurnEvent, { type: "error" }> | null;
}

export function createTurn(): Turn {
  return {
    sessionId: null,
    userMessageId: null,
    messageId: null,
    model: null,
    answer: "",
    step: -1,
    interim: [],
    reasoning: "",
    citations: new Map(),
    documents: new Map(),
    tools: [],
    filtersApplied: null,
    stopped: false,
    stopReason: null,
    failure: null,
  };
}

/** Takes in documents; those of the answer's own list (`replace`) win over what a search said of them. */
export function addDocuments(turn: Turn, documents: readonly SearchDoc[], replace: boolean): void {
  for (const document of documents) {
    if (replace || !turn.documents.has(document.document_id)) {
      turn.documents.set(document.document_id, document);
    }
  }
}

function callOf(turn: Turn, event: ToolEvent): ToolCall | undefined {
  const { turn: index, tab } = event.place;
  const matches = (call: ToolCall): boolean =>
    call.turn === index && call.tab === tab && (event.tool === null || call.tool === event.tool);
  const known = event.step === "start" ? undefined : turn.tools.findLast(matches);
  if (known || event.tool === null) return known;
  const call: ToolCall = {
    tool: event.tool,
    turn: index,
    tab,
    toolId: null,
    internet: false,
    queries: [],
    input: null,
    output: "",
    failed: false,
  };
  turn.tools.push(call);
  return call;
}

function recordTool(turn: Turn, event: ToolEvent): void {
  if (event.step === "arguments") return;
  addDocuments(turn, event.documents ?? [], false);
  if (event.filters) turn.filtersApplied = event.filters;
  const call = callOf(turn, event);
  if (!call) return;
  if (event.toolId !== undefined) call.toolId = event.toolId;
  if (event.internet !== undefined) call.internet = event.internet;
  if (event.queries) call.queries.push(...event.queries);
  if (event.urls && event.step === "input") call.input = event.urls;
  if (event.input !== undefined) call.input = event.input;
  if (event.step === "failed") call.failed = true;
  call.output += event.text ?? "";
}

// Each step of the model overwrites the one before it: the answer is the last
// step's text alone (observed-service.md 2.5).
function dropText(turn: Turn, events: TurnEvent[]): void {
  if (turn.answer === "") return;
  turn.interim.push(turn.answer);
  events.push({ type: "interim", text: turn.answer });
  turn.answer = "";
}

function record(turn: Turn, event: TurnEvent): void {
  switch (event.type) {
    case "session":
      turn.sessionId = event.sessionId;
      return;
    case "message":
      turn.userMessageId = event.userMessageId;
      turn.messageId = event.messageId;
      return;
    case "models":
      turn.messageId = event.models[0]?.messageId ?? null;
      turn.model = event.models[0]?.name ?? null;
      return;
    case "start":
      turn.step = event.place.turn;
      addDocuments(turn, event.documents, true);
      return;
    case "text":
      turn.answer += event.text;
      return;
    case "citation":
      turn.citations.set(event.number, event.documentId);
      return;
    case "reasoning":
      turn.reasoning += event.text;
      return;
    case "tool":
      recordTool(turn, event);
      return;
    case "stop":
      turn.stopped = true;
      turn.stopReason = event.reason;
      return;
    case "error":
      turn.failure = event;
      return;
    case "branches":
    case "interim":
      return;
    default:
      event satisfies never;
  }
}

function endsText(turn: Turn, event: TurnEvent): boolean {
  if (event.type === "start") return event.place.turn > turn.step;
  if (event.type === "tool") return event.tool !== null;
  return event.type === "branches";
}

/**
 * Takes one line of the stream into `turn` and returns what happened. The
 * answer starts afresh at each message of a later step, and text that a tool
 * follows is dropped (reasoning is no tool).
 */
export function advance(turn: Turn, line: ChatEvent): TurnEvent[] {
  const event = readEvent(line);
  if (event === undefined) return [];
  const events: TurnEvent[] = [];
  if (endsText(turn, event)) dropText(turn, events);
  record(turn, event);
  if (event.type !== "tool" || event.step !== "arguments") events.push(event);
  return events;
}
