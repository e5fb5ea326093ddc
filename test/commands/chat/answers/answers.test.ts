import type { SandboxOptions } from "../../../../src/sandbox/options.ts";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { main } from "../../../main.ts";
import { createTestContext } from "../../../support.ts";
import { failureLine, packet, sessionId, start, stop, text } from "../../../output/chat/lines.ts";
import { type World, answer, chatPath, createWorld, rawTurn, replay } from "../support.ts";

const broken = '{"placement":{"turn_index":3},"obj":{"type":"message_delta","content":"your ma';

/** A world whose service answers with this body, as it is. */
function answering(
  body: string,
  contentType = "text/event-stream",
  more: Partial<SandboxOptions> = {},
) {
  const headers = { "content-type": contentType };
  const rules = [{ when: { path: chatPath }, do: { status: 200, headers, body } }];
  return createWorld({ ...more, faults: { rules } });
}

const last = (stdout: string): unknown => JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "");

describe("a damaged line", () => {
  const lines = [...rawTurn.slice(0, 13), broken, ...rawTurn.slice(13)];
  const damage = "the answer is damaged: 1 line of the stream could not be read, and its content";

  it("of a stream is told, and what was received is shown and kept", async () => {
    const world = await replay(lines, { dialect: "onyx" });
    writeFileSync(join(world.home, "a.md"), "good\n");
    const { code, stdout, stderr } = await world.run(["--save", "a.md", "hi"]);
    expect({ code, stdout }).toEqual({ code: 11, stdout: `${answer}\n` });
    expect(stderr).toContain(damage);
    expect(stderr).toContain(`knowctl sessions recover ${sessionId}`);
    expect(readFileSync(join(world.home, "a.md"), "utf8")).toBe("good\n");
    expect(readFileSync(join(world.home, "a.md.partial"), "utf8")).toBe(`${answer}\n`);
  });

  it("is told in the result of json and ndjson", async () => {
    for (const format of ["json", "ndjson"]) {
      const world = await replay(lines);
      const { code, stdout } = await world.run(["--output", format, "hi"]);
      expect(code).toBe(11);
      expect(format === "json" ? JSON.parse(stdout) : last(stdout)).toMatchObject({
        status: "incomplete",
        answer,
        error: { exit: "incomplete", message: expect.stringContaining(damage) },
      });
    }
  });

  it("stands in --output packets as it came", async () => {
    const world = await replay(lines);
    const { code, stdout } = await world.run(["--output", "packets", "hi"]);
    expect(code).toBe(11);
    expect(stdout.trimEnd().split("\n")).toEqual(lines);
  });

  it("is told of a recording that is played again", async () => {
    const world = await replay(lines);
    await world.run(["--record", "r.ndjson", "hi"]);
    const args = ["--replay", "r.ndjson", "--replay-speed", "0"];
    const { code, stdout, stderr } = await world.run(args);
    expect({ code, stdout }).toEqual({ code: 11, stdout: `${answer}\n` });
    expect(stderr).toContain(damage);
  });

  it("is told in a batch", async () => {
    const world = await replay(lines);
    writeFileSync(join(world.home, "q.ndjson"), '{"message":"hi"}\n');
    const { code, stdout } = await world.run(["--batch", "q.ndjson"]);
    expect(code).toBe(10);
    expect(last(stdout)).toMatchObject({ status: "incomplete", answer });
  });

  it.each([
    ["that is the first", (good: string[]) => [broken, ...good]],
    ["of another kind than JSON", (good: string[]) => ["upstream gone", ...good]],
    [
      "whose text is none",
      (good: string[]) => ['{"obj":{"type":"message_delta","content":null}}', ...good],
    ],
    [
      "of data: between others that no empty line separates",
      (good: string[]) =>
        [...good.slice(0, 13), broken, ...good.slice(13)].map((line) => `data: ${line}`),
    ],
    [
      "of data: between others",
      (good: string[]) =>
        [...good.slice(0, 13), broken, ...good.slice(13)].map((line) => `data: ${line}\n`),
    ],
  ])("%s is one, too", async (_name, make) => {
    const world = await replay(make([...rawTurn]));
    const { code, stdout, stderr } = await world.run(["hi"]);
    expect({ code, stdout }).toEqual({ code: 11, stdout: `${answer}\n` });
    expect(stderr).toContain(damage);
  });
});

