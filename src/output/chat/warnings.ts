import type { Tool } from "../../api/schemas.ts";
import { turnsOf, type Turn } from "./turn/answer.ts";
import type { ToolCall } from "./turn/calls.ts";
import { filterWarnings, isOwnSearch, type AskedFilters } from "./filter-warnings.ts";
import { titleText } from "./sources.ts";

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
