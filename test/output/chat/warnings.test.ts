import { describe, expect, it } from "vitest";
import { createTurn, type Turn, createCall } from "../../../src/output/chat/turn/answer.ts";
import type { ToolCall } from "../../../src/output/chat/turn/chat-events.ts";
import {
  type AskedFilters,
  requestWarnings,
  warningsOf,
  type Asked,
  type Known,
} from "../../../src/output/chat/warnings.ts";

const nothingKnown: Known = { tools: null, anonymous: null, providers: null, model: null };
const nothingAsked: Asked = {
  filters: null,
  strayFilters: null,
  forcedToolId: undefined,
  allowedToolIds: [],
  model: null,
  deepResearch: false,
};

const filters = (over: Partial<AskedFilters> = {}): AskedFilters => ({
  member: "search_filters",
  sources: [],
  documentSets: [],
  tags: [],
  since: null,
  inProject: false,
  ...over,
});

const call = (tool: string, over: Partial<ToolCall> = {}): ToolCall => ({
  ...createCall(tool, 0),
  ...over,
});

const applied = (sources: string[], from: string | null = null): ToolCall =>
  call("search", { filters: { sources, from, to: null } });

/** A turn whose search found these documents. */
function found(...documents: object[]): Partial<Turn> {
  const listed = documents.map((each, at) => ({ document_id: `d${at}`, ...each }));
  return {
    tools: [call("search", { documentIds: listed.map((each) => each.document_id) })],
    documents: new Map(listed.map((each) => [each.document_id, each])),
  };
}

const tools: Known["tools"] = [
  { id: 1, name: "internal_search", display_name: "Search", in_code_tool_id: "SearchTool" },
  { id: 3, name: "web_search", in_code_tool_id: "WebSearchTool" },
  { id: 5, name: "novel", in_code_tool_id: "NovelTool" },
  { id: 7, name: "jira", enabled: false },
];
const providers = [
  { name: "OpenAI", models: ["gpt-4o", "o3"] },
  { name: "Local", models: [] },
];