describe("a body that is no stream", () => {
  const reply = {
    answer: "yes [[1]]()",
    error_msg: null,
    message_id: 3,
    chat_session_id: sessionId,
  };

  it.each([
    ["on one line", JSON.stringify(reply), "application/json"],
    ["over several lines", JSON.stringify(reply, null, 2), "application/json"],
    ["under the type of a stream", `${JSON.stringify(reply)}\n`, "text/event-stream"],
    ["in the frame of a stream", `data: ${JSON.stringify(reply)}\n\n`, "text/event-stream"],
    ["behind a comment", `: ok\n\n${JSON.stringify(reply)}`, "text/event-stream"],
  ])("but the whole reply %s is the answer", async (_name, body, type) => {
    const world = await answering(body, type);
    const { code, stdout, stderr } = await world.run(["--save", "a.md", "hi"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "yes [1]\n" });
    expect(stderr).toContain(sessionId);
    expect(readFileSync(join(world.home, "a.md"), "utf8")).toBe("yes [1]\n");
    const json = await world.run(["--json", "hi"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ status: "ok", messageId: 3, sessionId });
  });

  it("and its failure is the failure of the turn", async () => {
    const world = await answering(JSON.stringify({ ...reply, answer: "", error_msg: "gone" }));
    const { code, stderr } = await world.run(["hi"]);
    expect(code).toBe(8);
    expect(stderr).toContain("gone");
  });

  it("can be recorded and played again", async () => {
    const world = await answering(JSON.stringify(reply, null, 2), "application/json");
    await world.run(["--record", "r.ndjson", "hi"]);
    const args = ["--replay", "r.ndjson", "--replay-speed", "0"];
    expect(await world.run(args)).toMatchObject({ code: 0, stdout: "yes [1]\n" });
  });

  it.each([
    ['{"detail":"the model is resting"}', "application/json", "the message: the model is resting"],
    ['{\n  "message": "no such tenant"\n}', "application/json", "the message: no such tenant"],
    ["[]", "application/json", "a JSON array"],
    ['[\n  {"answer": "yes"}\n]', "application/json", "a JSON array"],
    ["{}", "application/json", "an unknown JSON object"],
    [
      "<!doctype html>\n<title>Sign in</title>\n",
      "text/event-stream",
      'a web page titled "Sign in"',
    ],
    ["upstream connect error\n", "text/event-stream", "the text: upstream connect error"],
    ["<html></html>", "text/html", "text/html"],
  ])("is told as what it is: %s", async (body, type, words) => {
    const world = await answering(body, type);
    const { code, stdout, stderr } = await world.run(["hi"]);
    expect({ code, stdout }).toEqual({ code: 8, stdout: "" });
    expect(stderr).toContain(words);
    expect(world.sandbox.ledger.requestCount).toBe(1);
  });

  it.each(['{"detail":"the model is resting"}', '{"error":"the model is resting"}'])(
    "is told as what it is where no stream was asked for: %s",
    async (body) => {
      const world = await answering(body, "application/json");
      const { code, stdout, stderr } = await world.run(["--no-stream", "hi"]);
      expect({ code, stdout }).toEqual({ code: 8, stdout: "" });
      expect(stderr).toContain("the model is resting");
    },
  );

  it.each(["", '{"placement":{"turn_index":0},"obj":{"type":"mess', "data: {", "\n\n"])(
    "may be the beginning of one: %j is cut",
    async (body) => {
      const world = await answering(body);
      const { code, stderr } = await world.run(["hi"]);
      expect(code).toBe(11);
      expect(stderr).toContain("the answer is cut");
    },
  );
});

