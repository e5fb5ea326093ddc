import { describe, expect, it } from "vitest";
import { type ChatEvent, type ChatReply, Packet } from "../../../src/api/chat-schemas.ts";
import { type Turn, advance, createTurn } from "../../../src/output/chat/turn/answer.ts";
import { applyPiece } from "../../../src/output/chat/turn/reply.ts";
import {
  document,
  failureLine,
  idsLine,
  packet,
  searchTurn,
  sessionId,
  start,
  stop,
  text,
} from "./lines.ts";
import { readFileSync, readdirSync } from "node:fs";
import { parseStreamLine } from "../../../src/api/chat/packets.ts";
import { createDecoder } from "../../../src/api/chat/follow-turn.ts";
import { ChatEventLine } from "../../../src/output/chat/turn/chat-events.ts";
import { createWorld, rawTurn, replay } from "../../commands/chat/support.ts";
import { answer, each, fine, play } from "./play.ts";
import type { Outcome } from "../../../src/output/chat/renderer.ts";

describe("answer", () => {
  /** The turn and the events of a whole reply. */
  function applyReply(reply: ChatReply) {
    const turn = createTurn();
    return { turn, events: applyPiece(turn, [{ raw: "", kind: "reply", reply }]) };
  }

  function play(lines: readonly ChatEvent[]): { turn: Turn; types: string[] } {
    const turn = createTurn();
    const types = lines.flatMap((line) => advance(turn, line)).map((event) => event.type);
    return { turn, types };
  }

  const answers: [name: string, lines: ChatEvent[], answer: string, interim: string[]][] = [
    ["plain text", [start(), text("Hel"), text("lo"), stop], "Hello", []],
    ["empty deltas", [start(), text(""), text("a"), text(""), stop], "a", []],
    [
      "a second message_start of the same turn goes on",
      [start(1), text("a", 1), start(1), text("b", 1)],
      "ab",
      [],
    ],
    [
      "a later message_start begins afresh",
      [start(1), text("a", 1), start(2), text("b", 2)],
      "b",
      ["a"],
    ],
    [
      "a tool drops what came before it",
      [start(), text("a"), packet({ type: "python_tool_start", code: "1" }, 1)],
      "",
      ["a"],
    ],
    [
      "reasoning is no tool",
      [start(), text("a"), packet({ type: "reasoning_delta", reasoning: "x" }, 1), text("b", 1)],
      "ab",
      [],
    ],
    [
      "the end of a section is no tool",
      [start(), text("a"), packet({ type: "section_end" }), stop],
      "a",
      [],
    ],
    [
      "a heartbeat is no tool",
      [start(), text("a"), packet({ type: "chat_heartbeat" }), text("b")],
      "ab",
      [],
    ],
    [
      "a failed tool without a name drops nothing",
      [start(), text("a"), packet({ type: "error" }, 1)],
      "a",
      [],
    ],
    [
      "parallel tools drop it",
      [start(), text("a"), packet({ type: "top_level_branching", num_parallel_branches: 2 }, 1)],
      "",
      ["a"],
    ],
    [
      "arguments of a call in the making drop it",
      [start(), text("a"), packet({ type: "tool_call_argument_delta", tool_type: "python" }, 1)],
      "",
      ["a"],
    ],
    [
      "text inside a tool is the tool's",
      [
        start(1),
        text("a", 1),
        packet({ type: "message_start" }, 2, { sub_turn_index: 0 }),
        packet({ type: "message_delta", content: "inner" }, 2, { sub_turn_index: 0 }),
        start(3),
        text("b", 3),
        stop,
      ],
      "b",
      ["a"],
    ],
    [
      "a second model's text is left out",
      [
        start(),
        text("a"),
        packet({ type: "message_delta", content: "other" }, 0, { model_index: 1 }),
        stop,
      ],
      "a",
      [],
    ],
    [
      "two steps before the answer",
      [
        start(0),
        text("x"),
        packet({ type: "open_url_start" }, 1),
        start(2),
        text("y", 2),
        packet({ type: "bash_tool_start", cmd: "ls" }, 3),
        start(4),
        text("z", 4),
        stop,
      ],
      "z",
      ["x", "y"],
    ],
  ];

  describe("assembling the answer", () => {
    it.each(answers)("%s", (_name, lines, answer, interim) => {
      const { turn } = play(lines);
      expect(turn.answer).toBe(answer);
      expect(turn.interim).toEqual(interim);
    });

    it("says that text was interim before it says which tool follows", () => {
      const { types } = play([start(), text("a"), packet({ type: "open_url_start" }, 1)]);
      expect(types).toEqual(["start", "text", "interim", "tool"]);
    });

    it("keeps ids, citations, documents, queries and reasoning of a whole turn", () => {
      const { turn } = play(searchTurn);
      expect(turn).toMatchObject({
        sessionId,
        userMessageId: 12,
        messageId: 13,
        answer: "Ask your manager [[1]](https://docs.example.com/leave).",
        interim: ["Let me look that up."],
        reasoning: "They ask about leave.\n",
        stopped: true,
        stopReason: null,
      });
      expect([...turn.citations]).toEqual([[1, "hr/leave"]]);
      expect([...turn.documents.keys()]).toEqual(["hr/leave", "hr/sick"]);
      expect(turn.tools).toMatchObject([
        { tool: "search", internet: false, queries: ["leave", "vacation policy"], failed: false },
      ]);
    });

    it("tells parallel tools apart and gives an unnamed failure to the tool at its place", () => {
      const { turn } = play([
        packet({ type: "top_level_branching", num_parallel_branches: 2 }, 1),
        packet({ type: "custom_tool_start", tool_name: "jira", tool_id: 7 }, 1, { tab_index: 0 }),
        packet({ type: "search_tool_start", is_internet_search: true }, 1, { tab_index: 1 }),
        packet({ type: "custom_tool_delta", tool_name: "jira", data: { n: 1 } }, 1, {
          tab_index: 0,
        }),
        packet({ type: "error" }, 1, { tab_index: 1 }),
      ]);
      expect(turn.tools).toMatchObject([
        { tool: "jira", toolId: 7, output: '{"n":1}', failed: false },
        { tool: "search", internet: true, failed: true },
      ]);
    });

    it("keeps the reason of a stop and the words of a failure", () => {
      expect(play([packet({ type: "stop", stop_reason: "user_cancelled" })]).turn.stopReason).toBe(
        "user_cancelled",
      );
      expect(play([idsLine, failureLine("no", "RATE_LIMIT")]).turn.failure).toMatchObject({
        message: "no",
        code: "RATE_LIMIT",
      });
    });

    it("leaves out the failure of a second model", () => {
      const failure = { error: "no", details: { model_index: 1 } };
      expect(play([{ raw: "", kind: "failure", failure }]).turn.failure).toBeNull();
    });

    it("ignores lines it does not know", () => {
      expect(play([{ raw: '{"new":1}', kind: "unknown" }]).types).toEqual([]);
    });
  });

  describe("every packet type", () => {
    const samples: Record<string, Record<string, unknown>> = {
      top_level_branching: { num_parallel_branches: 2 },
      message_delta: { content: "x" },
      citation_info: { citation_number: 1, document_id: "d" },
      reasoning_delta: { reasoning: "x" },
      search_tool_queries_delta: { queries: ["q"] },
      search_tool_documents_delta: { documents: [document("d")] },
      open_url_urls: { urls: ["https://x"] },
      open_url_documents: { documents: [] },
      image_generation_final: { images: [{ url: "https://x/i.png" }] },
      python_tool_start: { code: "1" },
      custom_tool_start: { tool_name: "t" },
      custom_tool_args: { tool_name: "t", tool_args: { a: 1 } },
      custom_tool_delta: { tool_name: "t", error: { message: "no", status_code: 500 } },
      deep_research_plan_delta: { content: "x" },
      intermediate_report_delta: { content: "x" },
      coding_agent_thinking_delta: { content: "x" },
    };
    const types = Packet.def.options.map(
      (option) => [...option.def.shape.type.def.values][0] as string,
    );

    it.each(types)("%s is taken without an error", (type) => {
      const turn = createTurn();
      expect(() => advance(turn, packet({ type, ...samples[type] }))).not.toThrow();
    });

    it("covers the whole table of the interface", () => {
      expect(types.length).toBeGreaterThan(40);
    });
  });

  describe("a reply that came whole", () => {
    const reply: ChatReply = {
      answer: "Yes [[1]](https://x).",
      top_documents: [document("d", "D", "https://x"), document("d", "D", "https://x")],
      citation_info: [{ citation_number: 1, document_id: "d" }],
      tool_calls: [
        {
          tool_name: "internal_search",
          tool_arguments: { q: 1 },
          tool_result: "r",
          search_docs: [document("e")],
        },
      ],
      message_id: 13,
      chat_session_id: sessionId,
      error_msg: null,
    };

    it("becomes the same record as a streamed one", () => {
      const { turn } = applyReply(reply);
      expect(turn).toMatchObject({
        answer: "Yes [[1]](https://x).",
        messageId: 13,
        sessionId,
        stopped: true,
        failure: null,
      });
      expect([...turn.documents.keys()]).toEqual(["d", "e"]);
      expect(turn.tools).toMatchObject([{ tool: "search", input: { q: 1 }, output: "r" }]);
    });

    it.each([
      ["internal_search", { tool: "search", internet: false }],
      ["web_search", { tool: "search", internet: true }],
      ["research_agent", { tool: "research-agent" }],
      ["tickets", { tool: "tickets" }],
      ["constructor", { tool: "constructor" }],
    ])("names the tool %s as a stream does", (tool_name, call) => {
      const tool_arguments = { queries: ["leave", "days off"] };
      const { turn } = applyReply({ ...reply, tool_calls: [{ tool_name, tool_arguments }] });
      const asked = call.tool === "search";
      expect(turn.tools).toMatchObject([
        asked
          ? { ...call, queries: ["leave", "days off"], input: null }
          : { ...call, queries: [], input: tool_arguments },
      ]);
    });

    it("has the events that a stream would have brought", () => {
      const { events } = applyReply(reply);
      expect(events.map((event) => event.type)).toEqual([
        "session",
        "message",
        "tool",
        "tool",
        "text",
        "stop",
      ]);
      expect(events.filter((event) => event.type === "tool")).toMatchObject([
        { tool: "search", step: "start", input: { q: 1 } },
        { step: "output", text: "r", documents: [{ document_id: "e" }] },
      ]);
    });

    it("keeps what was damaged before it", () => {
      const turn = createTurn();
      applyPiece(turn, [{ raw: "{", kind: "damaged" }]);
      applyPiece(turn, [{ raw: "", kind: "reply", reply }]);
      expect(turn).toMatchObject({ damagedLines: 1, answer: reply.answer });
    });

    it.each([
      ["goes on where the stream was cut", "Hello", [["text", "lo"]]],
      [
        "takes back what it does not begin with",
        "Other",
        [
          ["interim", "Hel"],
          ["text", "Other"],
        ],
      ],
    ])("and is stored %s", (_name, answer, expected) => {
      const turn = createTurn();
      applyPiece(turn, [start(), text("Hel")]);
      const stored = { ...createTurn(), sessionId, messageId: 13, answer, stopped: true };
      const events = applyPiece(turn, stored);
      expect(events.map((event) => ("text" in event ? [event.type, event.text] : []))).toEqual([
        ...expected,
        [],
      ]);
      expect(events.at(-1)).toMatchObject({ type: "stop" });
      expect(turn.answer).toBe(answer);
    });

    it("is a failure where it holds an error", () => {
      const { turn } = applyReply({ ...reply, answer: "", error_msg: "model gone" });
      expect(turn.failure?.message).toBe("model gone");
      expect(turn.stopped).toBe(false);
    });
  });
});

