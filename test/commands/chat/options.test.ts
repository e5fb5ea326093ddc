import {
  type ChatOptions,
  checkOptions,
  formatOf,
  parametersOf,
  parseSince,
  shownOf,
  switchOf,
} from "../../../src/commands/chat/options.ts";
import { describe, expect, it } from "vitest";
import { dialects } from "../../../src/api/dialects.ts";
import type { ChatSettings } from "../../../src/config/values/schema.ts";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { answer, createWorld, rawTurn, replay } from "./support.ts";
import { sessionId } from "../../output/chat/lines.ts";

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
  ] as [ChatOptions, string][])("%j is %s", (options, format) => {
    expect(formatOf(options)).toBe(format);
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

  it.each([
    [24, true, []],
    [25, true, ["reasoning", "tools", "documents"]],
    [24, false, ["reasoning", "tools", "documents"]],
  ])("is by default, with %i rows and a terminal: %j, %j", (rows, isTerminal, shown) => {
    expect([...shownOf(undefined, undefined, { rows: () => rows, isTerminal }).show]).toEqual(
      shown,
    );
  });

  it("is what the flag or the configuration says, also on a small terminal", () => {
    const small = { rows: () => 10, isTerminal: true };
    expect([...shownOf("tools", undefined, small).show]).toEqual(["tools"]);
    expect([...shownOf(undefined, ["tools"], small).show]).toEqual(["tools"]);
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

describe("flags on the wire", () => {
  const models = { Acme: ["large/2", "small"] };
  const cases: [string, string[], object][] = [
    ["agent", ["--agent", "0"], { chat_session_info: { persona_id: 0 } }],
    ["project", ["--project", "4"], { chat_session_info: { project_id: 4 } }],
    ["parent", ["--parent", "7"], { parent_message_id: 7 }],
    [
      "model",
      ["--model", "Acme/large/2"],
      { llm_override: { model_provider: "Acme", model_version: "large/2" } },
    ],
    ["provider", ["--provider", "Acme"], { llm_override: { model_provider: "Acme" } }],
    ["model version", ["--model-version", "small"], { llm_override: { model_version: "small" } }],
    ["temperature", ["--temperature", "0"], { llm_override: { temperature: 0 } }],
    ["tools", ["--tool", "1", "--tool", "2"], { allowed_tool_ids: [1, 2] }],
    ["no tools", ["--no-tools"], { allowed_tool_ids: [] }],
    ["forced tool", ["--force-tool", "2"], { forced_tool_id: 2 }],
    [
      "source types",
      ["--source-type", "web", "--source-type", "file"],
      { search_filters: { source_type: ["web", "file"] } },
    ],
    ["document sets", ["--document-set", "HR"], { search_filters: { document_set: ["HR"] } }],
    [
      "tags",
      ["--filter-tag", "team=a", "--filter-tag", "kind=b=c"],
      { search_filters: { tags: { team: "a", kind: "b=c" } } },
    ],
    [
      "since",
      ["--since", "2026-01-31"],
      { search_filters: { time_cutoff: "2026-01-31T00:00:00Z" } },
    ],
    ["deep research", ["--deep-research"], { deep_research: true }],
    ["no stream", ["--no-stream"], { stream: false }],
  ];
  it("say what they are told to", async () => {
    const world = await createWorld({ models });
    for (const [name, flags, expected] of cases) {
      await world.run([...flags, "hi"]);
      expect(world.asked(), name).toEqual({ message: "hi", stream: true, ...expected });
    }
  });

  it("a source that the service does not know is named with the nearest ones", async () => {
    const world = await createWorld({ dialect: "onyx" });
    const { code, stderr } = await world.run(["--source-type", "conflunce", "hi"]);
    expect(code).toBe(2);
    expect(stderr).toContain('source_type.0: "conflunce" is unknown; the nearest of');
    expect(stderr).toContain("valid names: confluence, ");
  });

  it("writes tags as a list where the dialect wants it", async () => {
    const world = await createWorld({ dialect: "onyx" });
    await world.run(["--filter-tag", "a=1", "--filter-tag", "a=2", "hi"]);
    expect(world.asked()["internal_search_filters"]).toEqual({
      tags: [
        { tag_key: "a", tag_value: "1" },
        { tag_key: "a", tag_value: "2" },
      ],
    });
  });

  it("merges a payload last, message and mode included", async () => {
    const world = await createWorld();
    writeFileSync(
      join(world.home, "payload.json"),
      JSON.stringify({
        message: "from the file",
        include_citations: false,
        deep_research: false,
        stream: false,
      }),
    );
    const { code } = await world.run(["--payload", "payload.json", "--deep-research"]);
    expect(code).toBe(0);
    expect(world.asked()).toEqual({
      message: "from the file",
      include_citations: false,
      deep_research: false,
      stream: false,
    });
    await world.run(["--payload", "-", "hi"], { stdin: '{"origin":"api"}' });
    expect(world.asked()).toEqual({ message: "hi", origin: "api", stream: true });
  });

  it("takes the configured defaults under the flags", async () => {
    const world = await createWorld();
    mkdirSync(join(world.home, "config", "knowctl"), { recursive: true });
    writeFileSync(
      join(world.home, "config", "knowctl", "config.json"),
      JSON.stringify({ chat: { personaId: 3, temperature: 0.5, tools: [1], stream: false } }),
      { mode: 0o600 },
    );
    await world.run(["--agent", "0", "hi"]);
    expect(world.asked()).toEqual({
      message: "hi",
      chat_session_info: { persona_id: 0 },
      llm_override: { temperature: 0.5 },
      allowed_tool_ids: [1],
      stream: false,
    });
  });

  it("takes no format of lists from the environment", async () => {
    const world = await createWorld();
    const { code, stdout } = await world.run(["hi"], {
      env: { ...world.env, KNOWCTL_OUTPUT: "table" },
    });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/\S/) });
  });

  it("says once what deep research costs, but not with --quiet", async () => {
    const world = await createWorld();
    const loud = await world.run(["--deep-research", "hi"]);
    expect(loud.stderr.match(/significantly more tokens/g)).toHaveLength(1);
    const quiet = await world.run(["--quiet", "--deep-research", "hi"]);
    expect(quiet.stderr).not.toContain("tokens");
  });
});

describe("--jq and --fields", () => {
  it("pick from the result, also of a recorded turn", async () => {
    const world = await replay(rawTurn);
    await world.run(["--record", "r.ndjson", "hi"]);
    const none = '{\n  "status": "ok",\n  "model": {\n    "requested": null\n  }\n}\n';
    for (const [flags, stdout] of [
      [["--json", "--jq", ".answer"], `${answer}\n`],
      [["--jq", ".answer"], `${answer}\n`],
      [["-o", "json", "--jq", ".citations[0].number"], "1\n"],
      [["--fields", "status,model.requested"], none],
      [["--fields", "sessionId", "--jq", ".sessionId"], `${sessionId}\n`],
    ] as const) {
      expect(await world.run([...flags, "hi"])).toMatchObject({ code: 0, stdout });
      const again = ["--replay", "r.ndjson", "--replay-speed", "0", ...flags];
      expect(await world.run(again)).toMatchObject({ code: 0, stdout });
    }
  });

  it("keep the exit code of the answer", async () => {
    const world = await replay(rawTurn.slice(0, -1));
    const { code, stdout } = await world.run(["--jq", ".status", "hi"]);
    expect({ code, stdout }).toEqual({ code: 11, stdout: "incomplete\n" });
  });
});

describe("a flag without effect", () => {
  const cases: [string, string[]][] = [
    ["--filter", ["--filter", "a=b", "hi"]],
    ["--jq for text", ["-o", "text", "--jq", ".answer", "hi"]],
    ["--jq for ndjson", ["-o", "ndjson", "--jq", ".answer", "hi"]],
    ["--fields for packets", ["-o", "packets", "--fields", "answer", "hi"]],
    ["--json beside another format", ["--json", "-o", "text", "hi"]],
    ["--jq that cannot be read", ["--jq", ".answer |", "hi"]],
    ["--fields that are none", ["--fields", "answr", "hi"]],
    ["--live for json", ["--json", "--live", "hi"]],
    ["--render for json", ["--json", "--render", "markdown", "hi"]],
    ["--show for ndjson", ["-o", "ndjson", "--show", "all", "hi"]],
    ["--no-sources for json", ["--json", "--no-sources", "hi"]],
    ["--no-sources for ndjson", ["-o", "ndjson", "--no-sources", "hi"]],
    ["--no-sources for packets", ["-o", "packets", "--no-sources", "hi"]],
    ["--no-sources for --jq", ["--jq", ".answer", "--no-sources", "hi"]],
    ["--live with --no-stream", ["--no-stream", "--live", "hi"]],
    ["--live with chat.stream false", ["--config", "c.json", "--live", "hi"]],
    ["--live with a payload that asks for no stream", ["--payload", "s.json", "--live", "hi"]],
    ["--concurrency without --batch", ["--concurrency", "2", "hi"]],
    ["--resume without --batch", ["--resume", "q.ndjson", "hi"]],
    ["--no-reask without --resume", ["--no-reask", "hi"]],
    ["--force without --record", ["--force", "hi"]],
    ["--replay-speed without --replay", ["--replay-speed", "2", "hi"]],
    ["--agent beside a session in the payload", ["--agent", "0", "--payload", "p.json", "hi"]],
    ["--session beside one in the payload", ["--session", sessionId, "--payload", "p.json", "hi"]],
    ...["--json", "--force", "--jq=.", "--fields=a", "--filter=a=b", "--show=none"].map(
      (flag): [string, string[]] => [`${flag} with --batch`, ["--batch", "q.ndjson", flag]],
    ),
    ...["--agent=0", "--model=a/b", "--since=7d", "--no-tools", "--no-stream"].map(
      (flag): [string, string[]] => [`${flag} with --replay`, ["--replay", "r.ndjson", flag]],
    ),
  ];

  it("is refused before anything is sent", async () => {
    const world = await createWorld();
    writeFileSync(join(world.home, "p.json"), JSON.stringify({ chat_session_id: sessionId }));
    writeFileSync(join(world.home, "s.json"), '{"stream":false}');
    writeFileSync(join(world.home, "c.json"), '{"chat":{"stream":false}}');
    writeFileSync(join(world.home, "q.ndjson"), '{"message":"hi"}\n');
    await world.run(["--record", "r.ndjson", "hi"]);
    world.sandbox.ledger.chats.length = 0;
    for (const [name, args] of cases) expect((await world.run(args)).code, name).toBe(2);
    expect(world.sandbox.ledger.chats).toEqual([]);
  });

  it("yields quietly where a configuration asks for it", async () => {
    const world = await replay(rawTurn);
    writeFileSync(join(world.home, "c.json"), '{"chat":{"sources":false,"live":true}}');
    for (const flags of [["--json"], ["--no-stream"], ["-o", "ndjson"]]) {
      const { code, stderr } = await world.run(["--config", "c.json", ...flags, "hi"]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining("error") });
    }
  });
});
