import { describe, expect, it } from "vitest";
import { startTalk } from "../conversation/talking.ts";
import { packet, sessionId, start, stop, text } from "../../../output/chat/lines.ts";
import {
  type Result,
  type World,
  answer,
  chatPath,
  createWorld,
  rawTurn,
  replay,
} from "../support.ts";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSessionsWorld } from "../../sessions/support.ts";

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

describe("several models", () => {
  const session = { chat_session_id: sessionId };
  const models = {
    user_message_id: 12,
    responses: [
      { message_id: 13, model_name: "m-1" },
      { message_id: 14, model_name: "m-2" },
    ],
  };

  const line = (model: number | null, obj: object) => ({
    placement: { turn_index: 0, model_index: model },
    obj,
  });
  const start = (model: number) => line(model, { type: "message_start", final_documents: null });
  const text = (model: number, content: string) => line(model, { type: "message_delta", content });
  const stop = (model: number | null, reason: string | null = null) =>
    line(model, { type: "stop", stop_reason: reason });
  const failure = (model: number) => ({ error: "m gave up", details: { model_index: model } });

  const begun = [session, models, start(0), start(1), text(0, "One"), text(1, "Two ")];
  const both = "## m-1\n\nOne\n\n## m-2\n\nTwo begins and ends\n";

  async function ask(lines: readonly (string | object)[], ...flags: string[]): Promise<Result> {
    return (await replay(lines)).run([...flags, "hi"]);
  }

  describe("the end of one of several models", () => {
    const rest = [text(1, "begins "), text(1, "and ends")];

    it.each([
      ["its own, told twice", [stop(0), stop(0), ...rest, stop(1)]],
      ["that of a model nobody announced", [stop(0), stop(7), ...rest, stop(1)]],
      ["that of a negative number", [stop(0), stop(-1), ...rest, stop(1)]],
    ])("is no end of the others: %s", async (_name, end) => {
      for (const flags of [[], ["--live"]]) {
        expect(await ask([...begun, ...end], ...flags)).toMatchObject({ code: 0, stdout: both });
      }
    });

    it("that failed and then stops is no end of the others", async () => {
      const { code, stdout, stderr } = await ask([...begun, failure(0), stop(0), ...rest, stop(1)]);
      expect({ code, stdout }).toEqual({ code: 8, stdout: both });
      expect(stderr).toContain("m-1 broke off its answer: m gave up");
    });

    it.each([
      ["has sent its text twice ended", [stop(0), stop(0)]],
      ["goes on when the body ends", [stop(1), stop(1)]],
    ])("leaves the answer incomplete where another one %s", async (_name, end) => {
      expect((await ask([...begun, ...end])).code).toBe(11);
      const { stdout } = await ask([...begun, ...end], "--json");
      expect(JSON.parse(stdout)).toMatchObject({ status: "incomplete" });
    });

    it("that was cancelled makes the answer incomplete", async () => {
      const { code, stderr } = await ask([...begun, stop(0), stop(1, "user_cancelled")]);
      expect(code).toBe(11);
      expect(stderr).toContain("was stopped");
    });
  });

  describe("a stop without a model", () => {
    it.each([
      ["is the end of all", stop(null)],
      ["and without a placement is the end of all", { obj: { type: "stop", stop_reason: null } }],
    ])("%s", async (_name, end) => {
      const lines = [...begun, text(1, "begins and ends"), end, text(1, ", and more")];
      expect(await ask(lines)).toMatchObject({ code: 0, stdout: both });
      const { stdout } = await ask(lines, "--json");
      expect(JSON.parse(stdout)).toMatchObject({ status: "ok", answers: [{}, {}] });
    });
  });

  describe("a model that nobody announced", () => {
    const ids = { user_message_id: 12, reserved_assistant_message_id: 13 };
    const unread = { user_message_id: 12, responses: [{ message_id: "13" }, { message_id: "14" }] };
    const lines = [start(0), start(1), text(0, "One"), text(1, "Two"), stop(0), stop(1)];

    it.each([
      ["without a line of models", [session, ids, ...lines]],
      ["behind a line of models that cannot be read", [session, unread, ...lines]],
      ["beside two others", [...begun, text(2, "Three"), stop(0), stop(1)]],
      ["whose failure is told", [...begun, failure(2), stop(0), stop(1)]],
    ])("makes the answer damaged: %s", async (_name, all) => {
      const { code, stdout, stderr } = await ask(all);
      expect(code).toBe(11);
      expect(stdout).toContain("One");
      expect(stderr).toContain("the answer is damaged");
      const json = await ask(all, "--json");
      expect(JSON.parse(json.stdout)).toMatchObject({ status: "incomplete" });
    });

    it("is told also where its text comes after the end of the others", async () => {
      const late = [session, unread, start(0), text(0, "One"), stop(0), text(1, "Two"), stop(1)];
      const { code, stdout } = await ask(late);
      expect({ code, stdout }).toEqual({ code: 11, stdout: "One\n" });
    });
  });
});

