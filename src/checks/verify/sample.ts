import { hash } from "node:crypto";

/** A document that a sample may contain. */
export interface Candidate {
  id: string;
  /** Relative to the project root; undefined for a document from stdin. */
  path: string | undefined;
  /** Its upload is in doubt: the service said something unexpected, or may have skipped it. */
  isSuspect: boolean;
}

function folderOf(path: string | undefined): string {
  return path === undefined ? "" : path.slice(0, path.lastIndexOf("/") + 1);
}

const ranked = <T extends Candidate>(all: readonly T[]): T[] =>
  all
    .map((each) => ({ each, rank: hash("sha256", each.id, "hex") }))
    .toSorted((a, b) => (a.rank < b.rank ? -1 : 1))
    .map(({ each }) => each);

/**
 * Chooses `size` documents, always the same ones for the same documents: suspects first, up to a
 * third of the sample, then the other documents by turns from each folder, in the order of a hash
 * of their ids.
 */
export function chooseSample<T extends Candidate>(all: readonly T[], size: number): T[] {
  if (size >= all.length) return [...all];
  const suspects = ranked(all.filter(({ isSuspect }) => isSuspect));
  const chosen = new Set(suspects.slice(0, Math.ceil(size / 3)));
  const folders = new Map<string, T[]>();
  for (const each of ranked(all.filter((each) => !chosen.has(each)))) {
    const folder = folderOf(each.path);
    const queue = folders.get(folder);
    if (queue) queue.push(each);
    else folders.set(folder, [each]);
  }
  const queues = [...folders].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, queue]) => queue);
  for (let turn = 0; chosen.size < size; turn++) {
    for (const queue of queues) {
      const next = queue[turn];
      if (next && chosen.size < size) chosen.add(next);
    }
  }
  return [...chosen];
}

/** Words of one query: a keyword search finds every document that has any of them. */
const wordsPerQuery = 3;
const mostQueries = 3;
/** Characters of the text that are looked at. */
const mostText = 100_000;

/** How rare a word is likely to be: letters with digits most of all, then length. */
function rarity(word: string): number {
  const isCode = /\p{N}/u.test(word) && /\p{L}/u.test(word);
  return Math.min(word.length, 20) + (isCode ? 20 : 0);
}

/** The words of a text, the rarest first, as far as their letters tell. */
function wordsOf(sections: readonly string[]): string[] {
  const text = sections.join(" ").slice(0, mostText);
  return [...new Set(text.match(/[\p{L}\p{N}]{3,40}/gu))].toSorted((a, b) => rarity(b) - rarity(a));
}

/**
 * Queries that find a document by keywords, and few others: the words of its text that are likely
 * the rarest. The title alone for a text without words.
 */
export function rareQueries(title: string, sections: readonly string[]): string[] {
  const words = wordsOf(sections);
  if (words.length === 0) return title.trim() === "" ? [] : [title.trim()];
  const queries: string[] = [];
  for (let from = 0; from < words.length && queries.length < mostQueries; from += wordsPerQuery) {
    queries.push(words.slice(from, from + wordsPerQuery).join(" "));
  }
  return queries;
}

/** A shorter word may be one that searches leave out. */
const shortestRare = 6;

/**
 * Words of which each finds every document that has it, and hardly another: a search that finds
 * nothing proves that no document has the word.
 */
export function rareWords(title: string, sections: readonly string[]): string[] {
  return wordsOf([...sections, title])
    .filter((word) => rarity(word) >= shortestRare)
    .slice(0, mostQueries);
}
