import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createWorld } from "./support.ts";

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
  it.each(cases)("%s", async (_name, flags, expected) => {
    const world = await createWorld({ models });
    await world.run([...flags, "hi"]);
    expect(world.asked()).toEqual({ message: "hi", stream: true, ...expected });
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