/** The lines, each checked: the schema takes it, and knows every member of it. */
function checked(stdout: string): ChatEventLine[] {
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => {
      const value = JSON.parse(line) as unknown;
      const parsed = ChatEventLine.safeParse(value);
      expect(parsed.error, line).toBeUndefined();
      expect(parsed.data).toEqual(value);
      return parsed.data!;
    });
}

const folder = new URL("../../fixtures/wire/", import.meta.url);
const streams = readdirSync(folder).filter((name) => /\.(?:ndjson|sse|txt)$/.test(name));

describe("chat events", () => {
  it.each(streams)("of %s are as the schema says", async (name) => {
    const decoder = createDecoder({ lineBytes: 1e6 });
    const bytes = readFileSync(new URL(name, folder));
    const lines = [...decoder.push(bytes), ...decoder.end()].map(parseStreamLine);
    const { stdout } = await play([lines], { format: "ndjson", outcome: fine });
    expect(checked(stdout).at(-1)).toMatchObject({ type: "result", status: "ok" });
  });

  it.each([
    ["a complete answer", ["hi"], rawTurn, 0, "ok"],
    ["a cut answer", ["hi"], rawTurn.slice(0, 14), 11, "incomplete"],
    ["an error line", ["hi"], ['{"error":"no","error_code":"RATE_LIMIT"}'], 6, "error"],
    ["no stream at all", ["hi"], [], 11, "incomplete"],
    ["a usage error", ["--continue", "--session", "x", "hi"], rawTurn, 2, "error"],
  ])("end with a result after %s", async (_name, args, lines, exitCode, status) => {
    const world = await replay(lines);
    const { code, stdout } = await world.run(["--output", "ndjson", ...args]);
    expect(code).toBe(exitCode);
    expect(checked(stdout).at(-1)).toMatchObject({ type: "result", status });
    const whole = await world.run(["--output", "json", ...args]);
    const [result] = checked(JSON.stringify({ ...JSON.parse(whole.stdout), type: "result" }));
    expect(result).toMatchObject({ status });
  });

  it("of a reply in one piece are the same", async () => {
    const world = await createWorld();
    const { stdout } = await world.run(["--output", "ndjson", "--no-stream", "hi"]);
    expect(
      checked(stdout)
        .map(({ type }) => type)
        .at(-1),
    ).toBe("result");
  });

  it("refuse what is none", () => {
    for (const line of [{ version: 2, type: "text", text: "" }, { version: 1, type: "later" }, {}])
      expect(ChatEventLine.safeParse(line).success).toBe(false);
  });
});

