import { offsetTime } from "../../store/identity.ts";
import { failure, type Line, packet } from "../packets.ts";
import { type Hit, questionTerms, toSearchDoc } from "../../store/index/search.ts";
import {
  listing,
  reasoning,
  searching,
  stoppedSuffix,
  type Turn,
  writePart,
  type Written,
} from "../turn.ts";
import { createCitationFinder } from "./citations.ts";
import { askModel, type ModelMessage, type ModelQuestion, type ModelServer } from "./client.ts";
import { isRetryable, ModelFailure } from "./failure.ts";
import { contextOf, messagesOf } from "./prompt.ts";

/** Additional input of a turn that a model answers. */
export interface ModelTurn {
  server: ModelServer;
  /** Name of the model for this question. */
  model: string;
  temperature: number | undefined;
  /** The branch before the question. */
  history: ModelMessage[];
  additional: string | undefined;
}

/** The search words. A short follow-up question also uses the words of the previous question. */
function termsOf(question: string, history: readonly ModelMessage[]): string[] {
  const terms = questionTerms(question);
  const before = history.findLast(({ role }) => role === "user");
  if (terms.length > 3 || !before) return terms;
  return [...new Set([...terms, ...questionTerms(before.content)])].slice(0, 40);
}

interface Writing {
  turn: Turn;
  asked: ModelTurn;
  /** The passages for the model, per document. */
  context: Hit[][];
  listed: unknown[] | undefined;
  started: number;
  /** Turn index of the current block of packets. */
  at: number;
  state: "silent" | "thinking" | "writing";
  written: Written;
}

function bestOf({ context }: Writing): Hit[] {
  return context.map(([hit]) => hit!);
}

function finderOf(writing: Writing) {
  const citable = bestOf(writing).map((hit) => ({
    documentId: hit.document.id,
    link: hit.link ?? hit.document.link ?? "",
  }));
  return createCitationFinder(citable);
}

function questionOf({ turn, asked, context, listed }: Writing): ModelQuestion {
  const { model, temperature, history, additional, server } = asked;
  const { question, attachments, search } = turn;
  const { instructions } = server;
  const searched = search !== undefined;
  const rest = { history, context, attachments, additional, listed, searched, instructions };
  return { model, temperature, messages: messagesOf({ question, ...rest }) };
}

function* beginMessage(writing: Writing): Generator<Line> {
  if (writing.state === "thinking") yield packet(writing.at, "reasoning_done");
  writing.state = "writing";
  writing.at += 1;
  yield packet(writing.at, "message_start", {
    final_documents: bestOf(writing).map((hit) => toSearchDoc(hit, offsetTime)),
    pre_answer_processing_seconds: (performance.now() - writing.started) / 1000,
  });
}

async function* modelLines(writing: Writing): AsyncGenerator<Line> {
  const { turn, asked, written } = writing;
  const finder = finderOf(writing);
  const signal = AbortSignal.any([turn.stopped, turn.ending]);
  for await (const { kind, text } of askModel(asked.server, questionOf(writing), signal)) {
    if (kind === "reasoning") {
      // Drop late reasoning: a second message start would count as another answer.
      if (writing.state === "writing") continue;
      if (writing.state === "silent") yield packet((writing.at += 1), "reasoning_start");
      writing.state = "thinking";
      yield packet(writing.at, "reasoning_delta", { reasoning: text });
      continue;
    }
    if (writing.state !== "writing") yield* beginMessage(writing);
    for (const part of finder.push(text)) yield* writePart(writing.at, turn, part, written);
  }
  for (const part of finder.end()) yield* writePart(writing.at, turn, part, written);
}

function* toolLines(writing: Writing, terms: string[]): Generator<Line> {
  const { turn, listed } = writing;
  if (turn.deepResearch) {
    yield* reasoning((writing.at += 1), ["The sandbox has no Deep Research; it searches once."]);
  }
  if (listed) yield* listing((writing.at += 1), listed);
  if (turn.search) yield* searching((writing.at += 1), turn, terms, bestOf(writing));
}

const emptyAnswer = "The model returned an empty answer";

/**
 * The packets of a turn that a language model answers. The sandbox searches first and sends
 * the numbered passages to the model; the model's `[n]` become citations. A failure of the
 * model's server ends the stream with an error line: observed-service.md 2.6. Stores the
 * answer before the last line.
 */
export async function* runModelTurn(turn: Turn, asked: ModelTurn): AsyncGenerator<Line> {
  const terms = termsOf(turn.question, asked.history);
  const writing: Writing = {
    turn,
    asked,
    context: contextOf(turn.search?.(terms, turn.filters) ?? []),
    listed: turn.listDocuments?.(),
    started: performance.now(),
    at: -1,
    state: "silent",
    written: { text: "", citations: {} },
  };
  const { written } = writing;
  const documents = bestOf(writing).map((hit) => toSearchDoc(hit, offsetTime));
  const store = (text: string, error: string | null): void =>
    turn.finish({ text, citations: written.citations, documents, error });
  yield* toolLines(writing, terms);
  try {
    yield* modelLines(writing);
    if (written.text.trim() === "") throw new ModelFailure("EMPTY_LLM_RESPONSE", emptyAnswer);
    store(written.text, null);
    yield packet(writing.at, "stop", { stop_reason: null });
  } catch (error) {
    if (turn.stopped.aborted) {
      store(written.text + stoppedSuffix, null);
      yield packet(Math.max(0, writing.at), "stop", { stop_reason: "user_cancelled" }, null);
    } else if (turn.ending.aborted) {
      // Without any text the placeholder stays, as after a crash of the service.
      if (written.text !== "")
        store(written.text, "The sandbox shut down before the answer was complete");
    } else if (error instanceof ModelFailure) {
      store(written.text, error.message);
      const details = { model: asked.model, provider: "llm", model_index: 0 };
      yield failure(error.code, error.message, isRetryable(error), details);
    } else throw error;
  }
}
