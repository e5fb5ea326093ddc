import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { main } from "../../main.ts";
import { denyWritingIn } from "../../file-system.ts";
import { createTestContext } from "../../support.ts";
import { document, sessionId } from "../../output/chat/lines.ts";
import { type World, answer, createWorld, rawTurn, replay } from "./support.ts";
import { type TestService, startTestService, writeFiles } from "../../service.ts";
import { SignalReceived } from "../../../src/context.ts";

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
  expect(JSON.parse(stdout)).toMatchObject({
    version: 1,
    status: "ok",
    answer,
    sessionId,
    model: { requested: "P/v" },
  });
  expect(stderr).toMatch(/^warning: cannot check .*P\/v: .*\n$/);
});

it("ndjson ends with the result, also where nothing was reached", async () => {
  const world = await createWorld();
  await world.sandbox.close();
  const { code, stdout } = await world.run(["--output", "ndjson", "hi"]);
  expect(code).toBe(5);
  expect(JSON.parse(stdout)).toMatchObject({
    version: 1,
    type: "result",
    status: "error",
    error: { exit: "unreachable" },
  });
});

it("--save keeps the answer in a file as well", async () => {
  const world = await replay(rawTurn);
  const { stdout } = await world.run(["--save", "answer.md", "hi"]);
  expect(stdout).toBe(`${answer}\n`);
  expect(readFileSync(join(world.home, "answer.md"), "utf8")).toBe(`${answer}\n`);
});

it("--save leaves a file alone when the answer is cut, and keeps what came beside it", async () => {
  const world = await replay(rawTurn.slice(0, -1));
  writeFileSync(join(world.home, "answer.md"), "old");
  const { code, stderr } = await world.run(["--save", "answer.md", "hi"]);
  expect(code).toBe(11);
  expect(readFileSync(join(world.home, "answer.md"), "utf8")).toBe("old");
  expect(readFileSync(join(world.home, "answer.md.partial"), "utf8")).toBe(`${answer}\n`);
  expect(stderr).toContain("answer.md.partial");
});

it("a file that cannot be saved is told in the result", async () => {
  const world = await replay(rawTurn);
  const args = ["--save", "/dev/full", "--output", "ndjson", "hi"];
  const { code, stdout } = await world.run(args);
  expect(code).toBe(14);
  const result = JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "") as unknown;
  expect(result).toMatchObject({ status: "error", answer, error: { exit: "local" } });
});

// The file system takes 255 bytes: the file of a cut answer has a longer name, the temporary one not.
it.each(["x".repeat(256), "x".repeat(250)])(
  "--save refuses a name that is too long before the question: %s",
  async (name) => {
    const world = await replay(rawTurn);
    const { code, stderr } = await world.run(["--save", name, "hi"]);
    expect(code).toBe(2);
    expect(stderr).toContain("its name is too long");
    expect(world.sandbox.ledger.requestCount).toBe(0);
  },
);

it("--save takes each name that leaves room for a cut answer", async () => {
  const world = await replay(rawTurn);
  const name = "é".repeat(123);
  expect((await world.run(["--save", name, "hi"])).code).toBe(0);
  expect(readFileSync(join(world.home, name), "utf8")).toBe(`${answer}\n`);
});

it.each(["answer.md", "old.md"])(
  "--save refuses %s in a folder that cannot be written before the question",
  async (name) => {
    const world = await replay(rawTurn);
    const folder = join(world.home, "closed");
    mkdirSync(folder);
    writeFileSync(join(folder, "old.md"), "old");
    denyWritingIn(folder);
    const save = join("closed", name);
    const { code, stderr } = await world.run(["--save", save, "hi"]);
    expect(code).toBe(2);
    expect(stderr).toContain(`--save: cannot write ${save}: the file system is read-only`);
    expect(world.sandbox.ledger.requestCount).toBe(0);
  },
);

it.each([
  ["contradicting flags", ["--continue", "--session", "x", "hi"], 2, "usage"],
  ["no message", ["  "], 2, "usage"],
  ["a file that is missing", ["--file", "none.pdf", "hi"], 2, "usage"],
  ["no session to continue", ["--continue", "hi"], 9, "not-found"],
  ["an unknown profile", ["--profile", "none", "hi"], 3, "not-configured"],
  ["a folder that is missing", ["--save", "none/answer.md", "hi"], 2, "usage"],
])("json and ndjson end with a result after %s", async (_name, args, exitCode, exit) => {
  const world = await createWorld();
  for (const format of ["json", "ndjson"]) {
    const { code, stdout } = await world.run(["--output", format, ...args]);
    expect(code).toBe(exitCode);
    expect(JSON.parse(stdout)).toMatchObject({ version: 1, status: "error", error: { exit } });
  }
  expect(world.sandbox.ledger.chats).toEqual([]);
});

