import { failureOfMember, ModelFailure } from "./failure.ts";

interface Choice {
  delta?: Record<string, unknown> | null;
  message?: Record<string, unknown> | null;
  finish_reason?: unknown;
}

/** State of a response that its pieces do not contain. */
export interface StreamOutcome {
  ended: boolean;
  finish: string | undefined;
  refusal: string;
}

/** The pieces of `content`: text, or a list of parts that may be reasoning. */
function* contentPieces(content: unknown): Generator<ModelPiece> {
  if (typeof content === "string") yield { kind: "text", text: content };
  if (!Array.isArray(content)) return;
  for (const part of content as Record<string, unknown>[]) {
    if (typeof part?.["text"] === "string") yield { kind: "text", text: part["text"] };
    else if (part?.["type"] === "thinking") {
      for (const piece of contentPieces(part["thinking"])) yield { ...piece, kind: "reasoning" };
    }
  }
}

function* choicePieces(choice: Choice, outcome: StreamOutcome): Generator<ModelPiece> {
  if (typeof choice.finish_reason === "string") outcome.finish = choice.finish_reason;
  // Ignore tool calls: the sandbox offers no tools.
  const { content, refusal, reasoning_content, reasoning } = choice.delta ?? choice.message ?? {};
  const thought = reasoning_content ?? reasoning;
  if (typeof thought === "string") yield { kind: "reasoning", text: thought };
  if (typeof refusal === "string") outcome.refusal += refusal.slice(0, 1_000);
  yield* contentPieces(content);
}

/**
 * The pieces of one payload: a chunk of a stream, a whole completion, or `[DONE]`.
 * Throws ModelFailure for an error, and for a payload that is not JSON.
 */
export function* payloadPieces(
  payload: string,
  outcome: StreamOutcome,
  key: string | undefined,
): Generator<ModelPiece> {
  if (payload.trim() === "") return;
  if (payload.trim() === "[DONE]") return void (outcome.ended = true);
  let value;
  try {
    value = JSON.parse(payload) as { error?: unknown; choices?: Choice[] } | null;
  } catch {
    throw new ModelFailure("API_ERROR", "The model's server sent a response that is not JSON");
  }
  if (value?.error) throw failureOfMember(value.error, key);
  const choice = Array.isArray(value?.choices) ? value.choices[0] : undefined;
  if (typeof choice === "object" && choice !== null) yield* choicePieces(choice, outcome);
}

/** Throws ModelFailure for an answer that was cut, refused or empty. */
export function checkEnd(outcome: StreamOutcome, isEmpty: boolean): void {
  if (!outcome.ended && outcome.finish === undefined) {
    throw new ModelFailure("CONNECTION_ERROR", "The model's server cut off its answer");
  }
  if (!isEmpty) return;
  if (outcome.refusal !== "") throw new ModelFailure("MODEL_REFUSAL", outcome.refusal);
  if (outcome.finish === "content_filter") {
    throw new ModelFailure("CONTENT_POLICY", "The model's server filtered the answer");
  }
  const why =
    outcome.finish === undefined ? "" : ` (finish reason: ${outcome.finish.slice(0, 40)})`;
  throw new ModelFailure("EMPTY_LLM_RESPONSE", `The model sent an empty answer${why}`);
}

/** A piece of a model's output. */
export interface ModelPiece {
  kind: "text" | "reasoning";
  text: string;
}

const opening = "<think>";
const closing = "</think>";

/** Length of the longest end of `text` that may be the beginning of `tag`. */
function overlap(text: string, tag: string): number {
  for (let length = Math.min(text.length, tag.length - 1); length > 0; length -= 1) {
    if (text.endsWith(tag.slice(0, length))) return length;
  }
  return 0;
}

/**
 * Separates the reasoning from the text, wherever the pieces end: some servers send it as a
 * `<think>` block at the beginning of the text.
 */
export function createThinkingFilter() {
  let state: "start" | "thinking" | "text" = "start";
  let held = "";
  const inThinking = (): ModelPiece[] => {
    const end = held.indexOf(closing);
    if (end >= 0) {
      const pieces = [
        { kind: "reasoning" as const, text: held.slice(0, end) },
        { kind: "text" as const, text: held.slice(end + closing.length).trimStart() },
      ];
      held = "";
      state = "text";
      return pieces;
    }
    const keep = overlap(held, closing);
    const text = held.slice(0, held.length - keep);
    held = held.slice(held.length - keep);
    return [{ kind: "reasoning", text }];
  };
  return {
    push(text: string): ModelPiece[] {
      if (state === "text") return [{ kind: "text", text }];
      held += text;
      if (state === "start") {
        const begun = held.trimStart();
        if (begun.startsWith(opening)) {
          state = "thinking";
          held = begun.slice(opening.length);
        } else if (opening.startsWith(begun)) return [];
        else {
          state = "text";
          const whole = held;
          held = "";
          return [{ kind: "text", text: whole }];
        }
      }
      return inThinking();
    },
    end(): ModelPiece[] {
      return held === "" ? [] : [{ kind: state === "thinking" ? "reasoning" : "text", text: held }];
    },
  };
}
