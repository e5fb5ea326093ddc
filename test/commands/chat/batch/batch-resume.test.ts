import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { FaultRule } from "../../../../src/sandbox/http/faults.ts";
import { answer, chatPath, createWorld, rawTurn, type World } from "../support.ts";

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

function write(world: World, name: string, lines: readonly object[]): void {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`);
  writeFileSync(join(world.home, name), text.join(""));
}

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
    for (const flags of [[], ["--no-reask"]]) {
      const { code, stdout, stderr } = await world.run([...resume, ...flags]);
      expect(code).toBe(0);
      expect(told(stdout)).toMatchObject([
        { id: "a", status: "ok", sessionId: results[0]?.sessionId, question: results[0]?.question },
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
      const session = { chat_session_id: results[0]?.sessionId, current_run: {}, messages: stored };
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
