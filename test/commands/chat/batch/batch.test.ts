import type { SandboxOptions } from "../../../../src/sandbox/options.ts";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { inOrder } from "../../../../src/commands/chat/batch/order.ts";
import { describe, expect, it } from "vitest";
import { SignalReceived } from "../../../../src/context.ts";
import { CliError, ClosedPipeError } from "../../../../src/errors.ts";
import { main } from "../../../main.ts";
import { ChatEventLine } from "../../../../src/output/chat/turn/chat-events.ts";
import { createTestContext } from "../../../support.ts";
import { sessionId } from "../../../output/chat/lines.ts";
import { type World, answer, chatPath, createWorld, rawTurn } from "../support.ts";
import type { FaultRule } from "../../../../src/sandbox/http/faults.ts";

function write(world: World, name: string, lines: readonly object[]): void {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`);
  writeFileSync(join(world.home, name), text.join(""));
}

describe("batch", () => {
  type Result = Extract<ChatEventLine, { type: "result" }>;

  /** The results, each checked against the schema. */
  function results(stdout: string): Result[] {
    return stdout
      .split("\n")
      .filter(Boolean)
      .map((line) => {
        const parsed = ChatEventLine.parse(JSON.parse(line));
        return parsed.type === "result" ? parsed : expect.unreachable(line);
      });
  }

  function write(world: World, lines: readonly unknown[], name = "q.ndjson"): void {
    const text = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
    writeFileSync(join(world.home, name), `${text.join("\n")}\n`);
  }

  const questions = (count: number): object[] =>
    Array.from({ length: count }, (_, index) => ({
      id: `q${index + 1}`,
      message: `Question ${index + 1}`,
    }));

  async function createBatch(lines: readonly unknown[], options: Partial<SandboxOptions> = {}) {
    const world = await createWorld(options);
    write(world, lines);
    return world;
  }

  const asked = (world: World): unknown[] =>
    world.sandbox.ledger.chats.map((body) => body["message"]);

  describe("chat --batch", () => {
    it("asks every question once and tells the results in order, by file and by stdin", async () => {
      const world = await createBatch(questions(12));
      for (const [args, stdin] of [
        [["--batch", "q.ndjson"], undefined],
        [
          ["--batch", "-"],
          questions(12)
            .map((line) => JSON.stringify(line))
            .join("\n"),
        ],
      ] as const) {
        world.sandbox.ledger.chats.length = 0;
        const { code, stdout } = await world.run([...args], stdin === undefined ? {} : { stdin });
        expect(code).toBe(0);
        const told = results(stdout);
        expect(told.map(({ line }) => line)).toEqual(Array.from({ length: 12 }, (_, n) => n + 1));
        expect(told.map(({ id }) => id)).toEqual(questions(12).map((each) => (each as Result).id));
        expect(told.every(({ status, answer }) => status === "ok" && answer !== "")).toBe(true);
        expect(asked(world).map(String).toSorted()).toEqual(
          questions(12)
            .map((each) => (each as { message: string }).message)
            .toSorted(),
        );
      }
    });

    it("asks no more at once than --concurrency says", async () => {
      const world = await createBatch(questions(12));
      await world.run(["--batch", "q.ndjson", "--concurrency", "2"]);
      expect(world.sandbox.ledger.maxInFlight).toBeLessThanOrEqual(2);
      expect(world.sandbox.ledger.chats).toHaveLength(12);
    });

    it("takes members of a line over the flags", async () => {
      const world = await createBatch(
        [
          { message: "plain" },
          {
            message: "own",
            sourceTypes: ["web"],
            tags: { team: "a" },
            tools: [],
            temperature: 0.5,
            model: "P/v/x",
            since: "2026-01-31",
          },
        ],
        { dialect: "onyx" },
      );
      await world.run(["--batch", "q.ndjson", "--source-type", "file", "--concurrency", "1"]);
      const [plain, own] = world.sandbox.ledger.chats;
      expect(plain).toMatchObject({ internal_search_filters: { source_type: ["file"] } });
      expect(own).toMatchObject({
        allowed_tool_ids: [],
        llm_override: { model_provider: "P", model_version: "v/x", temperature: 0.5 },
        internal_search_filters: {
          source_type: ["web"],
          tags: [{ tag_key: "team", tag_value: "a" }],
          time_cutoff: "2026-01-31T00:00:00Z",
        },
      });
    });

    it("a bad line is that line's error with its number, the others go on: exit 10", async () => {
      const bad: [unknown, string][] = [
        ["not json", "not JSON"],
        [[1], "not an object"],
        [{}, "message"],
        [{ message: " " }, "message"],
        [{ message: "x", agnet: 1 }, "unknown member agnet"],
        [{ message: "x", temperature: 3 }, "temperature"],
        [{ message: "x", session: "s", agent: 1 }, "agent and project"],
        [{ message: "x", since: "soon" }, "--since"],
      ];
      const world = await createBatch([
        ...bad.map(([line]) => line),
        "",
        { id: 7, message: "good" },
      ]);
      const { code, stdout, stderr } = await world.run(["--batch", "q.ndjson"]);
      expect(code).toBe(10);
      const told = results(stdout);
      for (const [index, [, words]] of bad.entries()) {
        expect(told[index]).toMatchObject({ line: index + 1, error: { exit: "usage" } });
        expect(told[index]?.error?.message).toContain(words);
        expect(told[index]?.error?.message).toContain(`q.ndjson:${index + 1}: `);
      }
      expect(told.at(-1)).toMatchObject({ line: 10, id: "7", status: "ok" });
      expect(stderr).toContain("8 of 9 questions were not answered");
      expect(asked(world)).toEqual(["good"]);
    });

    it("asks the questions of one session one after the other", async () => {
      const world = await createBatch([{ message: "first" }]);
      const [{ sessionId } = expect.unreachable()] = results(
        (await world.run(["--batch", "q.ndjson"])).stdout,
      );
      write(
        world,
        Array.from({ length: 6 }, (_, n) => ({ message: `n${n}`, session: sessionId })),
      );
      world.sandbox.ledger.chats.length = 0;
      world.sandbox.ledger.maxInFlight = 0;
      const { code } = await world.run(["--batch", "q.ndjson", "--concurrency", "6"]);
      expect(code).toBe(0);
      expect(asked(world)).toEqual(["n0", "n1", "n2", "n3", "n4", "n5"]);
      expect(world.sandbox.ledger.maxInFlight).toBe(1);
    });

    it("--resume --no-reask asks what is left and nothing twice", async () => {
      const world = await createBatch(questions(3), {
        faults: { rules: [{ when: { path: chatPath }, do: { status: 500 } }] },
      });
      const failed = await world.run(["--batch", "q.ndjson", "--concurrency", "1"]);
      expect(failed.code).toBe(10);
      const [one, two, three] = results(failed.stdout);
      const answered = { ...one, status: "ok", answer: "yes" };
      const lost = { ...two, status: "incomplete", error: null };
      const refused = { ...three, status: "error", error: { exit: "auth" } };
      write(world, [answered, lost, refused], "r.ndjson");
      appendFileSync(join(world.home, "r.ndjson"), '{"version":1,"type":"result","id":"q3","st');
      const args = ["--batch", "q.ndjson", "--resume", "r.ndjson", "--no-reask"];
      const again = await world.run(args);
      expect(results(again.stdout).map(({ id }) => id)).toEqual(["q3"]);
      expect(again.code).toBe(10);
      expect(again.stderr).toContain("1 answered before, 1 not asked again");
      expect(again.stderr).toContain("2 of 3 questions were not answered");
    });

    it("waits as the service says, and goes on", async () => {
      const limited = { status: 429, headers: { "retry-after": "2" }, body: { detail: "slow" } };
      const world = await createBatch(questions(4), {
        faults: { rules: [{ when: { path: chatPath, first: 1 }, do: limited }] },
      });
      const { code, stdout } = await world.run(["--batch", "q.ndjson"]);
      expect(results(stdout).map(({ status }) => status)).toEqual(["ok", "ok", "ok", "ok"]);
      expect(code).toBe(0);
    });

    it.each([
      ["a refused key", { status: 403, body: { detail: "no" } }, 4],
      ["a missing endpoint", { status: 404, body: { detail: "no" } }, 9],
    ])("ends at once after %s: the rest is not asked", async (_name, fault, exitCode) => {
      const world = await createBatch(questions(20), {
        faults: { rules: [{ when: { path: chatPath }, do: fault }] },
      });
      const { code, stdout } = await world.run(["--batch", "q.ndjson", "--concurrency", "2"]);
      expect(code).toBe(exitCode);
      expect(world.sandbox.ledger.requestCount).toBeLessThanOrEqual(2);
      // Each question that was sent has its result.
      const lines = results(stdout).map(({ line }) => line);
      expect(lines).toEqual(
        Array.from({ length: world.sandbox.ledger.requestCount }, (_, index) => index + 1),
      );
      expect(lines.length).toBeGreaterThan(0);
    });

    it("an interrupt ends it: results so far stand, what was not asked has none", async () => {
      const world = await createBatch(questions(20));
      const test = createTestContext({ cwd: world.home, env: world.env });
      let told = 0;
      const stdout = {
        ...test.stdout,
        async write(part: string) {
          await test.stdout.write(part);
          if (++told === 3) test.abort(new SignalReceived("SIGINT", "interrupted"));
        },
      };
      const args = ["chat", "--batch", "q.ndjson", "--concurrency", "2"];
      expect(await main(args, { ...test, stdout })).toBe(130);
      const lines = results(test.stdoutText());
      expect(lines.length).toBeLessThan(20);
      expect(lines.map(({ line }) => line)).toEqual(lines.map((_, index) => index + 1));
      writeFileSync(join(world.home, "r.ndjson"), test.stdoutText());
      await world.run(["--batch", "q.ndjson", "--resume", "r.ndjson", "--no-reask"]);
      expect(new Set(asked(world)).size).toBe(asked(world).length);
    });

    describe("stopped before the end, it tells what was not asked and how to go on", () => {
      const refuseAfter = (after: number, fault: object): Partial<SandboxOptions> => ({
        faults: { rules: [{ when: { path: chatPath, after }, do: fault }] },
      });
      const refused = { status: 401, body: { detail: "no" } };
      const args = ["--batch", "q.ndjson", "--concurrency", "1"];
      const howToGoOn = /--resume RESULTS/g;

      it.each([
        ["a refused key", refused, 4],
        ["a redirect", { status: 302, headers: { location: "/elsewhere" } }, 8],
      ])("by %s", async (_name, fault, exitCode) => {
        // More questions than are read ahead.
        const world = await createBatch(questions(200), refuseAfter(3, fault));
        const { code, stdout, stderr } = await world.run([...args, "--quiet"]);
        expect(code).toBe(exitCode);
        const told = results(stdout).length;
        expect(stderr).toContain(`${200 - told} of 200 questions were not asked`);
        expect(stderr.match(howToGoOn)).toHaveLength(1);
      });

      it("by an interrupt", async () => {
        const world = await createBatch(questions(200));
        const test = createTestContext({ cwd: world.home, env: world.env });
        const stdout = {
          ...test.stdout,
          async write(part: string) {
            await test.stdout.write(part);
            test.abort(new SignalReceived("SIGINT", "interrupted"));
          },
        };
        expect(await main(["chat", ...args], { ...test, stdout })).toBe(130);
        const told = results(test.stdoutText()).length;
        expect(test.stderrText()).toContain(`${200 - told} of 200 questions were not asked`);
        expect(test.stderrText().match(howToGoOn)).toHaveLength(1);
      });

      it("but not by results that cannot be written: those questions may have been asked", async () => {
        const world = await createBatch(questions(20));
        const test = createTestContext({ cwd: world.home, env: world.env });
        const failure = new CliError("local", "cannot write the output: the disk is full");
        const stdout = { ...test.stdout, write: () => Promise.reject(failure) };
        expect(await main(["chat", ...args], { ...test, stdout })).toBe(14);
        expect(test.stderrText()).not.toContain("not asked");
      });

      it("without those that an earlier run has answered", async () => {
        const world = await createBatch(questions(200), refuseAfter(2, refused));
        const first = await world.run(args);
        writeFileSync(join(world.home, "r.ndjson"), first.stdout);
        const { code, stderr } = await world.run([...args, "--resume", "r.ndjson"]);
        expect(code).toBe(4);
        expect(stderr).toContain("0 answered, 1 failed, 2 answered before\n");
        expect(stderr).toContain("197 of 200 questions were not asked");
      });

      it("by stdin, whose end is not read", async () => {
        const world = await createBatch([], refuseAfter(0, refused));
        const lines = (count: number) => questions(count).map((each) => JSON.stringify(each));
        const ask = async (count: number): Promise<string> => {
          const given = { stdin: lines(count).join("\n") };
          const { code, stderr } = await world.run(["--batch", "-", "--concurrency", "1"], given);
          expect(code).toBe(4);
          return stderr;
        };
        expect(await ask(200)).toContain("the remaining questions of stdin were not asked");
        expect(await ask(3)).toContain("2 of 3 questions were not asked");
      });

      it("by an interrupt after each question that stdin has brought so far", async () => {
        const world = await createBatch([]);
        const test = createTestContext({ cwd: world.home, env: world.env });
        const stream = new PassThrough();
        stream.write('{"message":"Question"}\n');
        const stdin = { ...test.stdin, stream, [Symbol.asyncIterator]: () => stream.iterator() };
        const stdout = {
          ...test.stdout,
          async write(part: string) {
            await test.stdout.write(part);
            test.abort(new SignalReceived("SIGINT", "interrupted"));
          },
        };
        expect(await main(["chat", "--batch", "-"], { ...test, stdin, stdout })).toBe(130);
        expect(test.stderrText()).toContain(
          "1 answered, 0 failed\nstdin was not read to its end; to",
        );
        expect(test.stderrText()).not.toContain("not asked");
      });

      it("and nothing of that where each question was asked", async () => {
        const world = await createBatch(questions(3), refuseAfter(2, refused));
        const { code, stderr } = await world.run(args);
        expect(code).toBe(4);
        expect(stderr).toContain("2 answered, 1 failed\n");
        expect(stderr).not.toContain("not asked");
        expect(stderr.match(howToGoOn)).toHaveLength(1);
      });
    });

    it("a reader that goes away ends it quietly", async () => {
      const world = await createBatch(questions(20));
      const test = createTestContext({ cwd: world.home, env: world.env });
      const write = () => Promise.reject(new ClosedPipeError());
      const context = { ...test, stdout: { ...test.stdout, write } };
      expect(await main(["chat", "--batch", "q.ndjson", "--concurrency", "1"], context)).toBe(0);
      expect(world.sandbox.ledger.chats.length).toBeLessThan(5);
    });

    it.each([
      ["a message", ["hi"]],
      ["--save", ["--save", "x"]],
      ["another format", ["--output", "text"]],
      ["a missing file", ["--batch", "none.ndjson"]],
      ["missing results", ["--resume", "none.ndjson"]],
    ])("refuses %s", async (_name, args) => {
      const world = await createBatch(questions(1));
      const { code } = await world.run(["--batch", "q.ndjson", ...args]);
      expect(code).toBe(2);
      expect(asked(world)).toEqual([]);
    });

    it.each(['{"a":1}\nany text\n', "any text"])(
      "refuses results that no batch has written: %j",
      async (text) => {
        const world = await createBatch(questions(1));
        writeFileSync(join(world.home, "r.ndjson"), text);
        const { code, stderr } = await world.run(["--batch", "q.ndjson", "--resume", "r.ndjson"]);
        expect(stderr).toContain("--resume: r.ndjson holds no result of a batch");
        expect(code).toBe(2);
        expect(asked(world)).toEqual([]);
      },
    );

    it.each(["", '{"version":1,"type":"resu'])("asks all after results cut at %j", async (text) => {
      const world = await createBatch(questions(1));
      writeFileSync(join(world.home, "r.ndjson"), text);
      await world.run(["--batch", "q.ndjson", "--resume", "r.ndjson"]);
      expect(asked(world)).toHaveLength(1);
    });

    it.each([
      ["file", ["--batch", "q.ndjson"], {}],
      ["stdin", ["--batch", "-"], { stdin: "\n" }],
    ])("an empty %s asks nothing, which is said", async (_name, args, given) => {
      const world = await createBatch([]);
      const { code, stdout, stderr } = await world.run(args, given);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain("holds no question");
    });

    it("refuses a flag that the session of a line leaves without effect", async () => {
      const lines = [{ message: "a", session: sessionId }, { message: "b" }];
      const world = await createBatch(lines);
      for (const flag of ["--agent", "--project"]) {
        world.sandbox.ledger.chats.length = 0;
        const { code, stdout } = await world.run(["--batch", "q.ndjson", flag, "0"]);
        expect(code).toBe(10);
        const [first] = results(stdout);
        expect(first?.error?.message).toContain(`${flag} applies only to a new session`);
        expect(asked(world)).toEqual(["b"]);
      }
    });

    it("the model of a line counts over --provider and --model-version", async () => {
      const world = await createBatch([{ message: "a", model: "P/v" }], { models: { P: ["v"] } });
      await world.run(["--batch", "q.ndjson", "--provider", "Q", "--model-version", "w"]);
      expect(world.asked()["llm_override"]).toEqual({ model_provider: "P", model_version: "v" });
    });

    it("takes the beginning of a session's id", async () => {
      const world = await createBatch([{ message: "a" }], { dialect: "onyx" });
      const { stderr } = await world.run(["first"]);
      const [, id = ""] = /session (\S+)/.exec(stderr) ?? [];
      await world.run(["--batch", "q.ndjson", "--session", id.slice(0, 6)]);
      expect(world.asked()["chat_session_id"]).toBe(id);
      write(world, [{ message: "b", session: id.slice(0, 6) }]);
      await world.run(["--batch", "q.ndjson"]);
      expect(world.asked()).toMatchObject({ message: "b", chat_session_id: id });
    });
  });
});

describe("work in order", () => {
  /** Works on the items `a1 a2 b1`, whose key is their letter; tells what began and what was written. */
  async function work(concurrency: number) {
    const told: string[] = [];
    async function* items(): AsyncGenerator<string> {
      yield* ["a1", "a2", "b1"];
    }
    await inOrder(items(), {
      concurrency,
      window: 8,
      keyOf: (item) => item[0],
      async work(item) {
        told.push(`begin ${item}`);
        await new Promise(setImmediate);
        told.push(`end ${item}`);
        return item;
      },
      write: async (item) => void told.push(`write ${item}`),
      isOver: () => false,
    });
    return told;
  }

  it("never works on two items of one key at once, but on others", async () => {
    const told = await work(3);
    expect(told.indexOf("begin a2")).toBeGreaterThan(told.indexOf("end a1"));
    expect(told.indexOf("begin b1")).toBeLessThan(told.indexOf("end a1"));
    const written = told.filter((each) => each.startsWith("write"));
    expect(written).toEqual(["write a1", "write a2", "write b1"]);
  });

  it("works on no more than wanted at once", async () => {
    const told = await work(1);
    const open = told.filter((each) => !each.startsWith("write"));
    expect(open.map((each) => each.split(" ")[0])).toEqual(
      Array.from({ length: 3 }, () => ["begin", "end"]).flat(),
    );
  });
});

const told = (stdout: string): object[] =>
  stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as object);

const question = { id: "a", message: "How do I request leave?" };
const resume = ["--batch", "q.ndjson", "--resume", "r.ndjson"];
const messages = (world: World): string[] =>
  world.sandbox.ledger.chats.map((body) => String(body["message"]));

describe("chat --batch --resume with another question", () => {
  it.each([
    ["another agent", ["--agent", "5"]],
    ["another model", ["--model", "openai/gpt-9"]],
    ["deep research", ["--deep-research"]],
    ["another filter", ["--since", "7d"]],
    ["another tag", ["--filter-tag", "team=a"]],
    ["no tool", ["--no-tools"]],
    ["another session", ["--session", "00000000-0000-4000-8000-000000000000"]],
  ])("asks again with %s", async (_name, flags) => {
    const world = await createWorld({ models: { openai: ["gpt-9"] } });
    write(world, "q.ndjson", [question]);
    const first = await world.run(["--batch", "q.ndjson"]);
    writeFileSync(join(world.home, "r.ndjson"), first.stdout);
    world.sandbox.ledger.chats.length = 0;
    const { stdout } = await world.run([...resume, ...flags]);
    expect(told(stdout)).toHaveLength(1);
    expect(messages(world)).toEqual([question.message]);
  });

  it("asks again with another configuration, and another service", async () => {
    const world = await createWorld();
    const other = await createWorld();
    write(world, "q.ndjson", [question]);
    const first = await world.run(["--batch", "q.ndjson"]);
    writeFileSync(join(world.home, "r.ndjson"), first.stdout);
    await world.run([...resume, "--base-url", other.sandbox.url]);
    expect(messages(other)).toEqual([question.message]);
    const config = JSON.stringify({ chat: { temperature: 0.5 } });
    writeFileSync(join(world.home, "c.json"), config);
    await world.run([...resume, "--config", "c.json"]);
    expect(messages(world)).toEqual([question.message, question.message]);
  });

  it("asks nothing again with other flags that leave the question as it is", async () => {
    const world = await createWorld();
    write(world, "q.ndjson", [question, { message: "Why?", agent: 0, since: "7d" }]);
    const first = await world.run(["--batch", "q.ndjson"]);
    writeFileSync(join(world.home, "r.ndjson"), first.stdout);
    write(world, "q.ndjson", [question, { since: "7d", agent: 0, message: "Why?" }]);
    const flags = ["--concurrency", "1", "--no-stream", "--max-packet", "1MiB", "--quiet"];
    expect(await world.run([...resume, ...flags])).toMatchObject({ code: 0, stdout: "" });
    expect(messages(world)).toHaveLength(2);
  });
});

describe("batch resume", () => {
  /** A service with these faults at the address of another one, which ends. */
  async function replaceService(world: World, rules: FaultRule[]): Promise<World> {
    const { port } = world.sandbox;
    await world.sandbox.close();
    return createWorld({ dialect: "onyx", port, faults: { rules } });
  }

  interface Told {
    id?: string;
    status: string;
    answer: string;
    sessionId: string | null;
    question?: string;
    warnings: string[];
  }

  const told = (stdout: string): Told[] =>
    stdout
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Told);

  const question = { id: "a", message: "How do I request leave?" };

  /** A world in which the first answer of a batch is cut after the lines with the ids. */
  async function cutFirst(dialect: "standard" | "onyx", more: FaultRule[] = []) {
    const cut: FaultRule = { when: { path: chatPath, first: 1 }, do: { cutAfterBytes: 400 } };
    const world = await createWorld({ dialect, faults: { rules: [cut, ...more] } });
    write(world, "q.ndjson", [question, { id: "b", message: "Who is on call?" }]);
    const first = await world.run(["--batch", "q.ndjson", "--concurrency", "1"]);
    expect(first.code).toBe(10);
    const results = told(first.stdout);
    expect(results.map(({ status }) => status)).toEqual(["incomplete", "ok"]);
    writeFileSync(join(world.home, "r.ndjson"), first.stdout);
    await world.sandbox.idle();
    return { world, results };
  }

  const resume = ["--batch", "q.ndjson", "--resume", "r.ndjson"];
  const messages = (world: World): string[] =>
    world.sandbox.ledger.chats.map((body) => String(body["message"]));

  describe("chat --batch --resume", () => {
    it("recovers a cut answer from its session, without asking again", async () => {
      const { world, results } = await cutFirst("onyx");
      expect(results[0]).toMatchObject({ fingerprint: expect.stringMatching(/^[\da-f]{16}$/) });
      for (const flags of [[], ["--no-reask"]]) {
        const { code, stdout, stderr } = await world.run([...resume, ...flags]);
        expect(code).toBe(0);
        expect(told(stdout)).toMatchObject([
          {
            id: "a",
            status: "ok",
            sessionId: results[0]?.sessionId,
            fingerprint: expect.stringMatching(/^[\da-f]{16}$/),
          },
        ]);
        expect(told(stdout)[0]?.answer).toContain("Nothing in the indexed documents");
        expect(told(stdout)[0]?.warnings).toEqual([expect.stringContaining("not asked again")]);
        expect(stderr).toContain("1 answered, 0 failed, 1 answered before");
      }
      expect(messages(world)).toEqual([question.message, "Who is on call?"]);
    });

    it("asks again where the service keeps no sessions, unless that is forbidden", async () => {
      const { world } = await cutFirst("standard");
      const forbidden = await world.run([...resume, "--no-reask"]);
      expect(forbidden).toMatchObject({ code: 10, stdout: "" });
      expect(forbidden.stderr).toContain("1 not asked again");
      expect(messages(world)).toHaveLength(2);
      const { code, stdout } = await world.run(resume);
      expect(code).toBe(0);
      expect(told(stdout)).toMatchObject([{ id: "a", status: "ok" }]);
      expect(messages(world)).toHaveLength(3);
    });

    it.each([
      ["was cut before its end", "Response was terminated prior to completion, try", null],
      ["failed", "", "the model is gone"],
      ["is empty", " \n", null],
      ["was stopped", "Half\n\n... *Generation was stopped by the user.*", null],
    ])("asks again where the stored answer %s", async (_name, message, error) => {
      const { world, results } = await cutFirst("onyx");
      const session = {
        chat_session_id: results[0]?.sessionId,
        current_run: null,
        messages: [
          { message_id: 1, message_type: "system", message: "" },
          { message_id: 2, parent_message: 1, message_type: "user", message: question.message },
          { message_id: 3, parent_message: 2, message_type: "assistant", message, error },
        ],
      };
      const rules: FaultRule[] = [
        { when: { path: "/api/chat/get-chat-session/" }, do: { status: 200, body: session } },
      ];
      const other = await replaceService(world, rules);
      write(other, "q.ndjson", [question]);
      write(other, "r.ndjson", results);
      expect(await other.run([...resume, "--no-reask"])).toMatchObject({ code: 10, stdout: "" });
      expect(messages(other)).toEqual([]);
      const { code, stdout } = await other.run(resume);
      expect(code).toBe(0);
      expect(told(stdout)).toMatchObject([{ id: "a", status: "ok" }]);
      expect(messages(other)).toEqual([question.message]);
      expect(world.sandbox.ledger.chats).toHaveLength(2);
    });

    it("follows an answer that is still being generated", async () => {
      const { world: cut, results } = await cutFirst("onyx");
      const session = { chat_session_id: results[0]?.sessionId, current_run: {}, messages: [] };
      const stream = { status: 200, headers: { "content-type": "text/event-stream" } };
      const rules: FaultRule[] = [
        { when: { path: "/api/chat/get-chat-session/" }, do: { status: 200, body: session } },
        {
          when: { path: "/api/chat/chat-session/" },
          do: { ...stream, body: `${rawTurn.join("\n")}\n` },
        },
      ];
      const world = await replaceService(cut, rules);
      write(world, "q.ndjson", [question]);
      write(world, "r.ndjson", results);
      const { code, stdout } = await world.run(resume);
      expect(code).toBe(0);
      expect(told(stdout)).toMatchObject([{ id: "a", status: "ok", answer }]);
      expect(messages(world)).toEqual([]);
    });

    it.each([
      ["without its answer", []],
      [
        "with an empty answer",
        [
          { message_id: 1, parent_message: null, message_type: "user", message: question.message },
          { message_id: 2, parent_message: 1, message_type: "assistant", message: "" },
        ],
      ],
    ])(
      "does not ask again while a run is in flight that cannot be followed, %s",
      async (_, stored) => {
        const { world: cut, results } = await cutFirst("onyx");
        const lost = results.map((each) => ({ ...each, userMessageId: null, messageId: null }));
        const session = {
          chat_session_id: results[0]?.sessionId,
          current_run: {},
          messages: stored,
        };
        const rules: FaultRule[] = [
          { when: { path: "/api/chat/get-chat-session/" }, do: { status: 200, body: session } },
          { when: { path: "/api/chat/chat-session/" }, do: { status: 404, body: {} } },
        ];
        const world = await replaceService(cut, rules);
        write(world, "q.ndjson", [question]);
        write(world, "r.ndjson", lost);
        const { code, stdout } = await world.run(resume);
        expect(code).toBe(10);
        expect(told(stdout)).toMatchObject([{ id: "a", status: "incomplete" }]);
        expect(stdout).toContain("still being generated");
        expect(messages(world)).toEqual([]);
      },
    );

    it("does not ask again what it cannot look up", async () => {
      const { world: cut, results } = await cutFirst("onyx");
      const rules: FaultRule[] = [
        { when: { path: "/api/chat/get-chat-session/" }, do: { status: 403, body: {} } },
      ];
      const world = await replaceService(cut, rules);
      write(world, "q.ndjson", [question]);
      write(world, "r.ndjson", results);
      expect((await world.run(resume)).code).not.toBe(0);
      expect(messages(world)).toEqual([]);
    });

    it("asks a changed question under an old id, and an answer that is none", async () => {
      const world = await createWorld();
      write(world, "q.ndjson", [question, { id: "b", message: "Who?" }, { message: "Why?" }]);
      const first = await world.run(["--batch", "q.ndjson"]);
      const empty = { ...told(first.stdout)[1], answer: " " };
      const [a, , c] = told(first.stdout);
      write(world, "r.ndjson", [a ?? {}, empty, c ?? {}]);
      write(world, "q.ndjson", [
        { ...question, message: "And in summer?" },
        { id: "b", message: "Who?" },
        { message: "Why?", agent: 0 },
      ]);
      world.sandbox.ledger.chats.length = 0;
      const { code, stdout } = await world.run(resume);
      expect(code).toBe(0);
      expect(told(stdout)).toHaveLength(3);
      expect(messages(world).toSorted()).toEqual(["And in summer?", "Who?", "Why?"]);
    });

    it("counts an answer over what was told before and after it", async () => {
      const world = await createWorld();
      write(world, "q.ndjson", [question]);
      const [result] = told((await world.run(["--batch", "q.ndjson"])).stdout);
      const lost = { ...result, status: "incomplete" };
      write(world, "r.ndjson", [lost, result ?? {}, lost]);
      expect(await world.run(resume)).toMatchObject({ code: 0, stdout: "" });
      expect(messages(world)).toHaveLength(1);
    });
  });
});
