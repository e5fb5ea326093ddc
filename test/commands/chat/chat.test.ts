import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  type TestContext,
  type TestContextOptions,
  createTestContext,
  temporaryFolder,
} from "../../support.ts";
import { createWorld, upload } from "./support.ts";
import { SignalReceived } from "../../../src/context.ts";
import { main } from "../../main.ts";
import { heldClock } from "../../held-clock.ts";
import { patienceMs } from "../../patience.ts";
import { Readable } from "node:stream";
import { planMessage, readMessage, readPayload } from "../../../src/commands/chat/message.ts";

describe("a question", () => {
  it("is answered from the documents with the sources named", async () => {
    const world = await createWorld();
    await upload(
      world,
      "leave",
      "Leave",
      "Request leave in the portal two weeks before it begins.",
    );
    const { code, stdout, stderr } = await world.run(["How", "do", "I", "request", "leave?"]);
    expect(code).toBe(0);
    expect(stdout).toContain("Request leave in the portal");
    expect(stderr).toContain("Sources\n  [1] Leave  https://docs.example.com/leave\n");
    expect(world.asked()).toEqual({ message: "How do I request leave?", stream: true });
  });

  it.each(["standard", "onyx"] as const)(
    "gives the same answer streamed and whole (%s)",
    async (dialect) => {
      const world = await createWorld({ dialect });
      const streamed = await world.run(["What", "is", "new?"]);
      const whole = await world.run(["--no-stream", "What", "is", "new?"]);
      expect(streamed.code).toBe(0);
      expect(whole.stdout).toBe(streamed.stdout);
      expect(world.asked()).toMatchObject({ stream: false });
    },
  );

  it("comes from stdin, whole or as context", async () => {
    const world = await createWorld();
    await world.run([], { stdin: "piped question\n" });
    expect(world.asked()["message"]).toBe("piped question");
    await world.run(["Explain", "-"], { stdin: "the log\n" });
    expect(world.asked()["message"]).toBe("Explain\n\nthe log");
    await world.run(["--", "--force?"]);
    expect(world.asked()["message"]).toBe("--force?");
  });

  it("names the flag where the service does not know its model", async () => {
    const world = await createWorld();
    const { code, stderr } = await world.run(["--model", "foo/bar", "What is new?"]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("→ check --model PROVIDER/VERSION"),
    ]);
  });

  it.each([
    ["an empty stdin", [], { stdin: "" }],
    ["no message where nothing may be asked", ["--no-input"], { isTTY: true }],
    ["a conversation as JSON", ["--output", "json"], { isTTY: true }],
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
  ] as [string, string[], TestContextOptions][])(
    "is refused with exit 2: %s",
    async (_name, args, options) => {
      const world = await createWorld();
      const { code, stdout, stderr } = await world.run(args, options);
      expect(stderr).toContain("error: ");
      expect(code).toBe(2);
      // JSON ends with a result in every case.
      if (!args.includes("json")) expect(stdout).toBe("");
      expect(world.sandbox.ledger.requestCount).toBe(0);
    },
  );
});

it.each(["standard", "onyx"] as const)("are uploaded and sent along (%s)", async (dialect) => {
  const world = await createWorld({ dialect });
  writeFileSync(join(world.home, "notes.md"), "The launch code of the toaster is crunchy.");
  const { code, stdout } = await world.run([
    "--file",
    "notes.md",
    "What is the launch code of the toaster?",
  ]);
  expect(code).toBe(0);
  expect(stdout).toContain("crunchy");
  const [descriptor] = world.asked()["file_descriptors"] as Record<string, unknown>[];
  expect(descriptor).toMatchObject({ type: "plain_text", name: "notes.md" });
  // The id that the upload printed works later, too.
  const again = await world.run([
    "--file-id",
    String(descriptor?.["id"]),
    "What is the launch code?",
  ]);
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
  const folder = join(world.home, "state", "knowctl", "sessions");
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  const [file] = files.filter((each) => each.isFile());
  expect(statSync(join(file!.parentPath, file!.name)).mode & 0o777).toBe(0o600);
});

