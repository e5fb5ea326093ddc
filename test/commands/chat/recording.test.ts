import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SignalReceived } from "../../../src/context.ts";
import { main } from "../../main.ts";
import { createTestContext } from "../../support.ts";
import { answer, createWorld, rawTurn, replay, type World } from "./support.ts";

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