it("--show none and --no-sources leave only the session on stderr", async () => {
  const world = await replay(rawTurn);
  const { stderr } = await world.run(["--show", "none", "--no-sources", "hi"]);
  expect(stderr).toBe(`session ${sessionId} · continue with: \`knowctl chat --continue "…"\`\n`);
});

it("names the session where no message is known, as --continue would not find it", async () => {
  const world = await replay(rawTurn.filter((line) => !line.includes("reserved_assistant")));
  const { code, stderr } = await world.run(["hi"]);
  expect(code).toBe(0);
  expect(stderr).toContain(`continue with: \`knowctl chat --session ${sessionId} "…"\``);
  expect((await world.run(["--continue", "hi"])).code).toBe(9);
});

it("warns of filters that nothing searched with", async () => {
  const world = await createWorld();
  const { code, stderr } = await world.run(["--no-tools", "--source-type", "web", "hi"]);
  expect(code).toBe(0);
  expect(stderr).toContain("warning: filters were set but no search ran");
});

describe("how it arrives", () => {
  it("writes once for each network chunk, as soon as it is there", async () => {
    const world = await createWorld();
    const pieces = [
      rawTurn.slice(0, 7),
      rawTurn.slice(7, 13),
      rawTurn.slice(13, 15),
      rawTurn.slice(15),
    ];
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

describe("hostile services", () => {
  it("cannot reach the terminal through any field", async () => {
    const nasty = "\u001b]52;c;aGk=\u0007\u009b2J\u202e";
    const packet = (turn: number, obj: object) => ({ placement: { turn_index: turn }, obj });
    const world = await replay([
      { chat_session_id: nasty },
      packet(0, { type: "custom_tool_start", tool_name: nasty }),
      packet(0, { type: "custom_tool_delta", tool_name: nasty, error: { message: nasty } }),
      packet(1, {
        type: "message_start",
        final_documents: [document(nasty, nasty, `https://x/${nasty}`)],
      }),
      packet(1, { type: "citation_info", citation_number: 1, document_id: nasty }),
      packet(1, { type: "message_delta", content: nasty }),
      { error: nasty, error_code: nasty },
    ]);
    for (const isTTY of [false, true]) {
      const { code, stdout, stderr } = await world.run(["hi"], {
        isTTY,
        env: { ...world.env, NO_COLOR: "1", TERM: "dumb" },
      });
      expect(code).toBe(8);
      expect(stdout + stderr).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    }
  });

  it("may send lines that are no packets, as long as they can be read", async () => {
    const world = await replay([
      "",
      ": comment",
      "[1,2]",
      '{"obj":{"type":"new_thing"}}',
      '{"obj":{"type":"message_start","final_documents":7}}',
      "data: [DONE]",
      ...rawTurn,
    ]);
    const { code, stdout } = await world.run(["hi"]);
    expect(code).toBe(0);
    expect(stdout).toBe(`${answer}\n`);
  });
});

describe("sources", () => {
  async function run({ folder, env }: TestService, args: string[], cwd = folder) {
    const context = createTestContext({ cwd, env });
    const code = await main(args, context);
    return { code, stdout: context.stdoutText(), stderr: context.stderrText() };
  }

  const path = "docs/my guide (ä).md";
  const files = { [path]: "# Wombats\n\nWombats sleep in burrows during the day.\n" };
  const question = ["chat", "Where", "do", "wombats", "sleep?"];

  describe("the local file of a source", () => {
    it.each(["standard", "onyx"] as const)("is named (%s)", async (dialect) => {
      const service = await startTestService({ dialect, files });
      expect((await run(service, ["ingest", "docs", "--cc-pair-id", "2"])).code).toBe(0);
      await service.sandbox.idle();
      const { stderr, code } = await run(service, question);
      expect(code).toBe(0);
      expect(stderr).toMatch(/Sources\n {2}\[1\] Wombats .*docs\/my guide \(ä\)\.md\n/);
      const inside = await run(service, question, join(service.folder, "docs"));
      expect(inside.stderr).toMatch(/\[1\] Wombats {2}my guide \(ä\)\.md\n/);
      const json = JSON.parse((await run(service, [...question, "--json"])).stdout) as {
        citations: { file: string; documentId: string }[];
      };
      expect(json.citations).toMatchObject([{ file: path, mismatch: null }]);
      writeFiles(service.folder, { [path]: "changed" });
      rmSync(join(service.folder, path));
      expect((await run(service, question)).stderr).toContain("[1] Wombats\n");
    });

    it("is named by sessions show as well", async () => {
      const service = await startTestService({ dialect: "onyx", files });
      await run(service, ["ingest", "docs", "--cc-pair-id", "2"]);
      await service.sandbox.idle();
      await run(service, question);
      const shown = await run(service, ["sessions", "show", "last"]);
      expect(shown.stdout).toMatch(/\[1\] Wombats .*docs\/my guide \(ä\)\.md\n/);
      const json = JSON.parse(
        (await run(service, ["sessions", "show", "last", "--json"])).stdout,
      ) as {
        messages: { citations: object[] }[];
      };
      expect(json.messages.at(-1)!.citations).toMatchObject([{ number: 1, file: path }]);
    });

    it("is not looked for by making a state", async () => {
      const service = await startTestService({ files });
      await run(service, ["ingest", "docs", "--cc-pair-id", "2", "--no-state"]);
      await service.sandbox.idle();
      const { stderr, code } = await run(service, question);
      expect(code).toBe(0);
      expect(stderr).toContain("[1] Wombats\n");
      expect(existsSync(join(service.folder, ".knowctl"))).toBe(false);
    });
  });
});

const entriesOf = (world: World, name = "a.ndjson") =>
  readFileSync(join(world.home, name), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** The same user where nothing answers and no key is known. */
async function runOffline(world: World, args: string[]) {
  const env = { ...world.env, KNOWCTL_BASE_URL: "", KNOWCTL_API_KEY: "" };
  return await world.run(args, { env });
}

/** A recording of these entries. */
function recordingOf(world: World, entries: readonly object[]): string {
  const head = { knowctl: "recording", version: 1 };
  const text = [head, ...entries].map((each) => `${JSON.stringify(each)}\n`).join("");
  writeFileSync(join(world.home, "given.ndjson"), text);
  return "given.ndjson";
}

describe("--record", () => {
  it("keeps the service's lines and how it ended, for the owner alone", async () => {
    const world = await replay(rawTurn);
    const { code, stdout } = await world.run(["--record", "a.ndjson", "hi"]);
    expect([code, stdout]).toEqual([0, `${answer}\n`]);
    const [head, ...entries] = entriesOf(world);
    expect(head).toMatchObject({ knowctl: "recording", version: 1, message: "hi" });
    expect(entries.map((entry) => entry["line"] ?? entry["end"])).toEqual([...rawTurn, "ok"]);
    expect(statSync(join(world.home, "a.ndjson")).mode & 0o777).toBe(0o600);
  });

  it("refuses to overwrite before anything is asked, but for --force", async () => {
    const world = await replay(rawTurn);
    writeFileSync(join(world.home, "a.ndjson"), "mine");
    const refused = await world.run(["--record", "a.ndjson", "hi"]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("replace it with --force");
    expect(readFileSync(join(world.home, "a.ndjson"), "utf8")).toBe("mine");
    expect((await world.run(["--record", "a.ndjson", "--force", "hi"])).code).toBe(0);
    expect(entriesOf(world)).toHaveLength(rawTurn.length + 2);
  });

  it("holds no credential, also where the service echoes it", async () => {
    const key = "CANARY-record-77aa";
    const echo = { placement: { turn_index: 0 }, obj: { type: "message_delta", content: key } };
    const world = await replay([...rawTurn.slice(0, 2), echo, ...rawTurn.slice(-1)], { key });
    const env = { ...world.env, KNOWCTL_API_KEY: key };
    expect((await world.run(["--record", "a.ndjson", `my ${key}`], { env })).code).toBe(0);
    const text = readFileSync(join(world.home, "a.ndjson"), "utf8");
    expect(text).toContain("***");
    expect(text).not.toContain(key);
    expect(text).not.toContain("127.0.0.1");
  });

  it("a disk that fails ends the recording and not the answer", async () => {
    const world = await replay(rawTurn);
    const { code, stdout, stderr } = await world.run(["--record", "/dev/full", "hi"]);
    expect([code, stdout]).toEqual([14, `${answer}\n`]);
    expect(stderr).toContain("cannot record in /dev/full: the disk is full");
  });

  it("has each chunk in the file before it is drawn", async () => {
    const world = await replay(rawTurn);
    const context = createTestContext({ cwd: world.home, env: world.env });
    const seen: number[] = [];
    const stdout = {
      ...context.stdout,
      async write() {
        seen.push(entriesOf(world).length);
      },
    };
    const args = ["chat", "--record", "a.ndjson", "--output", "ndjson", "hi"];
    expect(await main(args, { ...context, stdout })).toBe(0);
    expect(seen[0]).toBeGreaterThanOrEqual(rawTurn.length);
  });
});

describe("--replay", () => {
  it.each([["text"], ["json"], ["ndjson"], ["packets"]])(
    "draws the same as the live answer: %s",
    async (format) => {
      const world = await replay(rawTurn);
      const live = await world.run(["--record", "a.ndjson", "--output", format, "hi"]);
      const again = await runOffline(world, ["--replay", "a.ndjson", "--output", format]);
      const withoutTime = (text: string): string => text.replace(/"(\w+Ms)": ?\d+/g, '"$1":0');
      expect(again.code).toBe(0);
      expect(withoutTime(again.stdout)).toBe(withoutTime(live.stdout));
      expect(world.sandbox.ledger.chats.length).toBeLessThanOrEqual(1);
    },
  );

  it("plays an answer that came in one piece, and one whose recording was killed", async () => {
    const world = await createWorld();
    const live = await world.run(["--no-stream", "--record", "a.ndjson", "hi"]);
    const again = await runOffline(world, ["--replay", "a.ndjson"]);
    expect(again).toMatchObject({ code: 0, stdout: live.stdout });
    const text = readFileSync(join(world.home, "a.ndjson"), "utf8");
    writeFileSync(join(world.home, "a.ndjson"), text.slice(0, text.indexOf("\n") + 20));
    const cut = await runOffline(world, ["--replay", "a.ndjson"]);
    expect(cut.code).toBe(11);
  });

  it("keeps the pace, in milliseconds, times the speed", async () => {
    const world = await createWorld();
    const lines = [...rawTurn.entries()].map(([index, line]) => ({ atMs: index * 100, line }));
    const name = recordingOf(world, lines);
    for (const [speed, total] of [
      ["1", 1500],
      ["2", 750],
      ["0", 0],
    ] as const) {
      let now = 1_000_000;
      const test = createTestContext({ cwd: world.home, env: world.env });
      const sleeps: number[] = [];
      const context = {
        ...test,
        elapsed: () => now,
        async sleep(ms: number) {
          sleeps.push(ms);
          now += ms;
        },
      };
      const args = ["chat", "--replay", name, "--replay-speed", speed];
      expect(await main(args, context)).toBe(0);
      expect(sleeps.reduce((sum, ms) => sum + ms, 0)).toBe(total);
      expect(test.stdoutText()).toBe(`${answer}\n`);
    }
  });

  it.each([
    ["a refused question", [{ atMs: 1, end: "error", exit: "auth" }], 4],
    [
      "a cut answer",
      [
        { atMs: 1, line: rawTurn[0] },
        { atMs: 2, end: "incomplete", exit: "incomplete" },
      ],
      11,
    ],
    ["an interrupted answer", [{ atMs: 2, end: "interrupted", exit: null }], 11],
    ["an error line", [{ atMs: 1, line: '{"error":"no","error_code":"RATE_LIMIT"}' }], 6],
    ["an exit that is none", [{ atMs: 1, end: "error", exit: "__proto__" }], 11],
  ])("ends as it was recorded: %s", async (_name, entries, exitCode) => {
    const world = await createWorld();
    const args = ["--replay", recordingOf(world, entries), "--output", "ndjson"];
    const { code, stdout } = await runOffline(world, args);
    expect(code).toBe(exitCode);
    expect(stdout).toContain('"type":"result"');
  });

  it.each([
    ["a message", ["hi"], "a message has no effect"],
    ["a session", ["--session", "x"], "--session and --replay exclude each other"],
    ["a recording", ["--record", "b"], "--record and --replay exclude each other"],
  ])("asks nothing, so it refuses %s", async (_name, args, words) => {
    const world = await createWorld();
    const { code, stderr } = await runOffline(world, ["--replay", "a", ...args]);
    expect(code).toBe(2);
    expect(stderr).toContain(words);
  });

  it("is no recording: told with the file", async () => {
    const world = await createWorld();
    writeFileSync(join(world.home, "x.md"), "# hello\n");
    const { code, stderr, stdout } = await runOffline(world, ["--replay", "x.md", "--json"]);
    expect(code).toBe(2);
    expect(stderr).toContain("x.md is not a recording");
    expect(JSON.parse(stdout)).toMatchObject({ status: "error", error: { exit: "usage" } });
  });

  it("stops at once when interrupted while it waits", async () => {
    const world = await createWorld();
    const name = recordingOf(world, [{ atMs: 1e9, line: rawTurn[0] }]);
    const test = createTestContext({ cwd: world.home, env: world.env });
    const context = {
      ...test,
      async sleep(_ms: number, signal?: AbortSignal) {
        test.abort(new SignalReceived("SIGINT", "interrupted"));
        signal?.throwIfAborted();
      },
    };
    expect(await main(["chat", "--replay", name, "--json"], context)).toBe(130);
    expect(JSON.parse(test.stdoutText())).toMatchObject({ status: "interrupted" });
  });
});
