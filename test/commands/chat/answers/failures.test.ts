import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ClosedPipeError, CliError, outputFailure } from "../../../../src/errors.ts";
import { main } from "../../../main.ts";
import { createTestContext } from "../../../support.ts";
import { sessionId } from "../../../output/chat/lines.ts";
import { answer, chatPath, createWorld, rawTurn, replay } from "../support.ts";

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
