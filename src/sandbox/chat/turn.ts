import type { Clock } from "../clock.ts";
import { type Answer, type AnswerPart, type Attachment, composeAnswer } from "./answer.ts";
import { offsetTime } from "../store/documents.ts";
import { type Line, packet, listTool } from "./packets.ts";
import { type Filters, type Hit, questionTerms, toSearchDoc } from "../store/index/search.ts";
import type { Outcome } from "../store/sessions.ts";

/** Input and callbacks of a turn. */
export interface Turn {
  question: string;
  filters: Filters;
  search: ((terms: readonly string[], filters: Filters) => Hit[]) | undefined;
  /** Runs the listing Action first; only set if the request forced it. */
  listDocuments: (() => unknown[]) | undefined;
  attachments: Attachment[];
  includeCitations: boolean;
  /** Requested, but not supported without a language model. */
  deepResearch: boolean;
  clock: Clock;
  /** Pause before each word of the answer. */
  tokenDelayMs: number;
  /** Aborted by the stop endpoint. */
  stopped: AbortSignal;
  /** Aborted when the sandbox shuts down; the answer is then completed without pauses. */
  ending: AbortSignal;
  finish(outcome: Outcome): void;
}

/** Appended to the stored text of an answer that the user stopped: observed-service.md 2.8. */
export const stoppedSuffix = "\n\n... *Generation was stopped by the user.*";

/** The text of the reasoning packets: true sentences about what the sandbox does. */
function reasoningOf(terms: readonly string[], turn: Turn): string[] {
  if (turn.deepResearch)
    return ["Deep Research needs a language model; ", ...plainReasoning(terms, turn)];
  return plainReasoning(terms, turn);
}

function plainReasoning(terms: readonly string[], turn: Turn): string[] {
  if (!turn.search)
    return ["No search is allowed for this question, ", "so nothing can be quoted."];
  const words = terms.slice(0, 8).join(", ");
  return [
    "The search words are: ",
    `${words || "none"}. `,
    "Searching the indexed documents for them.",
  ];
}

export function* reasoning(at: number, pieces: readonly string[]): Generator<Line> {
  yield packet(at, "reasoning_start");
  for (const piece of pieces) yield packet(at, "reasoning_delta", { reasoning: piece });
  yield packet(at, "reasoning_done");
}

export function* listing(at: number, documents: unknown[]): Generator<Line> {
  const tool = { tool_name: listTool.name, tool_id: listTool.id };
  yield packet(at, "custom_tool_start", tool);
  yield packet(at, "custom_tool_args", { tool_name: listTool.name, tool_args: { limit: 10 } });
  yield packet(at, "custom_tool_delta", {
    ...tool,
    response_type: "json",
    data: documents,
    file_ids: null,
    error: null,
  });
  yield packet(at, "section_end");
}

export function* searching(
  at: number,
  turn: Turn,
  terms: readonly string[],
  hits: readonly Hit[],
): Generator<Line> {
  yield packet(at, "search_tool_start", { is_internet_search: false });
  yield packet(at, "search_tool_queries_delta", { queries: [terms.join(" ") || turn.question] });
  const { sources, updatedFrom, updatedTo } = turn.filters;
  yield packet(at, "search_tool_filter_delta", {
    sources: sources ?? [],
    time_filter_start: updatedFrom === undefined ? null : offsetTime(updatedFrom),
    time_filter_end: updatedTo === undefined ? null : offsetTime(updatedTo),
  });
  const documents = hits.map((hit) => toSearchDoc(hit, offsetTime));
  yield packet(at, "search_tool_documents_delta", { documents });
  yield packet(at, "section_end");
}

/** Splits text into words, as a model would send it. */
function wordsOf(text: string): string[] {
  return text.match(/\s*\S+|\s+/g) ?? [];
}

/** The answer so far. */
export interface Written {
  text: string;
  citations: Record<string, string>;
}

/** The packets of one part of an answer. A citation packet precedes the first marker of its document. */
export function* writePart(
  at: number,
  { includeCitations }: Turn,
  part: AnswerPart,
  written: Written,
): Generator<Line> {
  if ("number" in part && !includeCitations) return;
  if ("number" in part && !Object.values(written.citations).includes(part.documentId)) {
    written.citations[part.number] = part.documentId;
    const members = { citation_number: part.number, document_id: part.documentId };
    yield packet(at, "citation_info", members);
  }
  const content = "number" in part ? `[[${part.number}]](${part.link})` : part.text;
  written.text += content;
  yield packet(at, "message_delta", { content });
}

async function* writing(
  at: number,
  turn: Turn,
  answer: Answer,
  written: Written,
): AsyncGenerator<Line> {
  const awake = AbortSignal.any([turn.stopped, turn.ending]);
  for (const part of answer.parts) {
    if ("number" in part) {
      yield* writePart(at, turn, part, written);
      continue;
    }
    for (const text of wordsOf(part.text)) {
      if (turn.tokenDelayMs > 0 && !turn.ending.aborted) await pause(turn, awake);
      if (turn.stopped.aborted) return;
      yield* writePart(at, turn, { text }, written);
    }
  }
}

async function pause({ clock, tokenDelayMs }: Turn, awake: AbortSignal): Promise<void> {
  // The signals only end the pause early.
  await clock.sleep(tokenDelayMs, awake).catch(() => undefined);
}

/**
 * The packets of one turn in the order of observed-service.md 2.2, including `stop`.
 * Stores the outcome just before `stop`.
 */
export async function* runTurn(turn: Turn): AsyncGenerator<Line> {
  const started = performance.now();
  const terms = questionTerms(turn.question);
  const hits = turn.search?.(terms, turn.filters) ?? [];
  const answer = composeAnswer(terms, hits, turn.attachments, turn.search !== undefined);
  const documents = answer.documents.map((hit) => toSearchDoc(hit, offsetTime));
  const written: Written = { text: "", citations: {} };
  const store = ({ text, citations }: Written): void =>
    turn.finish({ text, citations, documents, error: null });
  let at = 0;
  yield* reasoning(at, reasoningOf(terms, turn));
  if (turn.listDocuments) yield* listing((at += 1), turn.listDocuments());
  if (turn.search) yield* searching((at += 1), turn, terms, answer.documents);
  at += 1;
  yield packet(at, "message_start", {
    final_documents: documents,
    pre_answer_processing_seconds: (performance.now() - started) / 1000,
  });
  yield* writing(at, turn, answer, written);
  if (turn.stopped.aborted) {
    store({ ...written, text: written.text + stoppedSuffix });
    yield packet(at, "stop", { stop_reason: "user_cancelled" }, null);
  } else {
    store(written);
    yield packet(at, "stop", { stop_reason: null });
  }
}
