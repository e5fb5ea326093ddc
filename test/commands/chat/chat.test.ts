import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { SignalReceived } from "../../../src/context.ts";
import { main } from "../../../src/main.ts";
import { startSandbox, type Sandbox, type SandboxOptions } from "../../../src/sandbox/server.ts";
import {
  cleanEnvironment,
  createTestContext,
  temporaryFolder,
  type TestContextOptions,
} from "../../support.ts";
import { document, searchTurn, sessionId } from "../../output/chat/lines.ts";

type Environment = Record<string, string>;

interface World {
  sandbox: Sandbox;
  home: string;
  env: Environment;
  run(args: string[], options?: TestContextOptions): Promise<Result>;
  /** Body of the last question. */
  asked(): Record<string, unknown>;
}

interface Result {
  code: number;
  stdout: string;
  stderr: string;
}

async function createWorld(options: Partial<SandboxOptions> = {}): Promise<World> {
  const home = temporaryFolder();
  const sandbox = await startSandbox({
    port: 0,
    dataFolder: join(home, "sandbox"),
    key: "sandbox",
    ...options,
  });
  onTestFinished(() => sandbox.close());
  const env = cleanEnvironment(home, {
    KNOWCTL_BASE_URL: sandbox.url,
    KNOWCTL_API_KEY: "sandbox",
    KNOWCTL_DIALECT: options.dialect ?? "standard",
  });
  return {
    sandbox,
    home,
    env,
    async run(args, given = {}) {
      const context = createTestContext({ cwd: home, env, ...given });
      const code = await main(["chat", ...args], context);
      return { code, stdout: context.stdoutText(), stderr: context.stderrText() };
    },
    asked: () => sandbox.ledger.chats.at(-1) ?? expect.unreachable("nothing was asked"),
  };
}

async function upload(world: World, id: string, title: string, text: string): Promise<void> {
  const response = await fetch(`${world.sandbox.url}/api/svc-api/ingestion`, {
    method: "POST",
    headers: { authorization: "Bearer sandbox", "content-type": "application/json" },
    body: JSON.stringify({
      document: {
        id,
        semantic_identifier: title,
        sections: [{ text, link: `https://docs.example.com/${id}` }],
        source: "file",
        metadata: {},
      },
      cc_pair_id: 2,
    }),
  });
  expect(response.status).toBe(200);
  await world.sandbox.idle();
}

const chatPath = "/api/chat/send-chat-message";

/** A world whose service answers every question with these lines, as they are. */
function replay(lines: readonly (string | object)[], more: Partial<SandboxOptions> = {}) {
  const body = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n");
  return createWorld({
    ...more,
    faults: {
      rules: [
        {
          when: { path: chatPath },
          do: { status: 200, headers: { "content-type": "text/event-stream" }, body: `${body}\n` },
        },
      ],
    },
  });
}

const rawTurn = searchTurn.map((line) => line.raw);
const answer = "Ask your manager [[1]](https://docs.example.com/leave).";