const byFilter: [string, AskedFilters, Partial<Turn>, RegExp[]][] = [
  ["a search ran", filters({ sources: ["web"] }), { tools: [call("search")] }, []],
  [
    "documents that carry no tags",
    filters({ tags: [["team", "a"]] }),
    found({ metadata: { team: "a" } }, { metadata: {} }, {}),
    [/^cannot check whether the service applied the filters \(tags\)/],
  ],
  [
    "documents that all carry the tag",
    filters({ tags: [["t", "a"]] }),
    found({ metadata: { t: "a" } }),
    [],
  ],
  [
    "documents that tell nothing",
    filters({
      sources: ["web"],
      documentSets: ["HR"],
      tags: [["t", "a"]],
      since: "2026-01-01T00:00:00Z",
    }),
    found({}),
    [/the filters \(source types, time, tags, document sets\)/],
  ],
  [
    "documents that tell all but their sets",
    filters({ sources: ["web"], documentSets: ["HR"], since: "2026-01-01T00:00:00Z" }),
    found({ source_type: "web", updated_at: "2026-02-01T00:00:00Z" }),
    [/applied the filters \(document sets\)/],
  ],
  ["no search ran", filters({ sources: ["web"] }), {}, [/no search ran.*--force-tool ID/]],
  [
    "only a web search ran",
    filters({ sources: ["web"] }),
    { tools: [call("search", { internet: true })] },
    [/no search ran/],
  ],
  [
    "a whole reply names its search",
    filters({ since: "2026-01-01T00:00:00Z" }),
    { tools: [call("internal_search")] },
    [],
  ],
  [
    "only a web search in a whole reply",
    filters({ tags: [["a", "b"]] }),
    { tools: [call("web_search")] },
    [/no search/],
  ],
  [
    "the sources asked for",
    filters({ sources: ["Web", "file"] }),
    { tools: [applied(["web"])] },
    [],
  ],
  [
    "no source at all",
    filters({ sources: ["web"] }),
    { tools: [applied([])] },
    [/not limited to the requested source.*\(web\)/],
  ],
  [
    "another source",
    filters({ sources: ["web"] }),
    { tools: [applied(["web", "slack"])] },
    [/other sources.*: slack/],
  ],
  [
    "one of two searches",
    filters({ sources: ["web"] }),
    { tools: [applied(["web"]), applied([])] },
    [/not limited/],
  ],
  [
    "the date asked for",
    filters({ since: "2026-01-01T00:00:00Z" }),
    { tools: [applied([], "2026-01-01T00:00:00+00:00")] },
    [],
  ],
  [
    "no date",
    filters({ since: "2026-01-01T00:00:00Z" }),
    { tools: [applied([])] },
    [/newer than 2026-01-01T00:00:00Z: its filter had no date/],
  ],
  [
    "an earlier date",
    filters({ since: "2026-01-01T00:00:00Z" }),
    { tools: [applied([], "2025-01-01T00:00:00+00:00")] },
    [/started at 2025/],
  ],
  [
    "a set of documents cannot be compared",
    filters({ documentSets: ["HR"] }),
    { tools: [applied([])] },
    [],
  ],
  ["documents inside", filters({ sources: ["file"] }), found({ source_type: "file" }), []],
  [
    "documents outside",
    filters({ sources: ["web"] }),
    found({ source_type: "file" }, { source_type: "web" }),
    [/^1 of 2 found documents.*sent as search_filters/],
  ],
  [
    "documents that are too old",
    filters({ since: "2026-01-01T00:00:00Z" }),
    found({ updated_at: "2025-01-01T00:00:00Z" }, { updated_at: null }),
    [/^1 of 2/],
  ],
  [
    "documents without the tag",
    filters({
      tags: [
        ["team", "a"],
        ["team", "b"],
      ],
    }),
    found(
      { metadata: { team: ["x", "b"] } },
      { metadata: { team: "a" } },
      { metadata: {} },
      { metadata: { team: "c" } },
      { metadata: { other: "a" } },
    ),
    [/^2 of 5/],
  ],
  [
    "a project",
    filters({ sources: ["web"], inProject: true }),
    { tools: [call("search")] },
    [/project/],
  ],
];

