import { failureOfMember, ModelFailure } from "./failure.ts";
import type { ModelPiece } from "./thinking.ts";

interface Choice {
  delta?: Record<string, unknown> | null;
  message?: Record<string, unknown> | null;
  finish_reason?: unknown;
}

/** What the pieces themselves do not tell. */
export interface Heard {
  ended: boolean;
  finish: string | undefined;
  refusal: string;
}

/** `content` is text, or a list of parts of which some are thoughts. */
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

function* choicePieces(choice: Choice, heard: Heard): Generator<ModelPiece> {
  if (typeof choice.finish_reason === "string") heard.finish = choice.finish_reason;
  // Tool calls are left out: the sandbox offers none.
  const { content, refusal, reasoning_content, reasoning } = choice.delta ?? choice.message ?? {};
  const thought = reasoning_content ?? reasoning;
  if (typeof thought === "string") yield { kind: "reasoning", text: thought };
  if (typeof refusal === "string") heard.refusal += refusal.slice(0, 1_000);
  yield* contentPieces(content);
}

/**
 * The pieces in one payload: a chunk of a stream, a whole completion, or `[DONE]`.
 * Throws ModelFailure for an error, and for what is no JSON.
 */
export function* payloadPieces(
  payload: string,
  heard: Heard,
  key: string | undefined,
): Generator<ModelPiece> {
  if (payload.trim() === "") return;
  if (payload.trim() === "[DONE]") return void (heard.ended = true);
  let value;
  try {
    value = JSON.parse(payload) as { error?: unknown; choices?: Choice[] } | null;
  } catch {
    throw new ModelFailure("API_ERROR", "The model's server sent an answer that is no JSON");
  }
  if (value?.error) throw failureOfMember(value.error, key);
  const choice = Array.isArray(value?.choices) ? value.choices[0] : undefined;
  if (typeof choice === "object" && choice !== null) yield* choicePieces(choice, heard);
}

/** Throws ModelFailure for an answer that was cut, refused or empty. */
export function checkEnd(heard: Heard, isEmpty: boolean): void {
  if (!heard.ended && heard.finish === undefined) {
    throw new ModelFailure("CONNECTION_ERROR", "The model's server ended its answer in the middle");
  }
  if (!isEmpty) return;
  if (heard.refusal !== "") throw new ModelFailure("MODEL_REFUSAL", heard.refusal);
  if (heard.finish === "content_filter") {
    throw new ModelFailure("CONTENT_POLICY", "The model's server filtered the answer away");
  }
  const why = heard.finish === undefined ? "" : ` (finish reason: ${heard.finish.slice(0, 40)})`;
  throw new ModelFailure("MODEL_ERROR", `The model sent an empty answer${why}`);
}