it("are kept without answers, and not at all where that is not wanted", async () => {
  const world = await createWorld();
  const folder = join(world.home, "state", "knowctl", "sessions");
  const first = await world.run(["--no-remember", "first"]);
  // --continue would go on in another session.
  expect(first.stderr).toMatch(/session (\S+) · continue with: `knowctl chat --session \1 /);
  writeFileSync(join(world.home, "c.json"), '{"chat":{"remember":false}}');
  await world.run(["--config", "c.json", "first"]);
  expect(existsSync(folder)).toBe(false);
  const { stdout } = await world.run(["How do I\nrequest?"]);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  const [file] = files.filter((each) => each.isFile());
  const text = readFileSync(join(file!.parentPath, file!.name), "utf8");
  expect(JSON.parse(text)).toMatchObject({
    version: 1,
    title: "How do I request?",
    questions: 1,
  });
  expect(text).not.toContain(stdout.trim());
});

it("cannot be continued where there is none", async () => {
  const world = await createWorld();
  const { code, stderr } = await world.run(["--continue", "hi"]);
  expect(code).toBe(9);
  expect(stderr).toContain("there is no last session");
});

it("that do not exist are exit 9", async () => {
  const world = await createWorld();
  const { code } = await world.run(["--session", "00000000-0000-4000-8000-000000000000", "hi"]);
  expect(code).toBe(9);
  // Nor is such a session the last one.
  const { stderr } = await world.run(["--continue", "hi"]);
  expect(stderr).toContain("there is no last session");
});

it("are a warning where they cannot be remembered", async () => {
  const world = await createWorld();
  mkdirSync(join(world.home, "state", "knowctl"), { recursive: true });
  writeFileSync(join(world.home, "state", "knowctl", "sessions"), "");
  const { code, stderr } = await world.run(["hi"]);
  expect(code).toBe(0);
  expect(stderr).toContain("not remembered");
});

describe("Ctrl-C", () => {
  it.each([
    ["onyx", 1],
    ["standard", 0],
  ] as const)(
    "keeps the text, tells the service where it can (%s), exits 130",
    async (dialect, stops) => {
      // After some words the answer stands still: nothing but the interrupt ends it.
      const world = await createWorld({ dialect, tokenDelayMs: 1, clock: heldClock(5) });
      const context = createTestContext({ cwd: world.home, env: world.env });
      const running = main(["chat", "--live", "--show", "none", "hi"], context);
      await vi.waitFor(() => expect(context.stdoutText()).not.toBe(""), patienceMs);
      context.abort(new SignalReceived("SIGINT", "interrupted"));
      expect(await running).toBe(130);
      expect(context.stdoutText()).toMatch(/^Extractive.*\n$/);
      expect(context.stderrText()).toMatch(/session [0-9a-f-]{36}/);
      const told = world.sandbox.ledger.requests.filter(({ path }) =>
        path.includes("stop-chat-session"),
      );
      expect(told).toHaveLength(stops);
    },
  );

  it("writes what was held and an interrupted result", async () => {
    const world = await createWorld({ tokenDelayMs: 1, clock: heldClock(5) });
    const context = createTestContext({ cwd: world.home, env: world.env });
    const running = main(["chat", "--output", "ndjson", "hi"], context);
    await vi.waitFor(() => expect(context.stdoutText()).toContain('"type":"text"'), patienceMs);
    context.abort(new SignalReceived("SIGTERM", "terminated"));
    expect(await running).toBe(143);
    const last = context.stdoutText().trimEnd().split("\n").at(-1) ?? "";
    expect(JSON.parse(last)).toMatchObject({ type: "result", status: "interrupted", error: null });
  });
});

describe("message", () => {
  function withStdin(stream: Readable): TestContext {
    const context = createTestContext();
    return {
      ...context,
      stdin: { isTTY: false, stream, [Symbol.asyncIterator]: () => stream[Symbol.asyncIterator]() },
    };
  }

  async function message(args: string[], stdin?: string): Promise<string> {
    const context = createTestContext(stdin === undefined ? {} : { stdin });
    return await readMessage(context, planMessage(context, args, undefined, false));
  }

  const usage = expect.objectContaining({ exit: "usage" });

  describe("the message", () => {
    it.each([
      [["How", "are", "you?"], "ignored", "How are you?"],
      [["--odd"], undefined, "--odd"],
      [[], "piped\n\n", "piped"],
      [[], "\ufeffwith a mark", "with a mark"],
      [["-"], " keeps its indent\n", " keeps its indent"],
      [["Why?", "-"], "log line\n", "Why?\n\nlog line"],
      [["Why?", "-"], "", "Why?"],
    ] as const)("%j with stdin %j is %j", async (args, stdin, expected) => {
      expect(await message([...args], stdin)).toBe(expected);
    });

    it.each([
      [[], ""],
      [[], " \n\t"],
      [["-"], "\n"],
      [["", " "], "piped"],
    ])("%j with stdin %j is refused as empty", async (args, stdin) => {
      await expect(message(args, stdin)).rejects.toThrow(usage);
    });

    it("is missing on a terminal, with an example", () => {
      const context = createTestContext({ isTTY: true });
      expect(() => planMessage(context, [], undefined, false)).toThrow(
        expect.objectContaining({
          exit: "usage",
          hints: [expect.stringContaining("knowctl chat ")],
        }),
      );
    });

    it("leaves stdin alone where words are given", () => {
      const stream = new Readable({ read: () => expect.unreachable("stdin was read") });
      expect(planMessage(withStdin(stream), ["hi"], undefined, false).readsStdin).toBe(false);
    });

    it("must be UTF-8", async () => {
      const context = withStdin(Readable.from([Buffer.from([0x68, 0xe9, 0x0a])]));
      await expect(readMessage(context, { words: "", readsStdin: true })).rejects.toThrow(usage);
    });

    it.each(["fffe68006900", "feff00680069", "68006900", "00680069"])(
      "is named as UTF-16: %s",
      async (hex) => {
        const context = withStdin(Readable.from([Buffer.from(hex, "hex")]));
        await expect(readMessage(context, { words: "", readsStdin: true })).rejects.toMatchObject({
          message: expect.stringContaining("but UTF-16"),
          hints: [expect.stringContaining("iconv -f utf-16 ")],
        });
      },
    );

    it("is not called UTF-16 for a NUL character", async () => {
      const context = withStdin(Readable.from([Buffer.from("How long\0 is leave?")]));
      await expect(readMessage(context, { words: "", readsStdin: true })).rejects.toMatchObject({
        message: "stdin holds a NUL character, which no text has",
        hints: [expect.stringContaining("tr -d '\\0'"), expect.stringContaining("--file")],
      });
    });

    it("may be cut inside a character", async () => {
      const bytes = Buffer.from("é🙂");
      const context = withStdin(Readable.from([...bytes].map((byte) => Buffer.from([byte]))));
      expect(await readMessage(context, { words: "", readsStdin: true })).toBe("é🙂");
    });

    it("is not waited for after Ctrl-C", async () => {
      const stream = new Readable({ read() {} });
      const context = withStdin(stream);
      const reading = readMessage(context, { words: "", readsStdin: true });
      context.abort(new Error("stop"));
      await expect(reading).rejects.toThrow("stop");
      expect(stream.destroyed).toBe(true);
    });

    it("has a largest size", async () => {
      const chunk = Buffer.alloc(8 * 1024 * 1024, 97);
      const endless = new Readable({
        read() {
          this.push(chunk);
        },
      });
      const reading = readMessage(withStdin(endless), { words: "", readsStdin: true });
      await expect(reading).rejects.toThrow(usage);
      expect(endless.destroyed).toBe(true);
    });
  });

  describe("--payload", () => {
    it("may hold the message, so that stdin is not read", () => {
      const context = createTestContext({ isTTY: true });
      expect(planMessage(context, [], "file.json", true)).toEqual({ words: "", readsStdin: false });
      expect(planMessage(context, [], "-", false)).toEqual({ words: "", readsStdin: false });
    });

    it("cannot share stdin with the message", () => {
      expect(() => planMessage(createTestContext(), ["-"], "-", false)).toThrow(usage);
    });

    it("is read from a file or stdin", async () => {
      const cwd = temporaryFolder();
      writeFileSync(join(cwd, "p.json"), '{"a":1}');
      expect(await readPayload(createTestContext({ cwd }), "p.json")).toEqual({ a: 1 });
      expect(await readPayload(createTestContext({ stdin: '{"b":2}' }), "-")).toEqual({ b: 2 });
    });

    it.each(["{oops SECRET", "[1]", "null", '"text"'])("%s is refused", async (stdin) => {
      const reading = readPayload(createTestContext({ stdin }), "-");
      await expect(reading).rejects.toThrow(usage);
      await expect(reading).rejects.not.toThrow("SECRET");
    });

    it("is refused where the file cannot be read", async () => {
      const cwd = temporaryFolder();
      mkdirSync(join(cwd, "folder"));
      await expect(readPayload(createTestContext({ cwd }), "missing.json")).rejects.toThrow(
        "cannot read missing.json: no such file",
      );
      await expect(readPayload(createTestContext({ cwd }), "folder")).rejects.toThrow(usage);
    });
  });

  describe("a stdin that never ends", () => {
    it("is told after a while, and given up at once when interrupted", async () => {
      vi.useFakeTimers();
      onTestFinished(() => void vi.useRealTimers());
      const context = createTestContext();
      const stream = new Readable({ read() {} });
      const stdin = {
        isTTY: false,
        stream,
        [Symbol.asyncIterator]: () => stream[Symbol.asyncIterator](),
      };
      let told = 0;
      const reading = readMessage(
        { ...context, stdin },
        { words: "", readsStdin: true },
        () => told++,
      );
      await vi.advanceTimersByTimeAsync(1999);
      expect(told).toBe(0);
      await vi.advanceTimersByTimeAsync(10_000);
      expect(told).toBe(1);
      const reason = new Error("interrupted");
      context.abort(reason);
      await expect(reading).rejects.toBe(reason);
      expect(stream.destroyed).toBe(true);
    });
  });
});
