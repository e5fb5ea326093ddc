import {
  type ChatOptions,
  checkOptions,
  formatOf,
  parametersOf,
  shownOf,
  switchOf,
  parseSince,
} from "../../../src/commands/chat/options.ts";
import { describe, expect, it } from "vitest";
import { dialects } from "../../../src/api/dialects.ts";
import type { ChatSettings } from "../../../src/config/values/schema.ts";

const now = Date.UTC(2026, 0, 31, 12, 30, 15, 250);
const { standard, onyx } = dialects;

function parameters(options: ChatOptions, settings: ChatSettings = {}) {
  return parametersOf(options, settings, standard, now);
}

describe("parametersOf", () => {
  const cases: [string, ChatOptions, object][] = [
    ["nothing", {}, {}],
    ["agent and project", { agent: 0, project: 4 }, { personaId: 0, projectId: 4 }],
    ["session and parent", { session: "s", parent: 0 }, { sessionId: "s", parentMessageId: 0 }],
    ["model", { model: "Azure/gpt/4" }, { modelProvider: "Azure", modelVersion: "gpt/4" }],
    ["provider alone", { provider: "P" }, { modelProvider: "P" }],
    ["version alone", { modelVersion: "v" }, { modelVersion: "v" }],
    ["temperature 0", { temperature: 0 }, { temperature: 0 }],
    ["tools", { tool: [1, 2], tools: true }, { allowedToolIds: [1, 2] }],
    ["no tools", { tools: false }, { allowedToolIds: [] }],
    ["forced tool", { forceTool: 7 }, { forcedToolId: 7 }],
    [
      "filters",
      { sourceType: ["web"], documentSet: ["HR"], filterTag: ["team=a=b", "x="], since: "7d" },
      {
        sourceTypes: ["web"],
        documentSets: ["HR"],
        tags: [
          ["team", "a=b"],
          ["x", ""],
        ],
        timeCutoff: "2026-01-24T12:30:15Z",
      },
    ],
    ["deep research", { deepResearch: true }, { deepResearch: true }],
  ];
  it.each(cases)("%s", (_name, options, expected) => {
    expect(parameters(options)).toEqual(expected);
  });

  it("takes the configured defaults where no flag is given", () => {
    const settings: ChatSettings = {
      personaId: 3,
      projectId: 4,
      model: "P/v",
      temperature: 0.5,
      tools: [],
      forceTool: 2,
      sourceTypes: ["web"],
      documentSets: ["HR"],
      tags: { team: "a" },
      since: "2026-01-01",
      deepResearch: true,
    };
    expect(parameters({}, settings)).toEqual({
      personaId: 3,
      projectId: 4,
      modelProvider: "P",
      modelVersion: "v",
      temperature: 0.5,
      allowedToolIds: [],
      forcedToolId: 2,
      sourceTypes: ["web"],
      documentSets: ["HR"],
      tags: [["team", "a"]],
      timeCutoff: "2026-01-01T00:00:00Z",
      deepResearch: true,
    });
    expect(
      parameters({ agent: 9, provider: "Q", tool: [1], filterTag: ["k=v"] }, settings),
    ).toMatchObject({
      personaId: 9,
      modelProvider: "Q",
      allowedToolIds: [1],
      tags: [["k", "v"]],
    });
    expect(parameters({ provider: "Q" }, settings)).not.toHaveProperty("modelVersion");
    // A session has its agent and project already.
    expect(parameters({ session: "s" }, settings)).not.toHaveProperty("personaId");
    expect(parameters({ continue: true }, settings)).not.toHaveProperty("projectId");
  });

  it.each([
    [{ model: "no-slash" }, "--model"],
    [{ model: "/v" }, "--model"],
    [{ model: "P/" }, "--model"],
    [{ filterTag: ["noequals"] }, "--filter-tag"],
    [{ filterTag: ["=v"] }, "--filter-tag"],
    [{ filterTag: ["k=a", "k=b"] }, "--filter-tag"],
    [{ since: "soon" }, "--since"],
  ] as [ChatOptions, string][])("%j is refused", (options, flag) => {
    expect(() => parameters(options)).toThrow(expect.objectContaining({ exit: "usage" }));
    expect(() => parameters(options)).toThrow(flag);
  });

  it("takes one tag key twice where the dialect can write it", () => {
    const { tags } = parametersOf({ filterTag: ["k=a", "k=b"] }, {}, onyx, now);
    expect(tags).toEqual([
      ["k", "a"],
      ["k", "b"],
    ]);
  });
});