const byRequest: [string, Partial<Asked>, Partial<Known>, Partial<Turn>, RegExp[]][] = [
  ["nothing was asked", {}, {}, {}, []],
  [
    "nothing was asked, and all is known",
    {},
    { tools, providers, anonymous: false, model: "x" },
    {},
    [],
  ],
  ["a key that nobody has", {}, { anonymous: true }, {}, [/does not know this access token/]],
  [
    "filters under another name",
    { strayFilters: { member: "search_filters", instead: "internal_search_filters" } },
    {},
    {},
    [/ignores search_filters: .*internal_search_filters/],
  ],
  ["the forced tool ran", { forcedToolId: 7 }, {}, { tools: [call("jira", { toolId: 7 })] }, []],
  [
    "another custom tool ran",
    { forcedToolId: 7 },
    {},
    { tools: [call("jira", { toolId: 8 })] },
    [/tool 7 was forced/],
  ],
  [
    "a tool without id may be the forced one",
    { forcedToolId: 7 },
    {},
    { tools: [call("search")] },
    [],
  ],
  ["no tool ran", { forcedToolId: 7 }, {}, { tools: [call("plan")] }, [/tool 7 was forced/]],
  [
    "the list says that it is another one",
    { forcedToolId: 1 },
    { tools },
    { tools: [call("search", { internet: true })] },
    [/tool 1 \(internal_search\) was forced/],
  ],
  [
    "the list says that it is the one",
    { forcedToolId: 1 },
    { tools },
    { tools: [call("search")] },
    [],
  ],
  [
    "the web search is the one",
    { forcedToolId: 3 },
    { tools },
    { tools: [call("search", { internet: true })] },
    [],
  ],
  [
    "one of a later release may be any",
    { forcedToolId: 5 },
    { tools },
    { tools: [call("telepathy")] },
    [],
  ],
  ["a whole reply names the tool", { forcedToolId: 1 }, { tools }, { tools: [call("Search")] }, []],
  [
    "a forced tool that is not listed",
    { forcedToolId: 9 },
    { tools },
    {},
    [/no tool 9: it lists 1 \(internal_search\), 3/],
  ],
  ["an allowed tool that is not listed", { allowedToolIds: [1, 9] }, { tools }, {}, [/no tool 9/]],
  [
    "allowed tools of which none is listed",
    { allowedToolIds: [9] },
    { tools: [] },
    {},
    [/no tool 9: it lists none/, /the agent has no tools/],
  ],
  [
    "a tool that is switched off",
    { allowedToolIds: [7] },
    { tools },
    {},
    [/7 \(jira\) is disabled/],
  ],
  ["a list that cannot be had", { allowedToolIds: [9] }, {}, {}, []],
  [
    "a model that is there",
    { model: { provider: "OpenAI", version: "o3" } },
    { providers },
    {},
    [],
  ],
  [
    "a provider that is not",
    { model: { provider: "openai", version: "o3" } },
    { providers },
    {},
    [/no model provider "openai".*it has OpenAI, Local/],
  ],
  [
    "a version that it does not list",
    { model: { provider: "OpenAI", version: "o9" } },
    { providers },
    {},
    [/lists no model "o9": gpt-4o, o3/],
  ],
  [
    "a provider that tells no models",
    { model: { provider: "Local", version: "o9" } },
    { providers },
    {},
    [],
  ],
  [
    "a version without provider",
    { model: { provider: undefined, version: "o3" } },
    { providers },
    {},
    [/without a provider/],
  ],
  [
    "a model of another provider",
    { model: { provider: "OpenAI", version: undefined } },
    { providers, model: "Claude" },
    {},
    [/is Claude, not the requested OpenAI/],
  ],
  [
    "a model of this provider",
    { model: { provider: "OpenAI", version: undefined } },
    { providers, model: "GPT 4o" },
    {},
    [],
  ],
  [
    "another model in the stream",
    { model: { provider: "OpenAI", version: "o3" } },
    {},
    { model: "gpt-4o" },
    [/is gpt-4o, not the requested OpenAI\/o3/],
  ],
  ["research that was none", { deepResearch: true }, {}, {}, [/no deep research ran/]],
  ["research", { deepResearch: true }, {}, { tools: [call("plan")] }, []],
];

function check(warnings: readonly string[], expected: readonly RegExp[]): void {
  expect(warnings).toHaveLength(expected.length);
  expected.forEach((pattern, index) => expect(warnings[index]).toMatch(pattern));
}

const complete = (turn: Partial<Turn>): Turn => ({
  ...createTurn(),
  answer: "x",
  stopped: true,
  ...turn,
});

describe("warningsOf filters", () => {
  it.each(byFilter)("%s", (_name, asked, turn, expected) => {
    check(warningsOf(complete(turn), { ...nothingAsked, filters: asked }, nothingKnown), expected);
  });

  it("names the tool that searches", () => {
    const asked = { ...nothingAsked, filters: filters({ sources: ["web"] }) };
    const warnings = warningsOf(complete({}), asked, { ...nothingKnown, tools });
    check(warnings, [/--force-tool 1 makes the agent use internal_search/]);
  });
});

describe("warningsOf requests", () => {
  it.each(byRequest)("%s", (_name, asked, known, turn, expected) => {
    const all = warningsOf(
      complete(turn),
      { ...nothingAsked, ...asked },
      { ...nothingKnown, ...known },
    );
    check(all, expected);
  });

  it("are told without an answer as well", () => {
    const asked = { ...nothingAsked, forcedToolId: 9, filters: filters({ sources: ["web"] }) };
    check(requestWarnings(asked, { ...nothingKnown, tools }), [/no tool 9/]);
  });
});
