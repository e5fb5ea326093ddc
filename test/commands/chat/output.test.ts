import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { main } from "../../main.ts";
import { denyWritingIn } from "../../file-system.ts";
import { createTestContext } from "../../support.ts";
import { document, sessionId } from "../../output/chat/lines.ts";
import { answer, createWorld, rawTurn, replay } from "./support.ts";

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
