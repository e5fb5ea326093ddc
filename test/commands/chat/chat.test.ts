import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type TestContextOptions } from "../../support.ts";
import { createWorld, upload } from "./support.ts";

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

describe("files", () => {
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
    mkdirSync(join(world.home, "state", "knowctl"), { recursive: true });
    writeFileSync(join(world.home, "state", "knowctl", "sessions"), "");
    const { code, stderr } = await world.run(["hi"]);
    expect(code).toBe(0);
    expect(stderr).toContain("not remembered");
  });
});
