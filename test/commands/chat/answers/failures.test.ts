import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { CliError, ClosedPipeError, outputFailure } from "../../../../src/errors.ts";
import { main } from "../../../main.ts";
import { createTestContext } from "../../../support.ts";
import { sessionId } from "../../../output/chat/lines.ts";
import { type World, answer, chatPath, createWorld, rawTurn, replay } from "../support.ts";
import { failureError } from "../../../../src/commands/chat/end-failure.ts";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

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
  const reply = {
    answer: "",
    error_msg: "model gone",
    message_id: 3,
    chat_session_id: sessionId,
  };
  const world = await createWorld({
    faults: { rules: [{ when: { path: chatPath }, do: { status: 200, body: reply } }] },
  });
  const { code, stdout, stderr } = await world.run(["--no-stream", "--json", "hi"]);
  expect(code).toBe(8);
  expect(stderr).toContain("model gone");
  expect(JSON.parse(stdout)).toMatchObject({
    status: "error",
    error: { message: expect.stringContaining("model gone") },
  });
});

it.each(["$(reboot)", "a\nerror: forged"])("offer no command with the id %j", async (id) => {
  const reply = { answer: "yes", error_msg: null, message_id: 3, chat_session_id: id };
  const world = await createWorld({
    faults: { rules: [{ when: { path: chatPath }, do: { status: 200, body: reply } }] },
  });
  const { code, stdout, stderr } = await world.run(["--no-stream", "hi"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "yes\n" });
  expect(stderr).not.toMatch(/reboot|forged/);
});