describe("checkOptions", () => {
  it.each([
    { session: "s", continue: true },
    { session: "s", agent: 1 },
    { continue: true, agent: 1 },
    { session: "s", project: 1 },
    { session: " " },
    { tool: [1], tools: false },
    { model: "P/v", provider: "P" },
    { model: "P/v", modelVersion: "v" },
  ] satisfies ChatOptions[])("refuses %j", (options) => {
    expect(() => checkOptions(options)).toThrow(expect.objectContaining({ exit: "usage" }));
  });
});

describe("formatOf", () => {
  it.each([
    [{}, "text"],
    [{ json: true }, "json"],
    [{ output: "packets" }, "packets"],
    [{ output: "table", flagSources: { output: "env" } }, "text"],
  ] as [ChatOptions, string][])("%j is %s", (options, format) => {
    expect(formatOf(options)).toBe(format);
  });

  it.each(["table", "yaml", "toString"])("%s is refused", (output) => {
    expect(() => formatOf({ output })).toThrow(expect.objectContaining({ exit: "usage" }));
  });
});

describe("shownOf", () => {
  it.each([
    [undefined, undefined, ["reasoning", "tools", "documents"], false],
    [undefined, "none", [], false],
    [undefined, ["tools"], ["tools"], false],
    ["none", ["tools"], [], false],
    ["all", undefined, ["reasoning", "tools", "documents"], true],
    ["tools, documents", undefined, ["tools", "documents"], false],
  ] as const)("%j over %j", (flag, setting, shown, all) => {
    const result = shownOf(flag, setting === undefined ? undefined : ([setting].flat() as never));
    expect([...result.show]).toEqual(shown);
    expect(result.all).toBe(all);
  });

  it.each(["nothing", "tools,none", ""])("%j is refused", (flag) => {
    expect(() => shownOf(flag, undefined)).toThrow(expect.objectContaining({ exit: "usage" }));
  });
});

describe("switchOf", () => {
  it.each([
    [{ stream: true }, undefined, true],
    [{ stream: true }, false, false],
    [{ stream: false, flagSources: { stream: "flag" } }, true, false],
    [{ stream: true, flagSources: { stream: "env" } }, false, true],
    [{}, undefined, true],
  ] as [ChatOptions, boolean | undefined, boolean][])(
    "%j over %j is %j",
    (options, setting, on) => {
      expect(switchOf(options, "stream", setting)).toBe(on);
    },
  );
});

describe("parseSince", () => {
  it.each([
    ["2026-01-31", "2026-01-31T00:00:00Z"],
    ["2024-02-29", "2024-02-29T00:00:00Z"],
    ["2026-01-31T08:15", "2026-01-31T08:15:00Z"],
    ["2026-01-31T08:15:30.9Z", "2026-01-31T08:15:30Z"],
    ["2026-01-31T08:15:30+02:00", "2026-01-31T06:15:30Z"],
    ["2026-01-31 08:15:30-0130", "2026-01-31T09:45:30Z"],
    ["30m", "2026-01-31T12:00:15Z"],
    ["12h", "2026-01-31T00:30:15Z"],
    ["7d", "2026-01-24T12:30:15Z"],
    ["2w", "2026-01-17T12:30:15Z"],
    [" 1d ", "2026-01-30T12:30:15Z"],
  ])("%s is %s", (text, expected) => {
    expect(parseSince(text, now)).toBe(expected);
  });

  it.each([
    "",
    "soon",
    "2026-02-30",
    "2025-02-29",
    "2026-13-01",
    "2026-01-31T25:00",
    "7",
    "7y",
    "-7d",
    "999999w",
    "1e3d",
  ])("%j is refused", (text) => {
    expect(() => parseSince(text, now)).toThrow(expect.objectContaining({ exit: "usage" }));
  });
});
