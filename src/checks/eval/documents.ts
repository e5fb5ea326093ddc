import type { DocumentRef, RetrievedDocument, CaseMetrics } from "./result.ts";

/** How the folder and the service name documents. */
export interface DocumentNames {
  /** Ids of the documents that a file yields, as the service stores them; empty if there are none. */
  idsOfPath(path: string): readonly string[];
  /** The ids under which the service may store a document, see storedIdsOf(). */
  storedIds(id: string): readonly string[];
}

/** Whether a document that the service returned is the one that a suite names. */
export type DocumentMatch = (ref: DocumentRef, found: RetrievedDocument) => boolean;

/** A link as it is compared: as browsers write it, without the fragment unless `withFragment`. */
function comparedLink(link: string, withFragment: boolean): string {
  if (!URL.canParse(link)) return withFragment ? link : link.replace(/#.*$/s, "");
  const url = new URL(link);
  if (!withFragment) url.hash = "";
  return url.href;
}

function matchesLink(wanted: string, found: string | null): boolean {
  if (found === null) return false;
  const withFragment = wanted.includes("#");
  return comparedLink(wanted, withFragment) === comparedLink(found, withFragment);
}

/**
 * Creates the comparison of documents. A path matches the documents of its file: by the local path
 * that was found for the document, or by the id that the mapping gives to the file. An id matches as
 * written or as the service stores it. A link matches without regard to a fragment, unless the suite
 * names one.
 */
export function createDocumentMatch({ idsOfPath, storedIds }: DocumentNames): DocumentMatch {
  return (ref, { id, path, link }) => {
    if ("link" in ref) return matchesLink(ref.link, link);
    if ("id" in ref) return id !== null && (id === ref.id || storedIds(ref.id).includes(id));
    if (path === ref.path) return true;
    return id !== null && idsOfPath(ref.path).includes(id);
  };
}

/** A document of a suite as people read it. */
export function documentText(ref: DocumentRef): string {
  if ("path" in ref) return ref.path;
  return "id" in ref ? `id ${ref.id}` : ref.link;
}

/** A document that a case wants. */
interface Wanted {
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
