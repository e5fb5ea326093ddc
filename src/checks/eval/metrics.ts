import type { CaseMetrics, RetrievedDocument } from "./result.ts";
import type { DocumentRef } from "./suite.ts";

/** A document that a case names, with its local file where known. */
export interface NamedDocument {
  document: DocumentRef;
  path: string | null;
}

/** Whether a retrieved document is the one that a case names. */
export type Matches = (named: NamedDocument, retrieved: RetrievedDocument) => boolean;

export interface RankedDocument extends NamedDocument {
  relevance: number;
  /** Place among the retrieved documents, from 1; null if it did not come. */
  rank: number | null;
}

/**
 * The wanted documents with their ranks among the retrieved ones, in the order of `wanted`. The rank
 * is the position in `retrieved`, from 1; only the first `k` count, all if `k` is null. A retrieved
 * document counts for one wanted document only, the most relevant; a wanted one counts once, at
 * its best rank.
 */
export function rankWanted<Wanted extends NamedDocument & { relevance: number }>(
  wanted: readonly Wanted[],
  retrieved: readonly RetrievedDocument[],
  k: number | null,
  matches: Matches,
): (Wanted & { rank: number | null })[] {
  const ranks = new Map<Wanted, number>();
  const open = new Set(wanted.toSorted((a, b) => b.relevance - a.relevance));
  for (const [index, each] of retrieved.slice(0, k ?? undefined).entries()) {
    const found = [...open].find((candidate) => matches(candidate, each));
    if (found === undefined) continue;
    ranks.set(found, index + 1);
    open.delete(found);
  }
  return wanted.map((each) => ({ ...each, rank: ranks.get(each) ?? null }));
}

/** Discounted cumulative gain: each relevance divided by log2(rank + 1). */
function gainOf(ranked: readonly { relevance: number; rank: number }[]): number {
  return ranked.reduce((sum, { relevance, rank }) => sum + relevance / Math.log2(rank + 1), 0);
}

/**
 * The metrics of one list of documents, each from 0 to 1:
 *
 * - `hit`: 1 if at least one wanted document is among the first k, else 0;
 * - `recall`: the share of the wanted documents that are among the first k. It stays below 1 if a
 *   case wants more than k documents;
 * - `mrr`: 1 / rank of the first wanted document; 0 if none is among the first k;
 * - `ndcg`: DCG / ideal DCG. DCG is the sum of relevance / log2(rank + 1) over the wanted documents
 *   among the first k; the ideal one has the most relevant documents first, at most k of them.
 *
 * All are null if no document is wanted. A list may have fewer than k documents.
 */
export function metricsOf(
  ranked: readonly { relevance: number; rank: number | null }[],
  k: number | null,
): CaseMetrics {
  if (ranked.length === 0) return { hit: null, recall: null, mrr: null, ndcg: null };
  const found = ranked.flatMap(({ relevance, rank }) => (rank === null ? [] : { relevance, rank }));
  const ideal = ranked
    .map(({ relevance }) => relevance)
    .toSorted((a, b) => b - a)
    .slice(0, k ?? undefined)
    .map((relevance, index) => ({ relevance, rank: index + 1 }));
  const best = gainOf(ideal);
  return {
    hit: found.length > 0 ? 1 : 0,
    recall: found.length / ranked.length,
    mrr: found.length > 0 ? 1 / Math.min(...found.map(({ rank }) => rank)) : 0,
    ndcg: best > 0 ? gainOf(found) / best : 0,
  };
}

const metricNames = ["hit", "recall", "mrr", "ndcg"] as const;

/**
 * Metrics of a case: the means over its runs, so that a repeated case counts as one. A run in error
 * has 0. All are null if the case wants no document.
 */
export function caseMetrics(
  wanted: readonly (NamedDocument & { relevance: number })[],
  runs: readonly { outcome: string; retrieved: readonly RetrievedDocument[] }[],
  k: number | null,
  matches: Matches,
): CaseMetrics {
  const all = runs.map(({ outcome, retrieved }) =>
    metricsOf(rankWanted(wanted, outcome === "error" ? [] : retrieved, k, matches), k),
  );
  const mean = (name: (typeof metricNames)[number]): number | null => {
    if (wanted.length === 0) return null;
    const sum = all.reduce((total, metrics) => total + (metrics[name] ?? 0), 0);
    return all.length === 0 ? 0 : sum / all.length;
  };
  return { hit: mean("hit"), recall: mean("recall"), mrr: mean("mrr"), ndcg: mean("ndcg") };
}
