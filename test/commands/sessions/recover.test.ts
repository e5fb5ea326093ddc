import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { FaultRule } from "../../../src/sandbox/http/faults.ts";
import { answer, chatPath, rawTurn } from "../chat/support.ts";
import { createSessionsWorld, sessionPath } from "./support.ts";

const stored = JSON.parse(
  readFileSync(new URL("../../fixtures/wire/stored-session.json", import.meta.url), "utf8"),
) as { chat_session_id: string; messages: { message_id: number }[] };
const id = stored.chat_session_id;

const resumePath = "/api/chat/chat-session/";

function keeps(over: object, when: FaultRule["when"] = {}): FaultRule {
  return {
    when: { path: sessionPath, ...when },
    do: { status: 200, body: { ...stored, ...over } },
  };
}

const complete = { messages: stored.messages.slice(0, 4) };
const running = { current_run: { run_id: "r" } };

describe("sessions recover", () => {
  it("follows an answer that is still being made, from its beginning, and asks nothing", async () => {
    const streams = (lines: string[]) => ({
      status: 200,
      headers: { "content-type": "text/event-stream" },
      body: `${lines.join("\n")}\n`,
    });
    const rules: FaultRule[] = [
      { when: { path: chatPath }, do: streams(rawTurn.slice(0, 4)) },
      { when: { path: resumePath }, do: streams(rawTurn) },
      keeps(running),
    ];
    const world = await createSessionsWorld({ faults: { rules } });
    const cut = await world.run(["How do I request leave?"]);
    expect(cut).toMatchObject({ code: 11, stdout: "" });
    const [, command = ""] = /knowctl (sessions recover \S+)/.exec(cut.stderr) ?? [];
    const { code, stdout } = await world.command(command.split(" "));
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${answer}\n` });
    expect(world.sandbox.ledger.chats).toEqual([]);
    const asked = world.sandbox.ledger.requests.filter(({ method }) => method === "POST");
    expect(asked).toHaveLength(1);
    expect(world.sandbox.ledger.requests.at(-1)?.path).toContain("/resume-stream?cursor=0");
  });

  it("warns of an end that nobody knows to be whole", async () => {
    const end = { placement: { turn_index: 2 }, obj: { type: "stop", stop_reason: "max_tokens" } };
    const body = `${[...rawTurn.slice(0, -1), JSON.stringify(end)].join("\n")}\n`;
    const rules: FaultRule[] = [
      {
        when: { path: resumePath },
        do: { status: 200, headers: { "content-type": "text/event-stream" }, body },
      },
      keeps(running),
    ];
    const world = await createSessionsWorld({ faults: { rules } });
    const { code, stderr } = await world.command(["sessions", "recover", id]);
    expect(code).toBe(0);
    expect(stderr).toContain("warning: the answer may be incomplete: the service ended it with");
  });

  it("reads an answer that is complete from the session", async () => {
    const world = await createSessionsWorld({ faults: { rules: [keeps(complete)] } });
    const { code, stdout, stderr } = await world.command(["sessions", "recover", id]);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: "Ask your manager [[1]](https://docs.example.com/leave). Two weeks ahead [2].\n",
    });
    expect(stderr).toContain("[1] Leave [policy]");
  });

  it("has the forms of a chat", async () => {
    const world = await createSessionsWorld({ faults: { rules: [keeps(complete)] } });
    const json = await world.command(["sessions", "recover", id, "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({
      status: "ok",
      sessionId: id,
      messageId: 4,
      citations: [{ number: 1 }, { number: 2 }],
    });
    const ndjson = await world.command(["sessions", "recover", id, "-o", "ndjson"]);
    expect(JSON.parse(ndjson.stdout.trimEnd().split("\n").at(-1)!)).toMatchObject({
      type: "result",
      status: "ok",
    });
    expect(await world.command(["sessions", "recover", id, "-o", "packets"])).toMatchObject({
      code: 2,
    });
  });

  it("takes no placeholder for an answer", async () => {
    const world = await createSessionsWorld({ faults: { rules: [keeps({})] } });
    for (const more of [[], ["--poll"]]) {
      const { code, stdout, stderr } = await world.command(["sessions", "recover", id, ...more]);
      expect({ code, stdout }).toEqual({ code: 11, stdout: "" });
      expect(stderr).toContain("stored nothing");
    }
    expect(world.sandbox.ledger.chats).toEqual([]);
  });

  const noStream: FaultRule = {
    when: { path: resumePath },
    do: { status: 404, body: { error_code: "NOT_FOUND", detail: "No run to resume" } },
  };

  it("waits with --poll where the run cannot be followed, and is exit 11 without", async () => {
    const rules = [noStream, keeps(running, { first: 8 }), keeps(complete, { after: 8 })];
    const world = await createSessionsWorld({ faults: { rules } });
    const once = await world.command(["sessions", "recover", id]);
    expect(once).toMatchObject({ code: 11, stdout: "" });
    expect(once.stderr).toContain(`sessions recover --poll ${id}`);
    const waited = await world.command(["sessions", "recover", "--poll", id]);
    expect(waited.code).toBe(0);
    expect(waited.stdout).toContain("Ask your manager");
    // Longer from time to time; two looks before each.
    expect(waited.sleeps).toEqual([1000, 1500, 2250]);
  });

  it.each([
    [[], "Ask your manager [[1]](https://docs.example.com/leave). Two weeks ahead [2].\n"],
    [
      ["--live"],
      "Let me look that up.\nAsk your manager [[1]](https://docs.example.com/leave). Two weeks ahead [2].\n",
    ],
  ])("goes on waiting with --poll %j when the stream is cut again", async (flags, text) => {
    const stream = {
      status: 200,
      headers: { "content-type": "text/event-stream" },
      body: `${rawTurn.slice(0, 12).join("\n")}\n`,
    };
    const rules: FaultRule[] = [
      { when: { path: resumePath }, do: stream },
      keeps(running, { first: 4 }),
      keeps(complete, { after: 4 }),
    ];
    const world = await createSessionsWorld({ faults: { rules } });
    const once = await world.command(["sessions", "recover", id]);
    expect(once.code).toBe(11);
    const waited = await world.command(["sessions", "recover", "--poll", ...flags, id]);
    expect(waited).toMatchObject({ code: 0, stdout: text });
    expect(waited.stderr).toContain("cut again");
    const followed = world.sandbox.ledger.requests.filter(({ path }) => path.includes("resume"));
    expect(followed).toHaveLength(2);
  });

  it("does not wait for ever", async () => {
    const world = await createSessionsWorld({ faults: { rules: [noStream, keeps(running)] } });
    const args = ["sessions", "recover", "--poll", "--timeout", "0.5", id];
    const { code, stderr } = await world.command(args);
    expect(code).toBe(11);
    expect(stderr).toContain("the waiting time is over");
  });

  it("waits for a service that is too old to say whether a run is in flight", async () => {
    const { current_run: _, ...old } = stored as typeof stored & { current_run: null };
    const rules: FaultRule[] = [
      { when: { path: sessionPath, first: 2 }, do: { status: 200, body: old } },
      keeps(complete, { after: 2 }),
    ];
    const world = await createSessionsWorld({ faults: { rules } });
    expect(await world.command(["sessions", "recover", id])).toMatchObject({ code: 11 });
    expect(await world.command(["sessions", "recover", id, "--poll"])).toMatchObject({ code: 0 });
  });

  it("tells a failed answer from a complete one", async () => {
    const failed = { ...stored.messages[3], message: "", error: "The model refused" };
    const messages = [...stored.messages.slice(0, 3), failed];
    const world = await createSessionsWorld({ faults: { rules: [keeps({ messages })] } });
    const { code, stderr } = await world.command(["sessions", "recover", id]);
    expect(code).toBe(8);
    expect(stderr).toContain("The model refused");
  });

  it("gives the answer to the question of this machine, whatever came after it", async () => {
    const cutLines = [
      { chat_session_id: id },
      { user_message_id: 2, reserved_assistant_message_id: 4 },
    ].map((line) => JSON.stringify(line));
    const body = `${cutLines.join("\n")}\n`;
    const headers = { "content-type": "text/event-stream" };
    const world = await createSessionsWorld({
      faults: {
        rules: [{ when: { path: chatPath }, do: { status: 200, headers, body } }, keeps({})],
      },
    });
    expect(await world.run(["How do I request leave?"])).toMatchObject({ code: 11 });
    // The last message of the session is a placeholder; the one that was asked for is not.
    const { code, stdout } = await world.command(["sessions", "recover"]);
    expect(code).toBe(0);
    expect(stdout).toContain("Ask your manager");
  });

  it("says that a session holds no answer", async () => {
    const messages = stored.messages.slice(0, 2);
    const world = await createSessionsWorld({ faults: { rules: [keeps({ messages })] } });
    expect(await world.command(["sessions", "recover", id])).toMatchObject({ code: 9 });
  });

  it("is exit 11 with what came when this stream is cut, too", async () => {
    const headers = { "content-type": "text/event-stream" };
    const body = `${rawTurn.slice(0, -1).join("\n")}\n`;
    const rules: FaultRule[] = [
      { when: { path: resumePath }, do: { status: 200, headers, body } },
      keeps(running),
    ];
    const world = await createSessionsWorld({ faults: { rules } });
    const { code, stdout, stderr } = await world.command(["sessions", "recover", id]);
    expect(code).toBe(11);
    expect(stdout).toContain("Ask your manager");
    expect(stderr).toContain("sessions recover");
    expect(stderr).not.toContain("may have been delivered");
  });
});

describe("an answer in one piece", () => {
  it("has its session before it is asked for, so that a cut one can be recovered", async () => {
    const world = await createSessionsWorld({
      faults: { rules: [{ when: { path: chatPath }, do: "reset-after-store" }] },
    });
    const cut = await world.run(["--no-stream", "a question"]);
    expect(cut.code).toBe(11);
    expect(cut.stderr).toMatch(/knowctl sessions recover [0-9a-f-]{36}/);
    const { code, stdout } = await world.command(["sessions", "recover", "--poll"]);
    expect(code).toBe(0);
    expect(stdout).toContain("Extractive answer");
    expect(world.sandbox.ledger.chats).toHaveLength(1);
    expect(world.asked()).toHaveProperty("chat_session_id");
  });

  it("is asked for without one where a service cannot make it", async () => {
    const create = "/api/chat/create-chat-session";
    const world = await createSessionsWorld({
      faults: { rules: [{ when: { path: create }, do: { status: 404, body: {} } }] },
    });
    expect(await world.run(["--no-stream", "hi"])).toMatchObject({ code: 0 });
    expect(world.asked()).not.toHaveProperty("chat_session_id");
  });
});
