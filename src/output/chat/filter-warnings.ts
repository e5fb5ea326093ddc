import type { AppliedFilters } from "./turn/turn-event.ts";
import type { SearchDoc } from "../../api/chat-schemas.ts";
import type { Turn } from "./turn/answer.ts";
import type { ToolCall } from "./turn/calls.ts";
import { titleText } from "./sources.ts";

/** The filters of a question as sent. */
export interface AskedFilters {
  /** Member of the request that contains the filters. */
  member: string;
  sources: readonly string[];
  documentSets: readonly string[];
  tags: readonly (readonly [string, string])[];
  /** ISO 8601 */
  since: string | null;
  inProject: boolean;
}

/** Whether a call searched the service's documents. Non-streamed replies use the tool's own name. */
export function isOwnSearch({ tool, internet }: ToolCall): boolean {
  if (internet) return false;
  return tool === "search" || (/search/i.test(tool) && !/web|internet/i.test(tool));
}

const lower = (text: string): string => text.toLowerCase();

/** Differences between the requested filters and those that the service reports. */
function differenceWarnings(asked: AskedFilters, applied: AppliedFilters): string[] {
  const warnings: string[] = [];
  const wanted = new Set(asked.sources.map(lower));
  const named = asked.sources.map(titleText).join(", ");
  const others = applied.sources.filter((source) => !wanted.has(lower(source)));
  if (wanted.size > 0 && applied.sources.length === 0) {
    warnings.push(`the search was not limited to the requested source (${named})`);
  } else if (wanted.size > 0 && others.length > 0) {
    const used = others.map(titleText).join(", ");
    warnings.push(`the search used other sources than requested (${named}): ${used}`);
  }
  const since = Date.parse(asked.since ?? "");
  const from = Date.parse(applied.from ?? "");
  if (!Number.isNaN(since) && !(from >= since)) {
    const start = applied.from === null ? "had no date" : `started at ${titleText(applied.from)}`;
    warnings.push(
      `the search was not limited to documents newer than ${asked.since}: its filter ${start}`,
    );
  }
  return warnings;
}

function valuesOf(metadata: object, key: string): unknown[] {
  const value: unknown = Object.hasOwn(metadata, key)
    ? (metadata as Record<string, unknown>)[key]
    : undefined;
  return Array.isArray(value) ? value : [value];
}

/** Whether a document certainly does not match the filters; an absent member counts as a match. */
function isOutside(asked: AskedFilters, document: SearchDoc): boolean {
  const { source_type: source, updated_at: updated } = document;
  if (asked.sources.length > 0 && source) {
    if (!asked.sources.some((each) => lower(each) === lower(source))) return true;
  }
  if (Date.parse(updated ?? "") < Date.parse(asked.since ?? "")) return true;
  if (asked.tags.length === 0 || !hasMetadata(document)) return false;
  const metadata = document["metadata"] as object;
  return !asked.tags.some(([key, value]) => valuesOf(metadata, key).includes(value));
}

function hasMetadata({ metadata }: SearchDoc): boolean {
  return typeof metadata === "object" && metadata !== null && Object.keys(metadata).length > 0;
}

/** Filters that neither the service reports nor all found documents show. */
function unverifiedFilters(
  asked: AskedFilters,
  found: readonly SearchDoc[],
  applied: readonly AppliedFilters[],
): string[] {
  const { sources, documentSets, tags, since } = asked;
  const lacks = (has: (document: SearchDoc) => boolean): boolean => !found.every(has);
  // Filters that the service reports are compared in differenceWarnings().
  const isReported = applied.length > 0;
  return [
    ...(sources.length > 0 && !isReported && lacks((each) => Boolean(each.source_type))
      ? ["source types"]
      : []),
    ...(since !== null && !isReported && lacks((each) => Boolean(each.updated_at)) ? ["time"] : []),
    ...(tags.length > 0 && lacks(hasMetadata) ? ["tags"] : []),
    ...(documentSets.length > 0 ? ["document sets"] : []),
  ];
}

/** Start of a warning that is shown only once in a conversation. */
export const cannotTell = "cannot check whether the service applied";

function documentWarnings(
  turn: Turn,
  asked: AskedFilters,
  searches: readonly ToolCall[],
): string[] {
  const ids = new Set(searches.flatMap((call) => call.documentIds));
  const found = [...ids].flatMap((id) => turn.documents.get(id) ?? []);
  const outside = found.filter((document) => isOutside(asked, document)).length;
  if (found.length === 0) return [];
  if (outside === 0) {
    const applied = searches.flatMap((call) => call.filters ?? []);
    const names = unverifiedFilters(asked, found, applied);
    if (names.length === 0) return [];
    const filters = names.join(", ");
    return [`${cannotTell} the filters (${filters}): the found documents do not show it`];
  }
  return [
    `${outside} of ${found.length} found documents do not match the filters: the service did not apply them (sent as ${asked.member}; a service of another dialect ignores this member, see --dialect)`,
  ];
}

/**
 * Warnings about filters that were not applied: no search ran, the service reports
 * other filters, or documents do not match (observed-service.md 8, rows 1 and 3).
 * `searchTool` is the search tool, if known.
 */
export function filterWarnings(
  turn: Turn,
  asked: AskedFilters | null,
  searchTool: { id: number; name: string } | null,
): string[] {
  if (asked === null) return [];
  const searches = turn.tools.filter(isOwnSearch);
  if (searches.length === 0) {
    const remedy =
      searchTool === null
        ? "--force-tool ID makes the agent search"
        : `--force-tool ${searchTool.id} makes the agent use ${titleText(searchTool.name)}`;
    return [`filters were set but no search ran: they do not limit this answer (${remedy})`];
  }
  const applied = searches.flatMap((call) => call.filters ?? []);
  const differences = new Set(applied.flatMap((each) => differenceWarnings(asked, each)));
  const warnings = [...differences, ...documentWarnings(turn, asked, searches)];
  if (asked.inProject) {
    warnings.push("a search in the files of a project ignores filters: they may have no effect");
  }
  return warnings;
}
