import type { DocumentMatch } from "./match-document.ts";
import type { CaseMetrics, DocumentRef, RetrievedDocument } from "./result.ts";

/** A document that a case wants. */
export interface Wanted {
  document: DocumentRef;
  relevance: number;
}

/**
 * Adds to each wanted document its rank: the position among the retrieved ones, from 1; null if it
 * did not come. A retrieved document counts for one wanted document only, the most relevant; a
 * wanted one has its best rank.
 */
export function rankWanted<Each extends Wanted>(
  wanted: readonly Each[],
  retrieved: readonly RetrievedDocument[],
  matches: DocumentMatch,
): (Each & { rank: number | null })[] {
  const ranks = new Map<Each, number>();
  const open = new Set(wanted.toSorted((a, b) => b.relevance - a.relevance));
  for (const [index, each] of retrieved.entries()) {
    const found = [...open].find(({ document }) => matches(document, each));
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
 * All are null if no document is wanted. Without `k` all retrieved documents count.
 */
export function metricsOf(
  ranked: readonly { relevance: number; rank: number | null }[],
  k: number | null,
): CaseMetrics {
  if (ranked.length === 0) return { hit: null, recall: null, mrr: null, ndcg: null };
  const found = ranked.flatMap(({ relevance, rank }) =>
    rank === null || (k !== null && rank > k) ? [] : { relevance, rank },
  );
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
  wanted: readonly Wanted[],
  runs: readonly { outcome: string; retrieved: readonly RetrievedDocument[] }[],
  k: number | null,
  matches: DocumentMatch,
): CaseMetrics {
  const all = runs.map(({ outcome, retrieved }) =>
    metricsOf(rankWanted(wanted, outcome === "error" ? [] : retrieved, matches), k),
  );
  const mean = (name: (typeof metricNames)[number]): number | null => {
    if (wanted.length === 0) return null;
    const sum = all.reduce((total, metrics) => total + (metrics[name] ?? 0), 0);
    return all.length === 0 ? 0 : sum / all.length;
  };
  return { hit: mean("hit"), recall: mean("recall"), mrr: mean("mrr"), ndcg: mean("ndcg") };
}
