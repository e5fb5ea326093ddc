import type { AppliedFilters } from "./turn/turn-event.ts";
import type { SearchDoc } from "../../api/chat-schemas.ts";
import type { Turn } from "./turn/answer.ts";
import type { ToolCall } from "./turn/calls.ts";
import { titleText } from "./sources.ts";

/** The filters of a question as they were sent. */
export interface AskedFilters {
  /** Member of the request that carried them. */
  member: string;
  sources: readonly string[];
  documentSets: readonly string[];
  tags: readonly (readonly [string, string])[];
  /** ISO 8601 */
  since: string | null;
  inProject: boolean;
}

/** A search of the service's own documents; whole replies name it as the tool is called. */
export function isOwnSearch({ tool, internet }: ToolCall): boolean {
  if (internet) return false;
  return tool === "search" || (/search/i.test(tool) && !/web|internet/i.test(tool));
}

const lower = (text: string): string => text.toLowerCase();

/** Where the filters that the service says it used are other ones: one sentence each. */
function deltaWarnings(asked: AskedFilters, applied: AppliedFilters): string[] {
  const warnings: string[] = [];
  const wanted = new Set(asked.sources.map(lower));
  const named = asked.sources.map(titleText).join(", ");
  const others = applied.sources.filter((source) => !wanted.has(lower(source)));
  if (wanted.size > 0 && applied.sources.length === 0) {
    warnings.push(`the search was not limited to the source asked for (${named})`);
  } else if (wanted.size > 0 && others.length > 0) {
    const took = others.map(titleText).join(", ");
    warnings.push(`the search took other sources than asked for (${named}): ${took}`);
  }
  const since = Date.parse(asked.since ?? "");
  const from = Date.parse(applied.from ?? "");
  if (!Number.isNaN(since) && !(from >= since)) {
    const began = applied.from === null ? "had no date" : `began at ${titleText(applied.from)}`;
    warnings.push(
      `the search was not limited to what is newer than ${asked.since}: its filter ${began}`,
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

/** Whether a document surely lies outside the filters; what it does not tell is believed. */
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

/** Filters of which neither the service nor every document found says whether they counted. */
function untold(
  asked: AskedFilters,
  found: readonly SearchDoc[],
  applied: readonly AppliedFilters[],
): string[] {
  const { sources, documentSets, tags, since } = asked;
  const saysNot = (tells: (document: SearchDoc) => boolean): boolean => !found.every(tells);
  // What the service says that it used has been compared already.
  const isSaid = applied.length > 0;
  return [
    ...(sources.length > 0 && !isSaid && saysNot((each) => Boolean(each.source_type))
      ? ["the source types"]
      : []),
    ...(since !== null && !isSaid && saysNot((each) => Boolean(each.updated_at))
      ? ["the time"]
      : []),
    ...(tags.length > 0 && saysNot(hasMetadata) ? ["the tags"] : []),
    ...(documentSets.length > 0 ? ["the document sets"] : []),
  ];
}

/** Begins a warning that need not be repeated for each answer of a conversation. */
export const cannotTell = "cannot tell whether the service applied";

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
    const names = untold(asked, found, applied);
    if (names.length === 0) return [];
    return [`${cannotTell} ${names.join(" and ")} asked for: the documents found do not say`];
  }
  return [
    `${outside} of ${found.length} documents found lie outside the filters: the service did not apply them (they were sent as ${asked.member}; a service of another kind ignores that name, see --dialect)`,
  ];
}

/**
 * What became of the filters otherwise than asked: no search ran, the service
 * says that it used others, or documents lie outside (observed-service.md 8,
 * rows 1 and 3). `searchTool` names the tool that searches, where it is known.
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
    return [`filters were given but no search ran: nothing limits this answer to them (${remedy})`];
  }
  const applied = searches.flatMap((call) => call.filters ?? []);
  const said = new Set(applied.flatMap((each) => deltaWarnings(asked, each)));
  const warnings = [...said, ...documentWarnings(turn, asked, searches)];
  if (asked.inProject) {
    warnings.push(
      "a project whose files are searched drops filters: they may not have counted here",
    );
  }
  return warnings;
}