describe("unknown", () => {
  const unknown = "00000000-0000-4000-8000-000000000009";
  const sessions = "knowctl sessions list";
  const agents = "knowctl agents list";
  const projects = "knowctl api user/projects";
  const sets = "knowctl api manage/document-set";
  const tools = "knowctl tools list";

  describe("what the service does not know is 9, with the command that lists it", () => {
    it("of the sandbox", async () => {
      const world = await createWorld({ dialect: "onyx" });
      for (const [flags, command] of [
        [["--session", unknown], sessions],
        [["--agent", "5"], agents],
        [["--project", "5"], projects],
        [["--document-set", "Gone"], sets],
        [["--force-tool", "99"], tools],
        [["--tool", "2", "--force-tool", "1"], tools],
        [["--no-stream", "--agent", "5"], agents],
        [["--no-stream", "--project", "5"], projects],
        [["--no-stream", "--force-tool", "99"], tools],
      ] as const) {
        const { code, stdout, stderr } = await world.run([...flags, "hi"]);
        expect({ code, stdout }, flags.join(" ")).toEqual({ code: 9, stdout: "" });
        expect(stderr).toContain(command);
        expect(stderr).not.toMatch(/permission|--dialect|base URL/);
      }
      const other = await createSessionsWorld();
      for (const args of [
        ["delete", unknown, "--yes"],
        ["rename", unknown, "x"],
        ["show", unknown],
        ["export", unknown],
        ["recover", unknown],
      ]) {
        const { code, stdout, stderr } = await other.command(["sessions", ...args]);
        expect({ code, stdout }, args[0]).toEqual({ code: 9, stdout: "" });
        expect(stderr).toContain(sessions);
      }
    });

    it.each([
      ["VALIDATION_ERROR", "Invalid Chat Session ID provided", sessions],
      ["VALIDATION_ERROR", "User does not have access to persona", agents],
      ["VALIDATION_ERROR", "User does not have access to project", projects],
      ["INSUFFICIENT_PERMISSIONS", "User does not have access to document sets: ['x']", sets],
      ["UNKNOWN_ERROR", "Forced tool 9 not found in tools", tools],
    ])("of a literal stream: %s %s", async (error_code, error, command) => {
      const line = { error, error_code, is_retryable: true, details: null, stack_trace: null };
      const world = await replay([...rawTurn.slice(0, 2), line]);
      const { code, stderr } = await world.run(["hi"]);
      expect([code, stderr]).toEqual([9, expect.stringContaining(command)]);
    });

    it.each<[string, string, number, object, string]>([
      [
        "DELETE",
        "delete-chat-session",
        400,
        { detail: "Invalid Chat Session ID provided" },
        sessions,
      ],
      [
        "PUT",
        "rename-chat-session",
        400,
        { message: "Invalid Chat Session ID provided" },
        sessions,
      ],
      [
        "POST",
        "create-chat-session",
        403,
        { detail: "User does not have access to project" },
        projects,
      ],
    ])("of a literal refusal: %s %s %i", async (method, name, status, body, command) => {
      const rules = [{ when: { path: `/api/chat/${name}` }, do: { status, body } }];
      const world = await createSessionsWorld({ faults: { rules } });
      const calls: Record<string, string[]> = {
        DELETE: ["sessions", "delete", unknown, "--yes"],
        PUT: ["sessions", "rename", unknown, "x"],
        POST: ["chat", "--no-stream", "--project", "5", "hi"],
      };
      const { code, stderr } = await world.command(calls[method]!);
      expect([code, stderr]).toEqual([9, expect.stringContaining(command)]);
    });
  });

  describe("what the caller gave is 2", () => {
    it.each([
      [400, { error_code: "INVALID_INPUT", detail: "no" }],
      [400, { message: "no" }],
      [422, { status_code: 422, message: "1 validation error: {'type': 'missing'}", data: null }],
    ])("a question that is refused with %i %j", async (status, body) => {
      const rules = [{ when: { path: chatPath }, do: { status, body } }];
      const world = await createWorld({ faults: { rules } });
      expect((await world.run(["hi"])).code).toBe(2);
    });

    it("but the web page of a proxy is no judgement of the question", async () => {
      const rules = [
        {
          when: { path: chatPath },
          do: {
            status: 400,
            headers: { "content-type": "text/html" },
            body: "<html><title>400 Bad Request</title></html>",
          },
        },
      ];
      const world = await createWorld({ faults: { rules } });
      expect((await world.run(["hi"])).code).toBe(8);
    });
  });

  it("an empty answer of the model is 11, and says that asking again may help", async () => {
    const line = { error: "Model returned nothing", error_code: "EMPTY_LLM_RESPONSE" };
    const world = await replay([...rawTurn.slice(0, 2), line]);
    const { code, stderr } = await world.run(["hi"]);
    expect([code, stderr]).toEqual([11, expect.stringContaining("asking again may help")]);
  });

  it("a whole reply of deep research names its tools by class: no warning", async () => {
    const call = { tool_name: "research_agent", tool_arguments: {}, tool_result: "" };
    const reply = { answer: "Long.", tool_calls: [call], message_id: 3, error_msg: null };
    const rules = [{ when: { path: chatPath }, do: { status: 200, body: reply } }];
    const world = await createWorld({ faults: { rules } });
    const { code, stderr } = await world.run(["--deep-research", "--no-stream", "hi"]);
    expect(code).toBe(0);
    expect(stderr).not.toContain("no deep research ran");
  });

  it("a whole reply that is refused leaves no session for `last`", async () => {
    const world = await createSessionsWorld();
    const first = await world.ask("hi");
    const { code } = await world.run(["--no-stream", "--document-set", "Gone", "hi"]);
    expect(code).toBe(2);
    const { stdout } = await world.command(["sessions", "show", "last", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ sessionId: first });
  });

  it.runIf(process.platform !== "win32").each(["answer.md", "answer.md.partial"])(
    "--save follows no link at %s",
    async (name) => {
      const world = await createWorld();
      const target = join(world.home, "precious");
      writeFileSync(target, "mine");
      symlinkSync(target, join(world.home, name));
      const { code, stderr } = await world.run(["--save", "answer.md", "hi"]);
      expect([code, stderr]).toEqual([2, expect.stringContaining("is a symbolic link")]);
      expect(readFileSync(target, "utf8")).toBe("mine");
      expect(world.sandbox.ledger.chats).toEqual([]);
    },
  );
});