describe("a turn without an answer", () => {
  it("that the service calls finished has nothing to recover", async () => {
    const finished = packet({ type: "stop", stop_reason: "finished" });
    const world = await replay([...rawTurn.slice(0, 2), finished.raw], { dialect: "onyx" });
    const { code, stderr } = await world.run(["hi"]);
    expect(code).toBe(11);
    expect(stderr).toContain("ask again, in other words");
    expect(stderr).not.toContain("sessions recover");
  });

  const images = (...made: object[]) => packet({ type: "image_generation_final", images: made }, 1);
  const raw = (lines: { raw: string }[]): string[] => [
    ...rawTurn.slice(0, 2),
    ...lines.map((line) => line.raw),
    stop.raw,
  ];
  const reasoning = packet({ type: "reasoning_delta", reasoning: "Hm." });
  const search = packet({ type: "search_tool_start", is_internet_search: false }, 1);

  it.each([
    ["at all", []],
    ["but with reasoning", [reasoning]],
    ["but with a tool", [search, packet({ type: "search_tool_queries_delta", queries: ["a"] }, 1)]],
    ["but white space", [start(1), text(" \n\t\u200b", 1)]],
    ["but text before a tool", [start(0), text("Let me see.", 0), search]],
    ["but an image that was not made", [images()]],
  ])("%s claims nothing", async (_name, lines) => {
    const world = await replay(raw(lines));
    writeFileSync(join(world.home, "a.md"), "good\n");
    writeFileSync(join(world.home, "q.ndjson"), '{"id":"a","message":"hi"}\n');
    const { code, stderr } = await world.run(["--save", "a.md", "hi"]);
    expect(code).toBe(11);
    expect(stderr).toContain("no answer: the service ended the turn without text, image or file");
    expect(readFileSync(join(world.home, "a.md"), "utf8")).toBe("good\n");
    expect(existsSync(join(world.home, "a.md.partial"))).toBe(false);
    const json = await world.run(["--json", "hi"]);
    expect(json.code).toBe(11);
    expect(JSON.parse(json.stdout)).toMatchObject({ status: "incomplete" });
    const batch = await world.run(["--batch", "q.ndjson"]);
    expect(batch.code).toBe(10);
    expect(last(batch.stdout)).toMatchObject({ status: "incomplete" });
  });

  it.each([
    ["an image", [images({ file_id: "img-1", url: null })]],
    ["a file", [packet({ type: "python_tool_delta", file_ids: ["f-1"] }, 1)]],
  ])("but with %s has one", async (_name, lines) => {
    const world = await replay(raw(lines), { dialect: "onyx" });
    writeFileSync(join(world.home, "a.md"), "good\n");
    const { code, stdout } = await world.run(["--save", "a.md", "hi"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^(?:image http\S+img-1|file f-1)\n$/);
    expect(readFileSync(join(world.home, "a.md"), "utf8")).toBe(stdout);
  });

  it("that came whole claims nothing either", async () => {
    const world = await answering('{"answer":" ","error_msg":null}', "application/json");
    expect(await world.run(["--no-stream", "hi"])).toMatchObject({ code: 11 });
  });
});

const wire = (name: string): string =>
  readFileSync(new URL(`../../../fixtures/wire/${name}`, import.meta.url), "utf8");

describe("several models", () => {
  const lines = wire("multi-model.ndjson");
  const both = "## m-1\n\nOne\n\n## m-2\n\nTwo\n";

  it("are all shown, each below its name, and saved", async () => {
    const world = await answering(lines);
    for (const flags of [[], ["--live"]]) {
      const { code, stdout } = await world.run([...flags, "--save", "a.md", "hi"]);
      expect({ code, stdout }).toEqual({ code: 0, stdout: both });
      expect(readFileSync(join(world.home, "a.md"), "utf8")).toBe(both);
    }
    const terminal = await world.run(["--render", "plain", "hi"], { isTTY: true });
    expect(terminal.stdout).toContain("m-1\n\nOne\n\n## m-2\n\nTwo\n");
  });

  it("are members of the result, and events name their model", async () => {
    const world = await answering(lines);
    const { stdout } = await world.run(["--output", "ndjson", "hi"]);
    expect(last(stdout)).toMatchObject({
      status: "ok",
      answer: "One",
      answers: [
        { model: "m-1", messageId: 13, answer: "One" },
        { model: "m-2", messageId: 14, answer: "Two" },
      ],
    });
    const texts = stdout.split("\n").filter((line) => line.includes('"type":"text"'));
    expect(texts.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { text: "One", model: 0 },
      { text: "Two", model: 1 },
    ]);
  });

  it("of which one fails are no success, and its name is told", async () => {
    const world = await answering(wire("multi-model-one-fails.ndjson"));
    const { code, stdout, stderr } = await world.run(["--save", "a.md", "hi"]);
    const expected = "## m-1\n\nOne\n\n## m-2\n\n(no answer)\n";
    expect({ code, stdout }).toEqual({ code: 8, stdout: expected });
    expect(stderr).toContain("m-2 did not answer: The model refused the request.");
    expect(existsSync(join(world.home, "a.md"))).toBe(false);
  });

  it("are all shown and recovered from the session that keeps them", async () => {
    const world = await createWorld({ dialect: "onyx" });
    const overrides = ["m-1", "m-2"].map((each) => ({ model_version: each, display_name: each }));
    writeFileSync(join(world.home, "p.json"), JSON.stringify({ llm_overrides: overrides }));
    const asked = await world.run(["--payload", "p.json", "--json", "hi"]);
    expect(asked.code).toBe(0);
    const { sessionId: id } = JSON.parse(asked.stdout) as { sessionId: string };
    const command = async (...args: string[]): Promise<string> => {
      const context = createTestContext({ cwd: world.home, env: world.env });
      expect(await main(["sessions", ...args], context)).toBe(0);
      return context.stdoutText();
    };
    expect(await command("show", id)).toMatch(/m-1\n[^]*m-2\n/);
    expect(await command("export", id)).toMatch(/· m\\-1\n[^]*· m\\-2\n/);
    const shown = JSON.parse(await command("show", id, "--json")) as { messages: object[] };
    expect(shown.messages).toMatchObject([{ role: "user" }, { model: "m-1" }, { model: "m-2" }]);
    expect(await command("recover", id)).toMatch(/^## m-1\n\n[^]+\n\n## m-2\n\n/);
    const recovered = JSON.parse(await command("recover", id, "--json")) as object;
    expect(recovered).toMatchObject({ answers: [{ model: "m-1" }, { model: "m-2" }] });
    expect(await command("recover", id, "--jq", ".answers[1].model")).toBe("m-2\n");
  });

  it("of which one says nothing are no success", async () => {
    const world = await answering(lines.replace('"content":"Two"', '"content":" "'));
    const { code, stderr } = await world.run(["hi"]);
    expect(code).toBe(11);
    expect(stderr).toContain("no answer of m-2");
  });
});

/** A world whose service streams these lines, whatever it was asked for. */
function streaming(
  lines: readonly string[],
  type = "text/event-stream",
  dialect: "standard" | "onyx" = "standard",
): Promise<World> {
  const headers = { "content-type": type };
  const body = `${lines.join("\n")}\n`;
  const rules = [{ when: { path: chatPath }, do: { status: 200, headers, body } }];
  return createWorld({ dialect, faults: { rules } });
}

const sse = rawTurn.map((line) => `data: ${line}\n`);

describe("--no-stream, answered by a stream", () => {
  it.each([
    ["lines", rawTurn, "text/event-stream; charset=utf-8"],
    ["SSE", sse, "text/event-stream"],
    ["lines under their own type", rawTurn, "application/x-ndjson"],
    ["lines under the type of a reply", rawTurn, "application/json"],
  ])("takes it as the answer: %s", async (_name, lines, type) => {
    const world = await streaming(lines, type);
    const { code, stdout, stderr } = await world.run(["--no-stream", "--save", "a.md", "hi"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${answer}\n` });
    expect(stderr).toContain(sessionId);
    expect(readFileSync(join(world.home, "a.md"), "utf8")).toBe(`${answer}\n`);
    const json = await world.run(["--no-stream", "--json", "hi"]);
    const streamed = await world.run(["--json", "hi"]);
    const untimed = (text: string): object => ({ ...JSON.parse(text), timings: null });
    expect(untimed(json.stdout)).toEqual(untimed(streamed.stdout));
  });

  it("shows its packets as they came", async () => {
    const world = await streaming(rawTurn);
    const { code, stdout } = await world.run(["--no-stream", "--output", "packets", "hi"]);
    expect({ code, lines: stdout.trimEnd().split("\n") }).toEqual({ code: 0, lines: rawTurn });
  });

  it("can be recorded and played again", async () => {
    const world = await streaming(rawTurn);
    await world.run(["--no-stream", "--record", "r.ndjson", "hi"]);
    const args = ["--replay", "r.ndjson", "--replay-speed", "0"];
    expect(await world.run(args)).toMatchObject({ code: 0, stdout: `${answer}\n` });
  });

  it("answers a batch", async () => {
    const world = await streaming(rawTurn);
    writeFileSync(join(world.home, "q.ndjson"), '{"message":"hi"}\n');
    const { code, stdout } = await world.run(["--no-stream", "--batch", "q.ndjson"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ status: "ok", answer });
  });

  const cut = rawTurn.slice(0, -1);
  it.each([
    ["that is cut", cut, 11, "the answer is cut"],
    ["with a damaged line", [...cut, '{"obj":', ...rawTurn.slice(-1)], 11, "is damaged"],
    ["that fails", [...cut, failureLine("too many", "RATE_LIMITED").raw], 6, "too many"],
  ])("of one %s keeps what came", async (_name, lines, exit, words) => {
    const world = await streaming(lines, "text/event-stream", "onyx");
    const { code, stdout, stderr } = await world.run(["--no-stream", "hi"]);
    expect({ code, stdout }).toEqual({ code: exit, stdout: `${answer}\n` });
    expect(stderr).toContain(words);
    expect(stderr).toContain(sessionId);
  });

  it("of one with nothing in it is cut", async () => {
    const world = await streaming([""]);
    expect(await world.run(["--no-stream", "hi"])).toMatchObject({ code: 11, stdout: "" });
  });
});

/** The lines of `> file 2>&1`. */
async function runIntoOneFile(world: World, args: string[]): Promise<string[]> {
  const context = createTestContext({ cwd: world.home, env: world.env });
  const parts: string[] = [];
  const write = async (part: string | Uint8Array): Promise<void> => {
    parts.push(Buffer.from(part).toString());
  };
  const stdout = { ...context.stdout, write };
  const stderr = { ...context.stderr, write };
  await main(["chat", ...args], { ...context, stdout, stderr });
  return parts.join("").split("\n");
}

describe("stdout and stderr in one file", () => {
  const damaged = [...rawTurn.slice(0, -1), '{"obj":', ...rawTurn.slice(-1)];
  const cut = rawTurn.slice(0, -1);

  it.each([
    ["damaged", damaged],
    ["cut", cut],
  ])("keep the note of --save and a %s answer on lines of their own", async (_name, lines) => {
    for (const flags of [[], ["--live"], ["--live", "--show", "none"]]) {
      const world = await replay(lines);
      const written = await runIntoOneFile(world, [...flags, "--save", "a.md", "hi"]);
      expect(written).toContain(answer);
      const at = written.findIndex((line) => line.startsWith("warning: the part of the answer"));
      expect(at).toBeGreaterThan(written.indexOf(answer));
      // No empty line stands where the break was missing before.
      expect(written[at + 1]).toMatch(/^error: /);
    }
  });

  it("keep the warning of a session that is not remembered on a line of its own", async () => {
    for (const flags of [[], ["--live"]]) {
      const world = await replay(rawTurn);
      mkdirSync(join(world.home, "state", "knowctl"), { recursive: true });
      writeFileSync(join(world.home, "state", "knowctl", "sessions"), "");
      const written = await runIntoOneFile(world, [...flags, "hi"]);
      expect(written).toContain(answer);
      expect(written.filter((line) => line.includes("not remembered"))).toEqual([
        expect.stringMatching(/^warning: /),
      ]);
    }
  });
});
