import type { Tool } from "../../api/schemas.ts";
import { turnsOf, type Turn } from "./turn/answer.ts";
import type { ToolCall } from "./turn/calls.ts";
import { filterWarnings, isOwnSearch, type AskedFilters } from "./filter-warnings.ts";
import { titleText } from "./sources.ts";

/** What was asked for and can be ignored by the service without an error. */
export interface Asked {
  filters: AskedFilters | null;
  /** A member of the request that this service does not know, and the one that it knows. */
  strayFilters: { member: string; instead: string } | null;
  forcedToolId: number | undefined;
  allowedToolIds: readonly number[];
  model: { provider: string | undefined; version: string | undefined } | null;
  deepResearch: boolean;
}

/** What the service's lists say; null where they were not read or it does not tell. */
export interface Known {
  tools: readonly Tool[] | null;
  anonymous: boolean | null;
  providers: readonly { name: string; models: readonly string[] }[] | null;
  /** What the service calls the model of this answer. */
  model: string | null;
}

export const nothingKnown: Known = { tools: null, anonymous: null, providers: null, model: null };

const noTools = new Set(["plan", "report", "agent"]);

/** How packets name the tools that the service brings itself, by the id in its code. */
const ownTools: Readonly<Record<string, (call: ToolCall) => boolean>> = {
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
  // One of a later release: what has no id of its own may be it.
  return Object.hasOwn(ownTools, code) ? ownTools[code]?.(call) === true : call.toolId === null;
}

const label = ({ id, name }: Tool): string => `${id} (${titleText(name)})`;
const mostListed = 8;

function listed(tools: readonly Tool[]): string {
  if (tools.length === 0) return "it lists none";
  const more = tools.length > mostListed ? ", …" : "";
  return `it lists ${tools.slice(0, mostListed).map(label).join(", ")}${more}`;
}

/** Tools that are named and not there: known before the answer. */
function unknownTools({ forcedToolId, allowedToolIds }: Asked, { tools }: Known): string[] {
  if (tools === null) return [];
  const warnings: string[] = [];
  const find = (id: number): Tool | undefined => tools.find((tool) => tool.id === id);
  const named = new Set([...(forcedToolId === undefined ? [] : [forcedToolId]), ...allowedToolIds]);
  for (const id of named) {
    const tool = find(id);
    if (!tool) warnings.push(`the service lists no tool ${id}: ${listed(tools)}`);
    else if (tool.enabled === false) warnings.push(`tool ${label(tool)} is switched off`);
  }
  if (allowedToolIds.length > 0 && !allowedToolIds.some(find)) {
    warnings.push("of the tools that --tool allows none exists: the agent has no tool at all");
  }
  return warnings;
}

function forcedWarnings(turn: Turn, { forcedToolId: id }: Asked, { tools }: Known): string[] {
  if (id === undefined) return [];
  const tool = tools?.find((each) => each.id === id);
  // That it is not there is said already.
  if (tools !== null && !tool) return [];
  const ran = turn.tools.some((call) => {
    if (noTools.has(call.tool)) return false;
    // Without the list only custom tools say which one they are.
    return tool ? isRunOf(tool, call) : call.toolId === null || call.toolId === id;
  });
  if (ran) return [];
  const name = tool ? `tool ${label(tool)}` : `tool ${id}`;
  return [`${name} was forced but did not run: some models are only asked to use it`];
}

const squeeze = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");

const nameOf = ({ provider, version }: NonNullable<Asked["model"]>): string =>
  [provider, version].flatMap((each) => (each ? [titleText(each)] : [])).join("/");

function providerWarnings({ model }: Asked, { providers, model: told }: Known): string[] {
  if (model === null) return [];
  const { provider, version } = model;
  if (providers === null) {
    // The answer names its model, which is compared with the one asked for.
    if (told !== null) return [];
    return [
      `whether the service has the model ${nameOf(model)} could not be checked: its providers cannot be listed`,
    ];
  }
  if (provider === undefined) {
    return [
      "a model version without its provider counts only where the agent has a model of its own: name both with --model PROVIDER/VERSION",
    ];
  }
  const known = providers.find((each) => each.name === provider);
  if (!known) {
    const names = providers.slice(0, mostListed).map((each) => titleText(each.name));
    const has = names.length > 0 ? `it has ${names.join(", ")}` : "it shows none";
    return [
      `the service has no model provider "${titleText(provider)}" for this key and answers with its default model (${has})`,
    ];
  }
  if (version === undefined || known.models.length === 0 || known.models.includes(version))
    return [];
  const models = known.models.slice(0, mostListed).map(titleText).join(", ");
  return [`the provider ${titleText(provider)} lists no model "${titleText(version)}": ${models}`];
}

/** The service's own name of the model, where it cannot be the one asked for. */
function modelWarnings(turn: Turn, { model }: Asked, { model: told, providers }: Known): string[] {
  const used = turn.model ?? told;
  if (model === null || used === null) return [];
  const provider = providers?.find((each) => each.name === model.provider);
  const wanted = model.version === undefined ? provider?.models : [model.version];
  const name = squeeze(used);
  const fits = (each: string): boolean =>
    name.includes(squeeze(each)) || squeeze(each).includes(name);
  if (!wanted || wanted.length === 0 || wanted.some(fits)) return [];
  return [`the model of this answer is ${titleText(used)}, asked for was ${nameOf(model)}`];
}

/** What is otherwise than asked whatever the answer is, also where there is none. */
export function requestWarnings(asked: Asked, known: Known): string[] {
  const warnings: string[] = [];
  if (known.anonymous === true) {
    warnings.push(
      "the service does not know this access token and answers as it does to anyone, without private documents: check the token of this profile",
    );
  }
  if (asked.strayFilters) {
    const { member, instead } = asked.strayFilters;
    warnings.push(`this service ignores ${member}: its name for the filters is ${instead}`);
  }
  return [...warnings, ...unknownTools(asked, known), ...providerWarnings(asked, known)];
}

/** What silently went otherwise than asked (observed-service.md 8). One line each. */
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
  const isResearch = (call: ToolCall): boolean =>
    /^(?:plan|report|research-agent)$/.test(call.tool);
  if (asked.deepResearch && turn.stopped && !turn.tools.some(isResearch)) {
    warnings.push("no research was done: the answer may be a question back, or an ordinary one");
  }
  return warnings;
}
