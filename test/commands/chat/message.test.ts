import { Readable } from "node:stream";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { planMessage, readMessage, readPayload } from "../../../src/commands/chat/message.ts";
import { createTestContext, temporaryFolder, type TestContext } from "../../support.ts";

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
      expect.objectContaining({ exit: "usage", hints: [expect.stringContaining("knowctl chat ")] }),
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
