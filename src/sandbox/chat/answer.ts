import { indexText, sentencesOf, type Passage } from "../store/index/passages.ts";
import type { Hit } from "../store/index/search.ts";

/** A piece of the answer: plain text, or the marker of a cited document. */
export type AnswerPart = { text: string } | { number: number; documentId: string; link: string };

export interface Answer {
  parts: AnswerPart[];
  /** The best passage of each considered document, best first. */
  documents: Hit[];
}

/** Text of a file attached to the question. */
export interface Attachment {
  name: string;
  text: string;
}

const disclosure =
  "Extractive answer of the knowctl sandbox: sentences quoted from the documents, no language model.";
const maxSentences = 4;
const maxPerDocument = 2;
const maxDocuments = 6;

/** A crude English stem: "uploads" and "uploading" become the same word. */
function stem(word: string): string {
  const short = word.replace(/(?:ies|ing|ed|es|s|ly|e)$/, "");
  return short.length >= 3 ? short : word;
}

function stemsOf(text: string): Set<string> {
  const words = indexText(
    text
      .toLowerCase()
      .normalize("NFKD")
      .replace(/\p{Mn}/gu, ""),
  ).match(/[\p{L}\p{N}]+/gu);
  return new Set((words ?? []).map(stem));
}

/** A quoted sentence must not add citation markers. */
const withoutMarkers = (text: string): string => text.replaceAll("[[", "[ [");

interface Candidate {
  sentence: string;
  hit: Hit | undefined;
  attachment: string | undefined;
  stems: Set<string>;
  order: number;
  score: number;
}

function candidatesOf(hits: readonly Hit[], attachments: readonly Attachment[]): Candidate[] {
  const found: Candidate[] = [];
  const add = (passage: Passage, rest: Pick<Candidate, "hit" | "attachment">): void => {
    for (const sentence of sentencesOf(passage)) {
      found.push({ ...rest, sentence, stems: stemsOf(sentence), order: found.length, score: 0 });
    }
  };
  for (const { name, text } of attachments) {
    add({ heading: "", text: text.slice(0, 100_000) }, { hit: undefined, attachment: name });
  }
  for (const hit of hits) add(hit, { hit, attachment: undefined });
  return found;
}

/**
 * Scores candidates. Rare words of the question count more; words of the title and heading count a
 * little. Under a heading with most of the question, a sentence may answer without a word of it; a
 * sentence with these words itself comes first.
 */
function rate(candidates: Candidate[], terms: readonly string[]): void {
  const bestHit = Math.max(...candidates.map(({ hit }) => hit?.score ?? 0), Number.MIN_VALUE);
  const wanted = [...stemsOf(terms.join(" "))];
  const weights = wanted.map((term) => {
    const holders = candidates.filter((candidate) => candidate.stems.has(term)).length;
    return Math.log(1 + (candidates.length + 1) / (holders + 1));
  });
  const weightIn = (stems: ReadonlySet<string>): number =>
    wanted.reduce((sum, term, index) => sum + (stems.has(term) ? weights[index]! : 0), 0);
  const mostOfQuestion = weightIn(new Set(wanted)) * 0.6;
  for (const candidate of candidates) {
    const { hit, stems } = candidate;
    const above = hit ? stemsOf(`${hit.document.name} ${hit.heading}`) : new Set<string>();
    candidate.score = weightIn(stems);
    const isUnderQuestion = Boolean(hit?.heading) && weightIn(above) >= mostOfQuestion;
    if (isUnderQuestion || candidate.score > 0) {
      const others = weightIn(new Set([...above].filter((term) => !stems.has(term))));
      candidate.score += others * (isUnderQuestion ? 2 / 3 : 1 / 3);
    }
    // A short sentence is often a title and counts half; a passage that matches well counts more.
    if (candidate.sentence.length < 25) candidate.score *= 0.5;
    if (hit) candidate.score *= 1 + (0.5 * hit.score) / bestHit;
  }
}

function choose(candidates: readonly Candidate[]): Candidate[] {
  const ranked = candidates
    .filter((candidate) => candidate.score > 0)
    .toSorted((a, b) => b.score - a.score || a.order - b.order);
  const best = ranked[0]?.score ?? 0;
  const perDocument = new Map<string, number>();
  const chosen: Candidate[] = [];
  const seen = new Set<string>();
  for (const candidate of ranked) {
    if (chosen.length === maxSentences || candidate.score < best * 0.4) break;
    const key = candidate.hit?.document.id ?? `file:${candidate.attachment}`;
    const count = perDocument.get(key) ?? 0;
    if (count === maxPerDocument || seen.has(candidate.sentence)) continue;
    perDocument.set(key, count + 1);
    seen.add(candidate.sentence);
    chosen.push(candidate);
  }
  return inReadingOrder(chosen);
}

/** Sorts the best document first, and the sentences of a document in reading order. */
function inReadingOrder(chosen: readonly Candidate[]): Candidate[] {
  const originOf = ({ hit, attachment }: Candidate) => hit?.document.id ?? attachment;
  const origins = [...new Set(chosen.map(originOf))];
  return origins.flatMap((origin) =>
    chosen.filter((each) => originOf(each) === origin).toSorted((a, b) => a.order - b.order),
  );
}

function bestPerDocument(hits: readonly Hit[]): Hit[] {
  const seen = new Set<string>();
  return hits
    .filter(({ document }) => !seen.has(document.id) && seen.add(document.id))
    .slice(0, maxDocuments);
}

/**
 * Answers from ranked passages by quoting the sentences with most of the question's
 * significant words. The answer first states that no language model was involved, and
 * reports when nothing matches. `searched` is false if search was not allowed.
 */
export function composeAnswer(
  terms: readonly string[],
  hits: readonly Hit[],
  attachments: readonly Attachment[],
  searched: boolean,
): Answer {
  const documents = bestPerDocument(hits);
  const ids = new Set(documents.map(({ document }) => document.id));
  const candidates = candidatesOf(
    hits.filter(({ document }) => ids.has(document.id)).slice(0, 30),
    attachments,
  );
  rate(candidates, terms);
  const chosen = choose(candidates);
  const parts: AnswerPart[] = [{ text: `${disclosure}\n\n` }];
  if (chosen.length === 0) {
    const first = documents[0];
    if (first) {
      parts.push({ text: `The closest document is “${withoutMarkers(first.document.name)}”` });
      parts.push(
        { number: 1, ...cited(first) },
        { text: ", but no sentence of it answers the question.\n" },
      );
      return { parts, documents };
    }
    const why = searched
      ? "Nothing in the indexed documents matches this question. Upload documents, use other words, or loosen the filters."
      : "Search was not allowed for this question, so there is nothing to quote.";
    return { parts: [...parts, { text: `${why}\n` }], documents };
  }
  const numbers = new Map<string, number>();
  for (const { sentence, hit, attachment } of chosen) {
    parts.push({ text: `- ${withoutMarkers(sentence)} ` });
    if (hit) {
      const { id } = hit.document;
      if (!numbers.has(id)) numbers.set(id, numbers.size + 1);
      parts.push({ number: numbers.get(id)!, ...cited(hit) });
    } else parts.push({ text: `(attached file ${withoutMarkers(attachment ?? "")})` });
    parts.push({ text: "\n" });
  }
  return { parts, documents };
}

function cited(hit: Hit): { documentId: string; link: string } {
  return { documentId: hit.document.id, link: hit.link ?? hit.document.link ?? "" };
}