it("tell a reply that is nested too deep to be read", async () => {
  const more = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
  const world = await createWorld({
    faults: {
      rules: [
        {
          when: { path: chatPath },
          do: {
            status: 200,
            headers: { "content-type": "application/json" },
            body: `{"answer":"x","more":${more}}`,
          },
        },
      ],
    },
  });
  const { code, stderr } = await world.run(["--no-stream", "hi"]);
  expect(code).toBe(8);
  expect(stderr).toContain("nested too deep");
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

it("name the command that recovers a cut answer where the service keeps sessions", async () => {
  const world = await replay(rawTurn.slice(0, -1), { dialect: "onyx" });
  const { stderr } = await world.run(["hi"]);
  expect(stderr).toContain(`knowctl sessions recover ${sessionId}`);
  // Asking further is not the next step.
  expect(stderr).not.toContain("--continue");
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
          do: {
            status: 200,
            headers: { "content-type": "text/event-stream" },
            body,
            cutAfterBytes,
          },
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
  const world = await createWorld({
    faults: { rules: [{ when: { path: chatPath }, do: fault }] },
  });
  const { code, stderr } = await world.run(["hi"]);
  expect(code).toBe(expected);
  expect(stderr).toMatch(/^error: /);
  expect(world.sandbox.ledger.requestCount).toBe(1);
});

it.each([[["--no-stream"]], [["--no-stream", "--json"]]])(
  "name the session and the way to the answer after a gateway gave up: %j",
  async (flags) => {
    const gone = { status: 504, headers: { "content-type": "text/html" }, body: "<html>" };
    const world = await createWorld({
      dialect: "onyx",
      faults: { rules: [{ when: { path: chatPath }, do: gone }] },
    });
    const { code, stdout, stderr } = await world.run([...flags, "hi"]);
    expect(code).toBe(7);
    const [, id = "none"] = /knowctl sessions recover (\S+)/.exec(stderr) ?? [];
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(stderr).toContain(`; session ${id}`);
    if (flags.length > 1) expect(JSON.parse(stdout)).toMatchObject({ sessionId: id });
  },
);

it.each([
  ["a redirect", { status: 302, headers: { location: "https://login.example.com/" } }, "baseUrl"],
  ["a web page", "html" as const, "base URL"],
])("from elsewhere, %s, are no answer to recover", async (_name, fault, hint) => {
  const world = await createWorld({
    dialect: "onyx",
    faults: { rules: [{ when: { path: chatPath }, do: fault }] },
  });
  const { code, stderr } = await world.run(["--session", sessionId, "hi"]);
  expect(code).toBe(8);
  expect(stderr).toContain(hint);
  expect(stderr).not.toContain("recover");
});

it("stop by someone else is not a complete answer", async () => {
  const stop = {
    placement: { turn_index: 9 },
    obj: { type: "stop", stop_reason: "user_cancelled" },
  };
  const world = await replay([...rawTurn.slice(0, -1), stop]);
  const { code, stdout } = await world.run(["hi"]);
  expect(code).toBe(11);
  expect(stdout).toBe(`${answer}\n`);
});

describe("--max-packet", () => {
  const long = `{"obj":{"type":"later","text":"${"x".repeat(5000)}"}}`;

  it("ends a stream with a longer line, what came before is kept", async () => {
    const world = await replay([...rawTurn.slice(0, 14), long, ...rawTurn.slice(14)]);
    const args = ["--max-packet", "4k", "--output", "ndjson", "hi"];
    const { code, stdout, stderr } = await world.run(args);
    expect(code).toBe(11);
    expect(stderr).toContain("longer than 4096 bytes (raise the limit with --max-packet)");
    expect(stdout).toContain('"type":"result","status":"incomplete","answer":"Ask your "');
    expect(world.sandbox.ledger.requestCount).toBe(1);
  });

  it("ends a reply of four times as much, in lines however short", async () => {
    const packet = { obj: { type: "message_delta", content: "x".repeat(500) } };
    const world = await replay(Array.from({ length: 9 }, () => packet));
    const { code, stderr } = await world.run(["--max-packet", "1k", "hi"]);
    expect(code).toBe(11);
    expect(stderr).toContain("--max-packet");
  });

  it("lets through what it allows", async () => {
    const world = await replay([...rawTurn.slice(0, 14), long, ...rawTurn.slice(14)]);
    expect(await world.run(["--max-packet", "6k", "hi"])).toMatchObject({ code: 0 });
  });
});

describe("an output that fails", () => {
  it.each([
    ["a reader that has gone ends the chat quietly", new ClosedPipeError(), 0, ""],
    ["a full disk is said", new CliError("local", "cannot write the output: ENOSPC"), 14, "ENOSPC"],
  ] as const)("%s", async (_name, failure, expected, said) => {
    const world = await createWorld({ tokenDelayMs: 20 });
    const context = createTestContext({ cwd: world.home, env: world.env });
    const stdout = { ...context.stdout, write: () => Promise.reject(failure) };
    const code = await main(["chat", "--live", "--show", "none", "hi"], { ...context, stdout });
    expect(code).toBe(expected);
    if (said === "") expect(context.stderrText()).toBe("");
    else expect(context.stderrText()).toContain(said);
    expect(world.sandbox.ledger.chats).toHaveLength(1);
  });

  it.each([[], ["--live"], ["--json"]])(
    "names the way to the answer that was paid for: %j",
    async (...flags: string[]) => {
      const world = await createWorld({ dialect: "onyx" });
      const context = createTestContext({ cwd: world.home, env: world.env });
      const failure = new CliError("local", "cannot write the output: ENOSPC");
      const stdout = { ...context.stdout, write: () => Promise.reject(failure) };
      const args = ["chat", ...flags, "--show", "none", "hi"];
      expect(await main(args, { ...context, stdout })).toBe(14);
      const [, id = ""] = /knowctl sessions recover (\S+)/.exec(context.stderrText()) ?? [];
      const recovered = createTestContext({ cwd: world.home, env: world.env });
      expect(await main(["sessions", "recover", id], recovered)).toBe(0);
      expect(recovered.stdoutText()).not.toBe("");
      expect(world.sandbox.ledger.chats).toHaveLength(1);
    },
  );

  it.each([["hi"], ["--batch", "q.ndjson"]])(
    "is not asked for where stdout is closed from the start: %j",
    async (...args: string[]) => {
      const world = await createWorld();
      writeFileSync(join(world.home, "q.ndjson"), '{"message":"hi"}\n');
      const context = createTestContext({ cwd: world.home, env: world.env });
      const code = await main(["chat", ...args], {
        ...context,
        stdout: { ...context.stdout, closed: outputFailure() },
      });
      expect(code).toBe(14);
      expect(context.stderrText()).toContain("stdout is closed");
      expect(world.sandbox.ledger.requestCount).toBe(0);
    },
  );
});

function fail(message: string, code: string | null = null, sessionId: string | null = null) {
  const failure = { type: "error", message, code, retryable: null } as const;
  return failureError(failure, { sessionId, hasAnswer: false });
}

describe("failureError", () => {
  it.each([
    [null, "boom", "server-error"],
    ["AUTH_ERROR", "bad vendor key", "server-error"],
    ["PERMISSION_DENIED", "vendor", "server-error"],
    ["UNAUTHENTICATED", "who?", "auth"],
    ["INSUFFICIENT_PERMISSIONS", "no", "auth"],
    ["RATE_LIMIT", "slow", "rate-limited"],
    ["RATE_LIMITED", "slow", "rate-limited"],
    ["BUDGET_EXCEEDED", "spent", "rate-limited"],
    ["NOT_FOUND", "no model", "not-found"],
    ["PERSONA_NOT_FOUND", "no agent", "not-found"],
    ["VALIDATION_ERROR", "Invalid Chat Session ID provided", "not-found"],
    ["VALIDATION_ERROR", "not on the latest mainline", "usage"],
    ["VALIDATION_ERROR", "File not found: f", "not-found"],
    ["VALIDATION_ERROR", "User does not have access to persona", "not-found"],
    ["VALIDATION_ERROR", "User does not have access to project", "not-found"],
    ["INSUFFICIENT_PERMISSIONS", "User does not have access to document sets: ['x']", "not-found"],
    ["UNKNOWN_ERROR", "Forced tool 7 not found in tools", "not-found"],
    ["EMPTY_LLM_RESPONSE", "no text", "incomplete"],
    ["MODEL_REFUSAL", "no", "usage"],
    ["CONTENT_POLICY", "no", "usage"],
    ["QUERY_REJECTED", "no", "usage"],
    ["INIT_FAILED", "could not load the tools of the agent", "server-error"],
    [null, "Forced tool 7 not found in tools", "not-found"],
    ["CONTEXT_TOO_LONG", "too long", "usage"],
    ["MODEL_ERROR", "bad chat session handling in the model", "server-error"],
    ["SERVICE_UNAVAILABLE", "down", "server-error"],
    ["GATEWAY_TIMEOUT", "late", "timeout"],
    ["constructor", "odd", "server-error"],
    ["NEW_CODE", "odd", "server-error"],
  ])("%s: %s is %s", (code, message, exit) => {
    expect(fail(message, code).exit).toBe(exit);
  });

  it.each([
    ["VALIDATION_ERROR", "User does not have access to persona", "knowctl agents list"],
    ["PERSONA_NOT_FOUND", "no agent", "knowctl agents list"],
    ["VALIDATION_ERROR", "User does not have access to project", "knowctl api user/projects"],
    [
      "INSUFFICIENT_PERMISSIONS",
      "User does not have access to document sets: ['x']",
      "knowctl api manage/document-set",
    ],
    ["UNKNOWN_ERROR", "Forced tool 7 not found in tools", "knowctl tools list"],
    ["VALIDATION_ERROR", "Invalid Chat Session ID provided", "knowctl sessions list"],
    ["NOT_FOUND", "no such run", "check the session, agent, project,"],
    ["BUDGET_EXCEEDED", "spent", "quota at the model's vendor"],
    ["MODEL_REFUSAL", "no", "is refused again"],
    ["CONTENT_POLICY", "no", "content filter"],
    ["QUERY_REJECTED", "no", "a rule of the service"],
    ["EMPTY_LLM_RESPONSE", "nothing", "asking again may help"],
    ["INIT_FAILED", "could not load the tools of the agent", "--no-tools"],
    ["BAD_REQUEST", "Invalid schema for function 'tickets'", "--no-tools"],
    ["MODEL_ERROR", "MCP server tickets is unreachable", "--no-tools"],
    ["API_ERROR", "boom", "ask again later"],
    ["INSUFFICIENT_PERMISSIONS", "no", "ask an administrator"],
    ["BAD_REQUEST", "messages.1: bad", "asking again does not help"],
    ["UNPROCESSABLE_ENTITY", "bad", "asking again does not help"],
    ["INIT_FAILED", "boom", "ask once more"],
    ["UNKNOWN_ERROR", "boom", "ask once more"],
    [null, "boom", "ask once more"],
  ])("%s: %s names what to do", (code, message, hint) => {
    expect(fail(message, code).hints[0]).toContain(hint);
  });

  it("names the model that the vendor does not have, and the flag for another", () => {
    const failure = {
      type: "error",
      message: "gone",
      code: "NOT_FOUND",
      retryable: null,
    } as const;
    const failed = { sessionId: null, hasAnswer: false };
    const error = failureError({ ...failure, vendorModel: "m-9" }, failed);
    expect([error.exit, error.hints[0]]).toEqual([
      "not-found",
      expect.stringMatching(/no model "m-9".*--model.*does not help/),
    ]);
  });

  it("says the service's own words on one bounded line, the code and the session", () => {
    const error = fail(`bad\n\u001b[31mthing ${"x".repeat(2000)}`, "MODEL_ERROR", "s-1");
    expect(error.message).toMatch(
      /^the service did not answer: bad \^\[\[31mthing x+… \(MODEL_ERROR\)$/,
    );
    expect(error.message.length).toBeLessThan(600);
    expect(error.hints).toContain("session: s-1");
  });

  it("tells an answer that broke off from none", () => {
    const failure = { type: "error", message: "boom", code: null, retryable: null } as const;
    const failed = { sessionId: null, hasAnswer: true };
    expect(failureError(failure, failed).message).toBe("the service broke off its answer: boom");
    expect(failureError(failure, { ...failed, model: "m-1" }).message).toBe(
      "m-1 broke off its answer: boom",
    );
  });

  it("has words where the service has none", () => {
    expect(fail(" ").message).toBe("the service did not answer: no reason reported");
  });
});

const session = JSON.stringify({ chat_session_id: sessionId });
const text = (content: string): string =>
  JSON.stringify({ placement: { turn_index: 0 }, obj: { type: "message_delta", content } });
const stop = '{"placement":{"turn_index":0},"obj":{"type":"stop","stop_reason":null}}';

/** A service that answers every question with these bytes. */
async function answering(body: Buffer, type = "text/event-stream"): Promise<World> {
  const server = createServer((request, response) => {
    request.resume();
    if (request.url !== chatPath) return void response.writeHead(404).end("{}");
    response.writeHead(200, { "content-type": type });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const world = await createWorld();
  const { port } = server.address() as AddressInfo;
  world.env["KNOWCTL_BASE_URL"] = `http://127.0.0.1:${port}`;
  return world;
}

/** Latin-1 for the characters below 256: `ÿ` is a byte that no text in UTF-8 has. */
const bytes = (...lines: string[]): Buffer => Buffer.from(`${lines.join("\n")}\n`, "latin1");

const damage = "the answer is damaged: 1 line of the stream could not be read";

describe("bytes that are no UTF-8", () => {
  it.each([
    ["in a text", [session, text("one"), text("b\u00ffd"), text(" two"), stop]],
    [
      "in a text of an SSE message",
      ["one", "b\u00ffd", " two"]
        .map(text)
        .concat(stop)
        .map((line) => `data: ${line}\n`),
    ],
    ["in a name of a member", [text("one"), `{"\u00e9":1}`, text(" two"), stop]],
    ["at the end of a text", [text("one"), text("b\u00c3"), text(" two"), stop]],
  ])("damage the line %s, and the others are shown", async (_name, lines) => {
    const world = await answering(bytes(...lines));
    const { code, stdout, stderr } = await world.run(["hi"]);
    expect({ code, stdout }).toEqual({ code: 11, stdout: "one two\n" });
    expect(stderr).toContain(damage);
    const json = await world.run(["--json", "hi"]);
    expect(json.code).toBe(11);
    expect(JSON.parse(json.stdout)).toMatchObject({ status: "incomplete", answer: "one two" });
  });

  it("damage a recording of them as well", async () => {
    const world = await answering(bytes(session, text("one"), text("b\u00ffd"), stop));
    expect((await world.run(["--record", "r.ndjson", "hi"])).code).toBe(11);
    const args = ["--replay", "r.ndjson", "--replay-speed", "0"];
    const { code, stdout, stderr } = await world.run(args);
    expect({ code, stdout }).toEqual({ code: 11, stdout: "one\n" });
    expect(stderr).toContain(damage);
  });

  it("damage a line in which a key is hidden", async () => {
    const world = await answering(bytes(text("one"), text("sandbox b\u00ffd"), stop));
    expect((await world.run(["hi"])).code).toBe(11);
  });

  it("in the line of the end leave the answer cut", async () => {
    const world = await answering(bytes(text("one"), `{"obj":{"type":"stop","x":"\u00ff"}}`));
    expect(await world.run(["hi"])).toMatchObject({ code: 11, stdout: "one\n" });
  });

  it.each(["text/event-stream", "application/json"])(
    "make a whole reply under %s incomplete",
    async (type) => {
      const world = await answering(bytes(`{"answer":"b\u00ffd","error_msg":null}`), type);
      const { code, stderr } = await world.run(["hi"]);
      expect(code).toBe(11);
      expect(stderr).not.toContain("another kind");
    },
  );

  it("are not those of a mark for a lost character, which a text may hold", async () => {
    const body = Buffer.from([text("one \uFFFD"), stop, ""].join("\n"));
    const world = await answering(body);
    expect(await world.run(["hi"])).toMatchObject({ code: 0, stdout: "one \uFFFD\n" });
  });
});

describe("an SSE event named error", () => {
  const event = (data: string): string => `event: error\ndata: ${data}\n`;

  it.each([
    ['{"message": "backend exploded"}', 8],
    ['{"detail": "backend exploded"}', 8],
    ['{"message": "backend exploded", "error_code": "RATE_LIMITED"}', 6],
    ["backend exploded", 8],
    ['{"error": {"message": "backend exploded"}}', 8],
  ])("is the failure of the answer: %s", async (data, exit) => {
    const lines = [`data: ${text("one")}\n`, event(data), `data: ${stop}\n`];
    const world = await answering(bytes(...lines));
    const { code, stdout, stderr } = await world.run(["hi"]);
    expect({ code, stdout }).toEqual({ code: exit, stdout: "one\n" });
    expect(stderr).toContain("the service broke off its answer: backend exploded");
    const json = await world.run(["--json", "hi"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ status: "error" });
  });

  it("is one also where nothing else comes", async () => {
    const world = await answering(bytes(event('{"message": "backend exploded"}')));
    const { code, stderr } = await world.run(["hi"]);
    expect(code).toBe(8);
    expect(stderr).toContain("backend exploded");
  });

  it("is none where its data is the packet of a failed tool", async () => {
    const failed = '{"placement":{"turn_index":0},"obj":{"type":"error"}}';
    const world = await answering(
      bytes(event(failed), `data: ${text("one")}\n`, `data: ${stop}\n`),
    );
    expect(await world.run(["hi"])).toMatchObject({ code: 0, stdout: "one\n" });
  });
});
