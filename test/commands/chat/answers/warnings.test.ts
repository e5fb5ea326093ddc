import { describe, expect, it } from "vitest";
import { startTalk } from "../conversation/talking.ts";
import { packet, start, stop, text } from "../../../output/chat/lines.ts";
import { answer, chatPath, createWorld, rawTurn, replay, type World } from "../support.ts";

/** Puts a document into the index of an `onyx` sandbox. */
async function ingest(world: World): Promise<void> {
  const response = await fetch(`${world.sandbox.url}/api/onyx-api/ingestion`, {
    method: "POST",
    headers: { authorization: "Bearer sandbox", "content-type": "application/json" },
    body: JSON.stringify({
      document: {
        id: "wombats",
        semantic_identifier: "Wombats",
        sections: [{ text: "Wombats sleep in burrows." }],
        source: "file",
        metadata: {},
      },
      cc_pair_id: 2,
    }),
  });
  expect(response.status).toBe(200);
  await world.sandbox.idle();
}

function paths(world: World): string[] {
  return world.sandbox.ledger.requests.map(({ method, path }) => `${method} ${path}`);
}

describe("the reason of the end", () => {
  const turnOf = (reason: string | null): string[] => [
    ...rawTurn.slice(0, -1),
    packet({ type: "stop", stop_reason: reason }, 2).raw,
  ];
  const words = 'the answer may be incomplete: the service ended it with the reason "max_tokens"';

  it("is shown where nobody knows that the answer is whole", async () => {
    const world = await replay(turnOf("max_tokens"));
    const { code, stdout, stderr } = await world.run(["hi"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${answer}\n` });
    expect(stderr.split(`warning: ${words}\n`)).toHaveLength(2);
    const json = JSON.parse((await world.run(["--json", "hi"])).stdout) as unknown;
    expect(json).toMatchObject({ status: "ok", stopReason: "max_tokens", warnings: [words] });
  });

  it("is shown of a recorded answer as well", async () => {
    const world = await replay(turnOf("max_tokens"));
    await world.run(["--record", "a.ndjson", "hi"]);
    const { code, stderr } = await world.run(["--replay", "a.ndjson", "--replay-speed", "0"]);
    expect(code).toBe(0);
    expect(stderr).toContain(`warning: ${words}\n`);
  });

  it.each([null, "", "finished"])("says nothing of %j", async (reason) => {
    const { code, stderr } = await (await replay(turnOf(reason))).run(["hi"]);
    expect(code).toBe(0);
    expect(stderr).not.toContain("warning");
  });
});

describe("silent failures are said", () => {
  it("filters were given, and no search ran", async () => {
    const world = await createWorld();
    const { stderr, code } = await world.run(["--no-tools", "--source-type", "web", "hi"]);
    expect(code).toBe(0);
    expect(stderr).toContain(
      "warning: filters were set but no search ran: they do not limit this answer (--force-tool 1 makes the agent use internal_search)\n",
    );
    const calm = await world.run(["--source-type", "web", "hi"]);
    expect(calm.stderr).not.toContain("warning");
  });

  it("filters are not the ones applied: the service takes them under another name", async () => {
    const world = await createWorld({ dialect: "onyx" });
    await ingest(world);
    const env = { ...world.env, KNOWCTL_DIALECT: "standard" };
    const question = ["--source-type", "web", "--since", "2026-01-01", "wombats", "sleep"];
    const { stderr } = await world.run(question, { env });
    expect(stderr).toContain("warning: the search was not limited to the requested source (web)\n");
    expect(stderr).toContain("its filter had no date\n");
    expect(stderr).toMatch(/1 of 1 found documents do not match.*sent as search_filters/);
    const right = await world.run(question);
    expect(right.stderr).not.toContain("warning");
  });

  it("filters of a payload are under a name that the service ignores", async () => {
    const world = await createWorld({ dialect: "onyx" });
    const stdin = '{"search_filters":{"source_type":["web"]}}';
    const { stderr } = await world.run(["--payload", "-", "hi"], { stdin });
    expect(stderr).toContain(
      "warning: this service ignores search_filters: send the filters as internal_search_filters\n",
    );
  });

  it("the forced tool did not run", async () => {
    const world = await replay([...rawTurn.slice(0, 2), start().raw, text("no").raw, stop.raw]);
    const { stderr, code } = await world.run(["--force-tool", "1", "hi"]);
    expect(code).toBe(0);
    expect(stderr).toContain("warning: tool 1 (internal_search) was forced but did not run");
    const other = await replay([
      packet({ type: "custom_tool_start", tool_name: "list_documents", tool_id: 2 }).raw,
      start(1).raw,
      text("x", 1).raw,
      stop.raw,
    ]);
    expect((await other.run(["--force-tool", "2", "hi"])).stderr).not.toContain("warning");
  });

  it.each([
    ["--tool", 0],
    ["--force-tool", 2],
  ])("%s names a tool that the service does not list", async (flag, exit) => {
    const world = await createWorld();
    const { stderr, code } = await world.run([flag, "99", "hi"]);
    expect(stderr).toContain(
      "warning: the service lists no tool 99: it lists 1 (internal_search), 2 (list_documents)\n",
    );
    expect(code === 0).toBe(exit === 0);
  });

  it("the model is another one", async () => {
    const models = { First: ["m1"], Second: ["m2"] };
    const world = await createWorld({ dialect: "onyx", models });
    const unknown = await world.run(["--model", "Nobody/m9", "hi"]);
    expect(unknown.code).toBe(0);
    expect(unknown.stderr).toMatch(/no model provider "Nobody".*\(it has First, Second\)/);
    const alone = await world.run(["--model-version", "m2", "hi"]);
    expect(alone.stderr).toContain("a model version without a provider");
    const silent = await world.run(["--provider", "Second", "hi"]);
    expect(silent.stderr).toContain("the model of this answer is m1, not the requested Second\n");
    const right = await world.run(["--model", "First/m1", "hi"]);
    expect(right.stderr).not.toContain("warning");
    const json = JSON.parse((await world.run(["--provider", "First", "--json", "hi"])).stdout) as {
      model: object;
      warnings: string[];
    };
    expect(json).toMatchObject({ model: { requested: "First", reported: "m1" }, warnings: [] });
  });

  it("the key is nobody's", async () => {
    const world = await createWorld({ dialect: "onyx", anonymous: true });
    const env = { ...world.env, KNOWCTL_API_KEY: "wrong" };
    const wrong = await world.run(["hi"], { env });
    expect(wrong.code).toBe(0);
    expect(wrong.stderr).toContain("warning: the service does not know this access token");
    expect((await world.run(["hi"])).stderr).not.toContain("warning");
    const lines = (await world.run(["--output", "ndjson", "hi"], { env })).stdout.trimEnd();
    const result = JSON.parse(lines.split("\n").at(-1) ?? "") as { warnings: string[] };
    expect(result.warnings.join("; ")).toContain("access token");
  });

  it("text before a tool is not the answer", async () => {
    const world = await replay(rawTurn);
    const { stdout, stderr } = await world.run(["hi"]);
    expect(stdout).toBe(`${answer}\n`);
    expect(stderr).toContain("text before tool calls is not shown");
  });
});

describe("lists of the service that nobody should believe", () => {
  const nasty = "a\u001b]52;c;aGk=\u0007\u009b2J\u202e\n::error::x\nFORGED ##vso[x]";
  const model = { name: nasty, model_configurations: [{ name: nasty }] };
  const tool = { id: 1, name: nasty, display_name: nasty, in_code_tool_id: "SearchTool" };

  it("cannot act on the terminal or forge a line", async () => {
    const rules = [
      { when: { path: "/api/tool" }, do: { body: [tool] } },
      { when: { path: "/api/llm/provider" }, do: { body: { providers: [model] } } },
    ];
    const world = await createWorld({ dialect: "onyx", faults: { rules } });
    const env = { ...world.env, GITHUB_ACTIONS: "true" };
    const runs = [
      ["--tool", "9", "--model", "P/v"],
      ["--no-tools", "--source-type", "web"],
      ["--model", `${nasty}/x`],
    ];
    for (const flags of runs) {
      const { stderr, stdout } = await world.run([...flags, "hi"], { env });
      expect(stderr).toContain("warning: ");
      expect(stderr + stdout).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
      expect(stderr).not.toMatch(/^FORGED|^\s*::|##vso\[/m);
    }
  });
});

describe("the look-ups behind the warnings", () => {
  it("accept a provider without a name, which no question can choose", async () => {
    const nameless = { id: 2, name: null, provider: "openai", model_configurations: [] };
    const named = { id: 1, name: "Acme", model_configurations: [{ name: "large" }] };
    const body = { providers: [nameless, named] };
    const rules = [{ when: { path: "/api/llm/provider" }, do: { body } }];
    const world = await createWorld({ dialect: "onyx", faults: { rules } });
    const wrong = await world.run(["--model", "openai/large", "hi"]);
    expect(wrong.stderr).toContain('no model provider "openai" for this key');
    expect(wrong.stderr).toContain("Acme");
    const right = await world.run(["--model", "Acme/small", "hi"]);
    expect(right.stderr).toContain('the provider Acme lists no model "small": large');
  });

  it("are made only where something depends on them", async () => {
    const world = await createWorld();
    await world.run(["hi"]);
    expect(paths(world)).toEqual([`POST ${chatPath}`]);
    const onyx = await createWorld({ dialect: "onyx" });
    await onyx.run(["hi"]);
    expect(paths(onyx)).toEqual([`POST ${chatPath}`, "GET /api/me"]);
  });

  it("are made once in a conversation", async () => {
    const world = await createWorld({ dialect: "onyx", anonymous: true });
    const talk = await startTalk(world);
    await talk.enter("one");
    await talk.enter("two");
    expect(paths(world).filter((each) => each === "GET /api/me")).toHaveLength(1);
    const wrong = { ...world.env, KNOWCTL_API_KEY: "wrong" };
    const stranger = await startTalk({ ...world, env: wrong });
    expect(await stranger.enter("one")).toContain("does not know this access token");
  });

  it("that fail are tried once, and only an unchecked model is told", async () => {
    const rules = [{ when: { method: "GET" }, do: { status: 500 } }];
    const world = await createWorld({ dialect: "onyx", faults: { rules } });
    const { stderr, code } = await world.run(["--model", "P/v", "--tool", "1", "hi"]);
    expect(code).toBe(0);
    expect(stderr.match(/warning: .*/g)).toEqual([
      "warning: cannot check whether the service has the model P/v: its providers cannot be listed",
    ]);
    expect(stderr).not.toMatch(/error|Injected/);
    expect(paths(world).filter((each) => each === "GET /api/tool")).toHaveLength(1);
  });
});