describe("a question", () => {
  it("is answered from the documents with the sources named", async () => {
    const world = await createWorld();
    await upload(world, "leave", "Leave", "Request leave in the portal two weeks before it begins.");
    const { code, stdout, stderr } = await world.run(["How", "do", "I", "request", "leave?"]);
    expect(code).toBe(0);
    expect(stdout).toContain("Request leave in the portal");
    expect(stderr).toContain("Sources\n  [1] Leave  https://docs.example.com/leave\n");
    expect(world.asked()).toEqual({ message: "How do I request leave?", stream: true });
  });

  it.each(["standard", "onyx"] as const)("gives the same answer streamed and whole (%s)", async (dialect) => {
    const world = await createWorld({ dialect });
    const streamed = await world.run(["What", "is", "new?"]);
    const whole = await world.run(["--no-stream", "What", "is", "new?"]);
    expect(streamed.code).toBe(0);
    expect(whole.stdout).toBe(streamed.stdout);
    expect(world.asked()).toMatchObject({ stream: false });
  });

  it("comes from stdin, whole or as context", async () => {
    const world = await createWorld();
    await world.run([], { stdin: "piped question\n" });
    expect(world.asked()["message"]).toBe("piped question");
    await world.run(["Explain", "-"], { stdin: "the log\n" });
    expect(world.asked()["message"]).toBe("Explain\n\nthe log");
    await world.run(["--", "--force?"]);
    expect(world.asked()["message"]).toBe("--force?");
  });

  it.each([
    ["an empty stdin", [], { stdin: "" }],
    ["no message on a terminal", [], { isTTY: true }],
    ["two sessions", ["--continue", "--session", "s", "hi"], {}],
    ["an agent in a session", ["--session", "s", "--agent", "1", "hi"], {}],
    ["two models", ["--model", "P/v", "--provider", "P", "hi"], {}],
    ["one tag key twice", ["--filter-tag", "a=1", "--filter-tag", "a=2", "hi"], {}],
    ["an unknown format", ["--output", "table", "hi"], {}],
    ["an unknown kind to show", ["--show", "colours", "hi"], {}],
    ["a date that does not exist", ["--since", "2026-02-30", "hi"], {}],
    ["a temperature out of range", ["--temperature", "3", "hi"], {}],
    ["a payload that is no object", ["--payload", "-", "hi"], { stdin: "[]" }],
    ["a folder to save in that is missing", ["--save", "missing/answer.md", "hi"], {}],
    ["a file that is missing", ["--file", "missing.pdf", "hi"], {}],
  ] as [string, string[], TestContextOptions][])("is refused with exit 2: %s", async (_name, args, options) => {
    const world = await createWorld();
    const { code, stdout, stderr } = await world.run(args, options);
    expect(stderr).toContain("error: ");
    expect(code).toBe(2);
    expect(stdout).toBe("");
    expect(world.sandbox.ledger.requestCount).toBe(0);
  });
});

