import type { SearchDoc } from "../../api/chat-schemas.ts";
import type { Tool } from "../../api/schemas.ts";
import { turnsOf, type Turn } from "./turn/answer.ts";
import type { AppliedFilters, ToolCall } from "./turn/chat-events.ts";
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
function filterWarnings(
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

/** Parts of a request that the service may silently ignore. */
export interface Asked {
  filters: AskedFilters | null;
  /** An unknown member of the request, and the member that this service supports instead. */
  strayFilters: { member: string; instead: string } | null;
  forcedToolId: number | undefined;
  allowedToolIds: readonly number[];
  model: { provider: string | undefined; version: string | undefined } | null;
  deepResearch: boolean;
}

/** Facts from the service's lists; null if not read or not reported. */
export interface Known {
  tools: readonly Tool[] | null;
  anonymous: boolean | null;
  providers: readonly { name: string; models: readonly string[] }[] | null;
  /** The service's name of the model of this answer. */
  model: string | null;
}

/** Names in packets that are not tools. */
const pseudoTools = new Set(["plan", "report", "agent"]);

/** Matches a call of a built-in tool of the service, by its in-code id. */
const builtInTools: Readonly<Record<string, (call: ToolCall) => boolean>> = {
  SearchTool: isOwnSearch,
  WebSearchTool: ({ tool, internet }) => internet || /web/i.test(tool),
  InternetSearchTool: ({ tool, internet }) => internet || /web|internet/i.test(tool),
  OpenURLTool: ({ tool }) => tool === "open-url",
  ImageGenerationTool: ({ tool }) => tool === "image-generation",
  PythonTool: ({ tool }) => tool === "python",
  FileReaderTool: ({ tool }) => tool === "file-reader",
  MemoryTool: ({ tool }) => tool === "memory",
  CodingAgentTool: ({ tool }) => tool === "coding-agent",
  BashTool: ({ tool }) => tool === "bash",
};

function isRunOf({ id, name, display_name: shown, in_code_tool_id: code }: Tool, call: ToolCall) {
  if (call.toolId === id || call.tool === name || call.tool === shown) return true;
  if (!code) return false;
  // A built-in tool of a later release: any call without a tool id may be one of it.
  if (!Object.hasOwn(builtInTools, code)) return call.toolId === null;
  return builtInTools[code]?.(call) === true;
}

const label = ({ id, name }: Tool): string => `${id} (${titleText(name)})`;
const maxListed = 8;

function listText(tools: readonly Tool[]): string {
  if (tools.length === 0) return "it lists none";
  const more = tools.length > maxListed ? ", …" : "";
  return `it lists ${tools.slice(0, maxListed).map(label).join(", ")}${more}`;
}

/** Warnings about requested tools that do not exist or are disabled. */
function unknownTools({ forcedToolId, allowedToolIds }: Asked, { tools }: Known): string[] {
  if (tools === null) return [];
  const warnings: string[] = [];
  const find = (id: number): Tool | undefined => tools.find((tool) => tool.id === id);
  const named = new Set([...(forcedToolId === undefined ? [] : [forcedToolId]), ...allowedToolIds]);
  for (const id of named) {
    const tool = find(id);
    if (!tool) warnings.push(`the service lists no tool ${id}: ${listText(tools)}`);
    else if (tool.enabled === false) warnings.push(`tool ${label(tool)} is disabled`);
  }
  if (allowedToolIds.length > 0 && !allowedToolIds.some(find)) {
    warnings.push("none of the tools in --tool exists: the agent has no tools");
  }
  return warnings;
}

function forcedWarnings(turn: Turn, { forcedToolId: id }: Asked, { tools }: Known): string[] {
  if (id === undefined) return [];
  const tool = tools?.find((each) => each.id === id);
  // unknownTools() reports a missing tool.
  if (tools !== null && !tool) return [];
  const ran = turn.tools.some((call) => {
    if (pseudoTools.has(call.tool)) return false;
    // Without the list, only custom tools can be identified, by their id.
    return tool ? isRunOf(tool, call) : call.toolId === null || call.toolId === id;
  });
  if (ran) return [];
  const name = tool ? `tool ${label(tool)}` : `tool ${id}`;
  return [`${name} was forced but did not run: the service can only ask some models to use it`];
}

const squeeze = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");

const nameOf = ({ provider, version }: NonNullable<Asked["model"]>): string =>
  [provider, version].flatMap((each) => (each ? [titleText(each)] : [])).join("/");

function providerWarnings({ model }: Asked, { providers, model: reported }: Known): string[] {
  if (model === null) return [];
  const { provider, version } = model;
  if (providers === null) {
    // modelWarnings() compares the reported model with the requested one.
    if (reported !== null) return [];
    return [
      `cannot check whether the service has the model ${nameOf(model)}: its providers cannot be listed`,
    ];
  }
  if (provider === undefined) {
    return [
      "a model version without a provider applies only if the agent has its own model: set both with --model PROVIDER/VERSION",
    ];
  }
  const known = providers.find((each) => each.name === provider);
  if (!known) {
    const names = providers.slice(0, maxListed).map((each) => titleText(each.name));
    const has = names.length > 0 ? `it has ${names.join(", ")}` : "it lists none";
    return [
      `the service has no model provider "${titleText(provider)}" for this key and uses its default model (${has})`,
    ];
  }
  if (version === undefined || known.models.length === 0 || known.models.includes(version))
    return [];
  const models = known.models.slice(0, maxListed).map(titleText).join(", ");
  return [`the provider ${titleText(provider)} lists no model "${titleText(version)}": ${models}`];
}

/** Warns if the model that the service reports cannot be the requested one. */
function modelWarnings(
  turn: Turn,
  { model }: Asked,
  { model: reported, providers }: Known,
): string[] {
  const used = turn.model ?? reported;
  if (model === null || used === null) return [];
  const provider = providers?.find((each) => each.name === model.provider);
  const wanted = model.version === undefined ? provider?.models : [model.version];
  const name = squeeze(used);
  const fits = (each: string): boolean =>
    name.includes(squeeze(each)) || squeeze(each).includes(name);
  if (!wanted || wanted.length === 0 || wanted.some(fits)) return [];
  return [`the model of this answer is ${titleText(used)}, not the requested ${nameOf(model)}`];
}

/** Warnings about the request that do not depend on an answer. */
export function requestWarnings(asked: Asked, known: Known): string[] {
  const warnings: string[] = [];
  if (known.anonymous === true) {
    warnings.push(
      "the service does not know this access token and treats you as anonymous, without private documents: check the token of this profile",
    );
  }
  if (asked.strayFilters) {
    const { member, instead } = asked.strayFilters;
    warnings.push(`this service ignores ${member}: send the filters as ${instead}`);
  }
  return [...warnings, ...unknownTools(asked, known), ...providerWarnings(asked, known)];
}

/** Parts of the request that the service silently did not follow (observed-service.md 8). One line each. */
export function warningsOf(turn: Turn, asked: Asked, known: Known): string[] {
  const search = known.tools?.find((tool) => tool.in_code_tool_id === "SearchTool");
  const warnings = [
    ...requestWarnings(asked, { ...known, model: turn.model ?? known.model }),
    ...new Set(
      turnsOf(turn).flatMap((each) => filterWarnings(each, asked.filters, search ?? null)),
    ),
    ...forcedWarnings(turn, asked, known),
    ...modelWarnings(turn, asked, known),
  ];
  const isResearch = ({ tool }: ToolCall): boolean => /^(?:plan|report|research-agent)$/.test(tool);
  if (asked.deepResearch && turn.stopped && !turn.tools.some(isResearch)) {
    warnings.push(
      "no deep research ran: the answer may be a counter-question or an ordinary answer",
    );
  }
  return warnings;
}
