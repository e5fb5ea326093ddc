import type { AppliedFilters, Place, ToolCall, ToolEvent, TurnEvent } from "./chat-events.ts";
import type { ChatEvent, SearchDoc, Placement } from "../../../api/chat-schemas.ts";
import { recordCall } from "./calls.ts";
import { readPacket } from "./packets.ts";

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
export function hasAnswer({ answer, tools }: Pick<Turn, "answer" | "tools">): boolean {
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