describe("machine formats", () => {
  it("json is one object with everything", async () => {
    const { stdout, stderr } = await play(each(searchTurn), { format: "json" });
    expect(stderr).toBe("");
    const result = JSON.parse(stdout) as Record<string, unknown>;
    expect(result).toMatchObject({
      version: 1,
      status: "ok",
      answer,
      citations: [
        {
          number: 1,
          documentId: "hr/leave",
          title: "Leave",
          link: "https://docs.example.com/leave",
        },
      ],
      sessionId,
      messageId: 13,
      userMessageId: 12,
      model: { requested: null, reported: null },
      timings: { firstTextMs: 5, totalMs: 9 },
      error: null,
    });
    expect(result["documents"]).toHaveLength(2);
    expect(result["toolCalls"]).toMatchObject([{ tool: "search" }]);
  });

  it("ndjson has a version in each line and ends with the result", async () => {
    const outcome: Outcome = { ...fine, status: "incomplete" };
    const { stdout, writes } = await play(each(searchTurn.slice(0, -1)), {
      format: "ndjson",
      outcome,
    });
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.every((line) => line["version"] === 1)).toBe(true);
    expect(lines.map((line) => line["type"])).toEqual([
      "session",
      "message",
      "reasoning",
      "reasoning",
      "start",
      "text",
      "interim",
      "tool",
      "tool",
      "tool",
      "end",
      "start",
      "text",
      "citation",
      "text",
      "result",
    ]);
    expect(lines.at(-1)).toMatchObject({ type: "result", status: "incomplete", answer });
    // A write per chunk: one packet here both ends interim text and starts a tool.
    expect(writes.length).toBe(lines.length - 1);
  });

  it("packets are the service's own lines and nothing else", async () => {
    const odd: ChatEvent = { raw: '{"new":\u001b "\u009b"}', kind: "unknown" };
    const { stdout, stderr } = await play(
      [[...searchTurn.slice(0, 2), odd], searchTurn.slice(-1)],
      { format: "packets" },
    );
    const { raw } = stop;
    expect(stdout).toBe(
      `${searchTurn[0]?.raw}\n${searchTurn[1]?.raw}\n{"new":\\u001b "\\u009b"}\n${raw}\n`,
    );
    expect(stderr).toBe("");
  });
});
