import type { ToolCall, ToolEvent, AppliedFilters, Place, TurnEvent } from "./chat-events.ts";
import type { SearchDoc, ChatEvent, Placement } from "../../../api/chat-schemas.ts";
import { readPacket } from "./packets.ts";

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
function recordCall(calls: ToolCall[], event: ToolEvent): void {
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

function placeOf(placement: Placement | null): Place {
  return {
    turn: placement?.turn_index ?? 0,
    tab: placement?.tab_index ?? 0,
    sub: placement?.sub_turn_index ?? null,
  };
}

/** Index of the model of a line, from 0; undefined for a line of all models or of the only one. */
function modelIndexOf(event: ChatEvent): number | undefined {
  const place = event.kind === "packet" ? event.placement : undefined;
  const details = event.kind === "failure" ? event.failure.details : place;
  if (typeof details !== "object" || details === null || !("model_index" in details)) return;
  return typeof details.model_index === "number" ? details.model_index : undefined;
}

/**
 * The event of one line of the stream; undefined for a line without information for
 * readers.
 */
function readEvent(event: ChatEvent): TurnEvent | undefined {
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
      const { error, error_code: code, is_retryable: retryable, details } = event.failure;
      return {
        type: "error",
        message: error,
        code: code ?? null,
        retryable: retryable ?? null,
        ...(details?.model ? { vendorModel: details.model } : {}),
      };
    }
    case "packet": {
      return readPacket(event.packet, placeOf(event.placement));
    }
    // A reply is processed as a whole (reply.ts); a damaged line is only counted.
    case "reply":
    case "damaged":
    case "unknown":
      return undefined;
    default:
      return event satisfies never;
  }
}

/** The record of one question and its answer, filled while the stream runs. */
export interface Turn {
  sessionId: string | null;
  userMessageId: number | null;
  /** The assistant's message: the parent of the next question. */
  messageId: number | null;
  model: string | null;
  /** If several models answer: the turns of all models except the first. */
  others: Turn[];
  /** Text of the last step; the answer after the turn has stopped. */
  answer: string;
  /** `turn_index` of the step that `answer` belongs to. */
  step: number;
  /** Texts before tool calls. They are not part of the answer. */
  interim: string[];
  reasoning: string;
  /** Citation number in the text to document id. */
  citations: Map<number, string>;
  /** All received documents by id, in the order received. */
  documents: Map<string, SearchDoc>;
  tools: ToolCall[];
  /** Local files of documents by document id, as paths to display. */
  localFiles: ReadonlyMap<string, string>;
  /** Filters of the last search; `tools` has those of each search. */
  filtersApplied: AppliedFilters | null;
  /** Number of stream lines that are invalid, or are text or failures of an unannounced model. */
  damagedLines: number;
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
    others: [],
    answer: "",
    step: -1,
    interim: [],
    reasoning: "",
    citations: new Map(),
    documents: new Map(),
    tools: [],
    localFiles: new Map(),
    filtersApplied: null,
    damagedLines: 0,
    stopped: false,
    stopReason: null,
    failure: null,
  };
}

const visible = /[^\s\p{Z}\p{Cc}\p{Cf}]/u;

/** Whether a text has a visible character. */
export function hasText(text: string): boolean {
  return visible.test(text);
}

/**
 * Whether the turn has an answer: text, a generated image or a file. Reasoning and
 * tool calls do not count.
 */
export function hasAnswer({
  answer,
  tools,
}: {
  answer: string;
  tools: readonly { images: readonly unknown[]; fileIds: readonly unknown[] }[];
}): boolean {
  if (hasText(answer)) return true;
  return tools.some(({ images, fileIds }) => images.length > 0 || fileIds.length > 0);
}

/** Adds documents. With `replace`, the documents of the answer's own list override those of a search. */
export function addDocuments(turn: Turn, documents: readonly SearchDoc[], replace: boolean): void {
  for (const document of documents) {
    if (replace || !turn.documents.has(document.document_id)) {
      turn.documents.set(document.document_id, document);
    }
  }
}

function recordTool(turn: Turn, event: ToolEvent): void {
  addDocuments(turn, event.documents ?? [], false);
  if (event.filters) turn.filtersApplied = event.filters;
  recordCall(turn.tools, event);
}

// Each step of the model overwrites the previous one: the answer is only the text of
// the last step (observed-service.md 2.5).
function dropText(turn: Turn): TurnEvent[] {
  const { answer: text } = turn;
  if (text === "") return [];
  turn.interim.push(text);
  turn.answer = "";
  return [{ type: "interim", text }];
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
      [turn.messageId, turn.model] = [
        event.models[0]?.messageId ?? null,
        event.models[0]?.name ?? null,
      ];
      turn.others = event.models.slice(1).map(({ messageId, name }) => ({
        ...createTurn(),
        sessionId: turn.sessionId,
        messageId,
        model: name,
      }));
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
      // Sub-agents reason in parallel: their texts would be mixed.
      if (event.place.sub === null) turn.reasoning += event.text;
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
    case "end":
      return;
    default:
      event satisfies never;
  }
}

function endsText(turn: Turn, event: TurnEvent): boolean {
  if (event.type === "start") return event.place.turn > turn.step;
  if (event.type === "tool") return event.tool !== null && event.step !== "call";
  return event.type === "branches";
}

function applyEvent(turn: Turn, event: TurnEvent): TurnEvent[] {
  const dropped = endsText(turn, event) ? dropText(turn) : [];
  record(turn, event);
  return [...dropped, event];
}

/** The turns of all models that answer; usually only `turn`. */
export function turnsOf(turn: Turn): readonly [Turn, ...Turn[]] {
  return [turn, ...turn.others];
}

/** Whether the answers of all models are complete or failed. */
export function isStopped(turn: Turn): boolean {
  return turnsOf(turn).every(({ stopped, failure }) => stopped || failure !== null);
}

/**
 * Adds one line of the stream to `turn` and returns its events. A message of a
 * later step starts a new answer. Text before a tool call is dropped from the answer
 * (reasoning is not a tool). If several models answer, each has its own turn. A line
 * of an unannounced model is ignored; its text or failure counts as damage, because an answer is
 * missing.
 */
export function advance(turn: Turn, line: ChatEvent): TurnEvent[] {
  if (line.kind === "damaged") turn.damagedLines += 1;
  const event = readEvent(line);
  if (event === undefined) return [];
  const index = modelIndexOf(line);
  if (index === undefined && event.type === "stop") {
    // A stop without a model index ends all models.
    for (const other of turn.others) record(other, event);
  }
  const own = turnsOf(turn)[index ?? 0];
  if (own === undefined) {
    if (event.type === "text" || event.type === "error") turn.damagedLines += 1;
    return [];
  }
  const events = applyEvent(own, event);
  if (index === undefined || turn.others.length === 0) return events;
  return events.map((each) => ({ ...each, model: index }));
}