describe("flags on the wire", () => {
  const models = { Acme: ["large/2", "small"] };
  const cases: [string, string[], object][] = [
    ["agent", ["--agent", "0"], { chat_session_info: { persona_id: 0 } }],
    ["project", ["--project", "4"], { chat_session_info: { project_id: 4 } }],
    ["parent", ["--parent", "7"], { parent_message_id: 7 }],
    ["model", ["--model", "Acme/large/2"], { llm_override: { model_provider: "Acme", model_version: "large/2" } }],
    ["provider", ["--provider", "Acme"], { llm_override: { model_provider: "Acme" } }],
    ["model version", ["--model-version", "small"], { llm_override: { model_version: "small" } }],
    ["temperature", ["--temperature", "0"], { llm_override: { temperature: 0 } }],
    ["tools", ["--tool", "1", "--tool", "2"], { allowed_tool_ids: [1, 2] }],
    ["no tools", ["--no-tools"], { allowed_tool_ids: [] }],
    ["forced tool", ["--force-tool", "2"], { forced_tool_id: 2 }],
    ["source types", ["--source-type", "web", "--source-type", "file"], { search_filters: { source_type: ["web", "file"] } }],
    ["document sets", ["--document-set", "HR"], { search_filters: { document_set: ["HR"] } }],
    ["tags", ["--filter-tag", "team=a", "--filter-tag", "kind=b=c"], { search_filters: { tags: { team: "a", kind: "b=c" } } }],
    ["since", ["--since", "2026-01-31"], { search_filters: { time_cutoff: "2026-01-31T00:00:00Z" } }],
    ["deep research", ["--deep-research"], { deep_research: true }],
    ["no stream", ["--no-stream"], { stream: false }],
  ];
  it.each(cases)("%s", async (_name, flags, expected) => {
    const world = await createWorld({ models });
    await world.run([...flags, "hi"]);
    expect(world.asked()).toEqual({ message: "hi", stream: true, ...expected });
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
      JSON.stringify({ message: "from the file", include_citations: false, deep_research: false, stream: false }),
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

  it("takes flags from the environment", async () => {
    const world = await createWorld();
    const env = { ...world.env, KNOWCTL_SOURCE_TYPE: "web,file", KNOWCTL_NO_TOOLS: "1", KNOWCTL_OUTPUT: "table" };
    const { code } = await world.run(["hi"], { env });
    expect(code).toBe(0);
    expect(world.asked()).toMatchObject({
      allowed_tool_ids: [],
      search_filters: { source_type: ["web", "file"] },
    });
  });

  it("says once what deep research costs, but not with --quiet", async () => {
    const world = await createWorld();
    const loud = await world.run(["--deep-research", "hi"]);
    expect(loud.stderr.match(/significantly more tokens/g)).toHaveLength(1);
    const quiet = await world.run(["--quiet", "--deep-research", "hi"]);
    expect(quiet.stderr).toBe("");
  });
});

describe("files", () => {
  it.each(["standard", "onyx"] as const)("are uploaded and sent along (%s)", async (dialect) => {
    const world = await createWorld({ dialect });
    writeFileSync(join(world.home, "notes.md"), "The launch code of the toaster is crunchy.");
    const { code, stdout } = await world.run(["--file", "notes.md", "What is the launch code of the toaster?"]);
    expect(code).toBe(0);
    expect(stdout).toContain("crunchy");
    const [descriptor] = world.asked()["file_descriptors"] as Record<string, unknown>[];
    expect(descriptor).toMatchObject({ type: "plain_text", name: "notes.md" });
    // The id that the upload printed works later, too.
    const again = await world.run(["--file-id", String(descriptor?.["id"]), "What is the launch code?"]);
    expect(again.code).toBe(0);
    expect(world.asked()["file_descriptors"]).toEqual([descriptor]);
  });

  it("that are refused fail the command before anything is asked", async () => {
    const world = await createWorld();
    writeFileSync(join(world.home, "empty.txt"), "");
    const { code, stderr } = await world.run(["--file", "empty.txt", "hi"]);
    expect(code).not.toBe(0);
    expect(stderr).toContain("empty");
    expect(world.sandbox.ledger.chats).toEqual([]);
  });

  it("that the service does not know are exit 9", async () => {
    const world = await createWorld();
    const { code } = await world.run(["--file-id", "nobody-knows", "hi"]);
    expect(code).toBe(9);
    expect(world.sandbox.ledger.chats).toEqual([]);
  });
});

describe("sessions", () => {
  it("go on with --continue and --session", async () => {
    const world = await createWorld();
    const first = await world.run(["--json", "first"]);
    const { sessionId: id } = JSON.parse(first.stdout) as { sessionId: string };
    const second = await world.run(["-c", "second"]);
    expect(second.stderr).toContain(`session ${id}`);
    expect(world.asked()).toEqual({ message: "second", chat_session_id: id, stream: true });
    await world.run(["--session", id, "third"]);
    expect(world.asked()["chat_session_id"]).toBe(id);
  });

  it("are remembered per profile in a private file", async () => {
    const world = await createWorld();
    await world.run(["first"]);
    expect(statSync(join(world.home, "state", "knowctl", "sessions.json")).mode & 0o777).toBe(0o600);
  });

  it("cannot be continued where there is none", async () => {
    const world = await createWorld();
    const { code, stderr } = await world.run(["--continue", "hi"]);
    expect(code).toBe(9);
    expect(stderr).toContain("no session to continue");
  });

  it("that do not exist are exit 9", async () => {
    const world = await createWorld();
    const { code } = await world.run(["--session", "00000000-0000-4000-8000-000000000000", "hi"]);
    expect(code).toBe(9);
    // Nor is such a session the last one.
    const { stderr } = await world.run(["--continue", "hi"]);
    expect(stderr).toContain("no session to continue");
  });

  it("are a warning where they cannot be remembered", async () => {
    const world = await createWorld();
    mkdirSync(join(world.home, "state", "knowctl", "sessions.json"), { recursive: true });
    const { code, stderr } = await world.run(["hi"]);
    expect(code).toBe(0);
    expect(stderr).toContain("not remembered");
  });
});

describe("output", () => {
  it("packets gives the lines of the service and nothing else", async () => {
    const world = await replay(rawTurn);
    const { code, stdout, stderr } = await world.run(["--output", "packets", "hi"]);
    expect(code).toBe(0);
    expect(stdout).toBe(`${rawTurn.join("\n")}\n`);
    expect(stderr).toBe("");
  });

  it("json is one object", async () => {
    const world = await replay(rawTurn);
    const { stdout, stderr } = await world.run(["--json", "--model", "P/v", "hi"]);
    expect(JSON.parse(stdout)).toMatchObject({ version: 1, status: "ok", answer, sessionId, model: { requested: "P/v" } });
    expect(stderr).toBe("");
  });

  it("ndjson ends with the result, also where nothing was reached", async () => {
    const world = await createWorld();
    await world.sandbox.close();
    const { code, stdout } = await world.run(["--output", "ndjson", "hi"]);
    expect(code).toBe(5);
    expect(JSON.parse(stdout)).toMatchObject({ version: 1, type: "result", status: "error", error: { exit: "unreachable" } });
  });

  it("--save keeps the answer in a file as well", async () => {
    const world = await replay(rawTurn);
    const { stdout } = await world.run(["--save", "answer.md", "hi"]);
    expect(stdout).toBe(`${answer}\n`);
    expect(readFileSync(join(world.home, "answer.md"), "utf8")).toBe(`${answer}\n`);
  });

  it("--save leaves a file alone when the answer is cut", async () => {
    const world = await replay(rawTurn.slice(0, -1));
    writeFileSync(join(world.home, "answer.md"), "old");
    await world.run(["--save", "answer.md", "hi"]);
    expect(readFileSync(join(world.home, "answer.md"), "utf8")).toBe("old");
  });

  it("--show none and --no-sources leave only the session on stderr", async () => {
    const world = await replay(rawTurn);
    const { stderr } = await world.run(["--show", "none", "--no-sources", "hi"]);
    expect(stderr).toBe(`session ${sessionId} · go on with: knowctl chat --continue "…"\n`);
  });

  it("warns of filters that nothing searched with", async () => {
    const world = await createWorld();
    const { code, stderr } = await world.run(["--no-tools", "--source-type", "web", "hi"]);
    expect(code).toBe(0);
    expect(stderr).toContain("warning: filters were given but no search ran");
  });
});

describe("failures", () => {
  const failing = (error: object): (string | object)[] => [...rawTurn.slice(0, 2), error];

  it.each([
    [{ error: "slow down", error_code: "RATE_LIMIT", is_retryable: true }, 6],
    [{ error: "vendor key", error_code: "AUTH_ERROR" }, 8],
    [{ error: "not yours", error_code: "INSUFFICIENT_PERMISSIONS" }, 4],
    [{ error: "Invalid Chat Session ID provided", error_code: "VALIDATION_ERROR" }, 9],
    [{ error: "anything" }, 8],
  ])("in the stream end by their kind: %j", async (error, expected) => {
    const world = await replay(failing({ ...error, stack_trace: "Traceback SECRETPATH" }));
    const { code, stdout, stderr } = await world.run(["hi"]);
    expect(code).toBe(expected);
    expect(stdout).toBe("");
    expect(stderr).toContain(error.error);
    expect(stderr).toContain(sessionId);
    expect(stderr).not.toContain("SECRETPATH");
    expect(world.sandbox.ledger.requestCount).toBe(1);
  });

  it("of a whole reply are failures although HTTP says 200", async () => {
    const reply = { answer: "", error_msg: "model gone", message_id: 3, chat_session_id: sessionId };
    const world = await createWorld({
      faults: { rules: [{ when: { path: chatPath }, do: { status: 200, body: reply } }] },
    });
    const { code, stdout, stderr } = await world.run(["--no-stream", "--json", "hi"]);
    expect(code).toBe(8);
    expect(stderr).toContain("model gone");
    expect(JSON.parse(stdout)).toMatchObject({ status: "error", error: { message: expect.stringContaining("model gone") } });
  });

  it("write what was held, then say that the answer is cut and how to go on", async () => {
    const world = await replay(rawTurn.slice(0, -1));
    const { code, stdout, stderr } = await world.run(["hi"]);
    expect(code).toBe(11);
    expect(stdout).toBe(`${answer}\n`);
    expect(stderr).toMatch(/error: .*cut/);
    expect(stderr).toContain(`knowctl chat --session ${sessionId}`);
    expect(world.sandbox.ledger.requestCount).toBe(1);
    // The session is known from now on, too.
    await world.run(["-c", "again"]);
    expect(world.sandbox.ledger.requests).toHaveLength(2);
  });

  it("are told from a complete answer at every line the stream may end after", async () => {
    for (let end = 1; end < rawTurn.length; end++) {
      const world = await replay(rawTurn.slice(0, end));
      const { code, stdout } = await world.run(["--json", "hi"]);
      expect(code, `after line ${end}`).toBe(11);
      expect(JSON.parse(stdout)).toMatchObject({ status: "incomplete" });
      expect(world.sandbox.ledger.requestCount).toBe(1);
    }
  });

  it("do not ask again after a reset in the middle", async () => {
    const body = `${rawTurn.join("\n")}\n`;
    const cutAfterBytes = body.indexOf("manager");
    const world = await createWorld({
      faults: {
        rules: [
          {
            when: { path: chatPath },
            do: { status: 200, headers: { "content-type": "text/event-stream" }, body, cutAfterBytes },
          },
        ],
      },
    });
    const { code, stdout } = await world.run(["hi"]);
    expect(code).toBe(11);
    expect(stdout).toBe("Ask your \n");
    expect(world.sandbox.ledger.requestCount).toBe(1);
  });

  it.each([
    [{ status: 401, body: { detail: "no" } }, 4],
    [{ status: 404, body: { detail: "no" } }, 9],
    [{ status: 500, body: { detail: "no" } }, 8],
    ["html", 8],
    ["reset-before-store", 11],
  ] as const)("before the stream end by their kind: %j", async (fault, expected) => {
    const world = await createWorld({ faults: { rules: [{ when: { path: chatPath }, do: fault }] } });
    const { code, stderr } = await world.run(["hi"]);
    expect(code).toBe(expected);
    expect(stderr).toMatch(/^error: /);
    expect(world.sandbox.ledger.requestCount).toBe(1);
  });

  it("stop by someone else is not a complete answer", async () => {
    const stop = { placement: { turn_index: 9 }, obj: { type: "stop", stop_reason: "user_cancelled" } };
    const world = await replay([...rawTurn.slice(0, -1), stop]);
    const { code, stdout } = await world.run(["hi"]);
    expect(code).toBe(11);
    expect(stdout).toBe(`${answer}\n`);
  });
});

describe("Ctrl-C", () => {
  it.each([
    ["onyx", 1],
    ["standard", 0],
  ] as const)("keeps the text, tells the service where it can (%s), exits 130", async (dialect, stops) => {
    const world = await createWorld({ dialect, tokenDelayMs: 20 });
    const context = createTestContext({ cwd: world.home, env: world.env });
    const running = main(["chat", "--live", "--show", "none", "hi"], context);
    await vi.waitFor(() => expect(context.stdoutText()).not.toBe(""), 5000);
    const begun = performance.now();
    context.abort(new SignalReceived("SIGINT", "interrupted"));
    expect(await running).toBe(130);
    expect(performance.now() - begun).toBeLessThan(1000);
    expect(context.stdoutText()).toMatch(/^Extractive.*\n$/);
    expect(context.stderrText()).toMatch(/session [0-9a-f-]{36}/);
    const told = world.sandbox.ledger.requests.filter(({ path }) => path.includes("stop-chat-session"));
    expect(told).toHaveLength(stops);
  });

  it("writes what was held and an interrupted result", async () => {
    const world = await createWorld({ tokenDelayMs: 20 });
    const context = createTestContext({ cwd: world.home, env: world.env });
    const running = main(["chat", "--output", "ndjson", "hi"], context);
    await vi.waitFor(() => expect(context.stdoutText()).toContain('"type":"text"'), 5000);
    context.abort(new SignalReceived("SIGTERM", "terminated"));
    expect(await running).toBe(143);
    const last = context.stdoutText().trimEnd().split("\n").at(-1) ?? "";
    expect(JSON.parse(last)).toMatchObject({ type: "result", status: "interrupted", error: null });
  });
});

describe("hostile services", () => {
  it("cannot reach the terminal through any field", async () => {
    const nasty = "\u001b]52;c;aGk=\u0007\u009b2J\u202e";
    const packet = (turn: number, obj: object) => ({ placement: { turn_index: turn }, obj });
    const world = await replay([
      { chat_session_id: nasty },
      packet(0, { type: "custom_tool_start", tool_name: nasty }),
      packet(0, { type: "custom_tool_delta", tool_name: nasty, error: { message: nasty } }),
      packet(1, { type: "message_start", final_documents: [document(nasty, nasty, `https://x/${nasty}`)] }),
      packet(1, { type: "citation_info", citation_number: 1, document_id: nasty }),
      packet(1, { type: "message_delta", content: nasty }),
      { error: nasty, error_code: nasty },
    ]);
    for (const isTTY of [false, true]) {
      const { code, stdout, stderr } = await world.run(["hi"], { isTTY, env: { ...world.env, NO_COLOR: "1", TERM: "dumb" } });
      expect(code).toBe(8);
      expect(stdout + stderr).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    }
  });

  it("may send lines that are no packets", async () => {
    const world = await replay(["", ": comment", "not json", "[1,2]", '{"obj":{"type":"new_thing"}}', '{"obj":{"type":"message_delta"}}', ...rawTurn]);
    const { code, stdout } = await world.run(["hi"]);
    expect(code).toBe(0);
    expect(stdout).toBe(`${answer}\n`);
  });
});

describe("how it arrives", () => {
  it("writes once for each network chunk, as soon as it is there", async () => {
    const world = await createWorld();
    const pieces = [rawTurn.slice(0, 7), rawTurn.slice(7, 13), rawTurn.slice(13, 15), rawTurn.slice(15)];
    // The next piece is sent when the text of the last one has been written.
    let sendNext = (): void => {};
    const server = createServer((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      sendNext = () => {
        const piece = pieces.shift();
        if (piece) response.write(`${piece.join("\n")}\n`);
      };
      sendNext();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const env = { ...world.env, KNOWCTL_BASE_URL: `http://127.0.0.1:${port}` };
    const context = createTestContext({ cwd: world.home, env });
    const writes: string[] = [];
    const stdout = {
      ...context.stdout,
      async write(part: string) {
        if (part === "") return;
        writes.push(part);
        if (part !== "\n") sendNext();
      },
    };
    expect(await main(["chat", "--live", "hi"], { ...context, stdout })).toBe(0);
    expect(writes).toEqual([
      "Let me look that up.",
      "\n",
      "Ask your ",
      "manager [[1]](https://docs.example.com/leave).",
      "\n",
    ]);
  });
});
