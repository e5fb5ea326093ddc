import { describe, expect, it } from "vitest";
import type { ChatEvent } from "../../../src/api/schemas.ts";
import type { Context, Sink } from "../../../src/context.ts";
import { advance, createTurn } from "../../../src/output/chat/answer.ts";
import {
  chatRenderers,
  type ChatFormat,
  type Outcome,
  type RenderOptions,
} from "../../../src/output/chat/render.ts";
import type { Shown } from "../../../src/output/chat/tools.ts";
import { createOutput } from "../../../src/output/output.ts";
import { createTestContext } from "../../support.ts";
import { document, packet, searchTurn, sessionId, start, stop, text } from "./lines.ts";

const everything: ReadonlySet<Shown> = new Set(["reasoning", "tools", "documents"]);

const fine: Outcome = {
  status: "ok",
  error: null,
  requestedModel: null,
  warnings: [],
  timings: { firstTextMs: 5, totalMs: 9 },
};

interface PlayOptions extends Partial<Omit<RenderOptions, "turn">> {
  format?: ChatFormat;
  isTTY?: boolean;
  outcome?: Outcome;
  secret?: string;
}

// Both streams of the context as one list of writes, in order.
function recordWrites(context: Context): { context: Context; writes: [string, string][] } {
  const writes: [string, string][] = [];
  const watch = (name: string, sink: Sink): Sink => ({
    ...sink,
    write(part) {
      if (part !== "") writes.push([name, part]);
      return sink.write(part);
    },
  });
  const watched = {
    ...context,
    stdout: watch("out", context.stdout),
    stderr: watch("err", context.stderr),
  };
  return { context: watched, writes };
}

/** Draws batches of lines; one batch stands for one network chunk. */
async function play(batches: readonly ChatEvent[][], options: PlayOptions = {}) {
  const test = createTestContext({ isTTY: options.isTTY === true });
  const { context, writes } = recordWrites(test);
  const output = createOutput(context, { color: false });
  if (options.secret) output.secrets.add(options.secret);
  const turn = createTurn();
  const renderer = chatRenderers[options.format ?? "text"](
    output,
    { start() {}, async stop() {} },
    {
      turn,
      live: options.live ?? options.isTTY === true,
      show: options.show ?? everything,
      sources: options.sources ?? true,
      all: options.all ?? false,
    },
  );
  for (const batch of batches) {
    await renderer.show(
      batch.flatMap((line) => advance(turn, line)),
      batch,
    );
  }
  await renderer.finish(options.outcome ?? fine);
  return { stdout: test.stdoutText(), stderr: test.stderrText(), writes, turn };
}

const each = (lines: readonly ChatEvent[]): ChatEvent[][] => lines.map((line) => [line]);

const answer = "Ask your manager [[1]](https://docs.example.com/leave).";

describe("text off a terminal", () => {
  it("is the final answer alone on stdout, in one write", async () => {
    const { stdout, writes } = await play(each(searchTurn));
    expect(stdout).toBe(`${answer}\n`);
    expect(writes.filter(([name]) => name === "out").map(([, part]) => part)).toEqual([answer, "\n"]);
  });

  it("has the activity and the sources on stderr", async () => {
    const { stderr } = await play(each(searchTurn));
    expect(stderr).toContain("They ask about leave.\n");
    expect(stderr).toContain("searching documents\n  for: leave · vacation policy\n");
    expect(stderr).toContain("  found 2 documents\n  · Leave\n  · Sick leave\n");
    expect(stderr).toContain("Sources\n  [1] Leave  https://docs.example.com/leave\n");
    expect(stderr).toContain("Also retrieved, not cited\n  · Sick leave\n");
    expect(stderr).toContain("left out");
  });

  it("writes nothing before the stop packet, and at once with it", async () => {
    const lines = [start(), text("a"), text("b")];
    const held = await play(each(lines), { outcome: { ...fine, status: "incomplete" } });
    expect(held.writes).toEqual([["out", "ab\n"]]);
    const test = createTestContext();
    const turn = createTurn();
    const renderer = chatRenderers.text(createOutput(test), { start() {}, async stop() {} }, {
      turn,
      live: false,
      show: new Set(),
      sources: true,
      all: false,
    });
    for (const line of lines) await renderer.show(advance(turn, line), [line]);
    expect(test.stdoutText()).toBe("");
    await renderer.show(advance(turn, stop), [stop]);
    expect(test.stdoutText()).toBe("ab");
  });

  it("is written as it comes with --live, interim text marked", async () => {
    const { stdout, stderr, writes } = await play(each(searchTurn), { live: true });
    expect(stdout).toBe(`Let me look that up.\n${answer}\n`);
    expect(stderr).toContain("(interim: a tool follows");
    expect(writes.filter(([name]) => name === "out").length).toBeGreaterThan(3);
  });

  it("adds no newline to an answer that ends in one", async () => {
    expect((await play([[start(), text("a\n"), stop]])).stdout).toBe("a\n");
  });

  it("writes nothing for an empty answer", async () => {
    expect((await play([[start(), stop]])).stdout).toBe("");
  });
});

describe("text on a terminal", () => {
  it("comes at once, one write per network chunk", async () => {
    const { writes } = await play([[start(), text("a"), text("b")], [text("c")], [stop]], { isTTY: true });
    expect(writes).toEqual([
      ["out", "ab"],
      ["out", "c"],
      ["out", "\n"],
    ]);
  });

  it("has the sources below the answer on stdout", async () => {
    const { stdout } = await play(each(searchTurn), { isTTY: true });
    expect(stdout).toMatch(/\.\n\nSources\n {2}\[1\] Leave {2}https:\/\/docs\.example\.com\/leave\n/);
  });

  it("never lets the two streams share a line", async () => {
    const { writes } = await play(each(searchTurn), { isTTY: true });
    let line: string | undefined;
    for (const [name, part] of writes) {
      if (part !== "\n" && line !== undefined) expect(name).toBe(line);
      line = part.endsWith("\n") ? undefined : name;
    }
  });

  it("shows no sources with --no-sources, and no activity with --show none", async () => {
    const { stdout, stderr } = await play(each(searchTurn), {
      isTTY: true,
      sources: false,
      show: new Set(),
    });
    expect(stdout).toBe(`Let me look that up.\n${answer}\n`);
    expect(stderr).toBe("(interim: a tool follows, the text above is not part of the answer)\n");
  });
});

describe("sources", () => {
  const cite = (number: number, id: string): ChatEvent =>
    packet({ type: "citation_info", citation_number: number, document_id: id });
  const cases: [string, ChatEvent[], string][] = [
    [
      "are in the order of their numbers, each document once",
      [
        start(0, [document("a", "A", "https://a"), document("b", "B")]),
        cite(2, "b"),
        cite(1, "a"),
        text("x [[2]]() [[1]](https://a) [[3]](https://a)"),
      ],
      "Sources\n  [1][3] A  https://a\n  [2] B\n",
    ],
    [
      "have the link of the marker where no packet described the document",
      [start(), cite(1, "gone"), text("x [[1]](https://elsewhere)")],
      "Sources\n  [1] https://elsewhere\n",
    ],
    ["have the id at least", [start(), cite(1, "gone"), text("x [[1]]()")], "Sources\n  [1] gone\n"],
    [
      "say when a marker has no document",
      [start(), text("x [[4]]()")],
      "Sources\n  [4] (no document)\n",
    ],
    [
      "keep apart what was only retrieved",
      [start(0, [document("a", "A")]), text("x")],
      "Retrieved, not cited\n  · A\n",
    ],
  ];
  it.each(cases)("%s", async (_name, lines, expected) => {
    const { stderr } = await play([[...lines, stop]], { show: new Set() });
    expect(stderr).toBe(expected);
  });

  it("are cut at ten retrieved ones unless all are asked for", async () => {
    const many = Array.from({ length: 12 }, (_, index) => document(`d${index}`));
    const lines = [start(0, many), text("x"), stop];
    expect((await play([lines], { show: new Set() })).stderr).toContain("… and 2 more");
    expect((await play([lines], { show: new Set(), all: true })).stderr).toContain("· d11\n");
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
      citations: [{ number: 1, documentId: "hr/leave", title: "Leave", link: "https://docs.example.com/leave" }],
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
    const { stdout, writes } = await play(each(searchTurn.slice(0, -1)), { format: "ndjson", outcome });
    const lines = stdout.trimEnd().split("\n").map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.every((line) => line["version"] === 1)).toBe(true);
    expect(lines.map((line) => line["type"])).toEqual([
      "session", "message", "reasoning", "reasoning", "start", "text", "interim", "tool", "tool", "tool",
      "start", "text", "citation", "text", "result",
    ]);
    expect(lines.at(-1)).toMatchObject({ type: "result", status: "incomplete", answer });
    // A write per chunk: one packet here both ends interim text and starts a tool.
    expect(writes.length).toBe(lines.length - 1);
  });

  it("packets are the service's own lines and nothing else", async () => {
    const odd: ChatEvent = { raw: '{"new":\u001b "\u009b"}', kind: "unknown" };
    const { stdout, stderr } = await play([[...searchTurn.slice(0, 2), odd], searchTurn.slice(-1)], { format: "packets" });
    const { raw } = stop;
    expect(stdout).toBe(
      `${searchTurn[0]?.raw}\n${searchTurn[1]?.raw}\n{"new":\\u001b "\\u009b"}\n${raw}\n`,
    );
    expect(stderr).toBe("");
  });
});

describe("hostile text", () => {
  const nasty = "\u001b]52;c;aGk=\u0007\u009b2J\u001b[31m\u202egnp.\u001bP\r\n::set-env x";
  const lines: ChatEvent[] = [
    start(1, [document(nasty, nasty, `https://x/${nasty}`)]),
    packet({ type: "reasoning_delta", reasoning: nasty }, 1),
    packet({ type: "search_tool_start" }, 2),
    packet({ type: "search_tool_queries_delta", queries: [nasty] }, 2),
    packet({ type: "search_tool_filter_delta", sources: [nasty], time_filter_start: nasty }, 2),
    packet({ type: "open_url_urls", urls: [nasty] }, 2),
    packet({ type: "custom_tool_start", tool_name: nasty }, 3),
    packet({ type: "custom_tool_args", tool_name: nasty, tool_args: { [nasty]: nasty } }, 3),
    packet({ type: "custom_tool_delta", tool_name: nasty, data: nasty, error: { message: nasty } }, 3),
    packet({ type: "python_tool_start", code: nasty }, 4),
    packet({ type: "python_tool_delta", stdout: nasty, stderr: nasty }, 4),
    packet({ type: "image_generation_final", images: [{ url: nasty, revised_prompt: nasty }] }, 4),
    packet({ type: "deep_research_plan_delta", content: nasty }, 5),
    packet({ type: "research_agent_start", research_task: nasty }, 5),
    packet({ type: "memory_tool_delta", memory_text: nasty, operation: nasty }, 5),
    packet({ type: "bash_tool_start", cmd: nasty }, 5),
    start(6, [document(nasty, nasty, `https://x/${nasty}`)]),
    packet({ type: "citation_info", citation_number: 1, document_id: nasty }, 6),
    text(`${nasty} [[1]](${nasty})`, 6),
    stop,
  ];
  const active = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

  it.each([
    ["text", false],
    ["text", true],
    ["json", false],
    ["ndjson", false],
    ["packets", true],
  ] as const)("is inert in %s (terminal: %s)", async (format, isTTY) => {
    const { stdout, stderr } = await play(each(lines), { format, isTTY });
    expect(stdout).not.toMatch(active);
    expect(stderr).not.toMatch(active);
  });

  it("keeps its data in json", async () => {
    const { stdout } = await play(each(lines), { format: "json" });
    const result = JSON.parse(stdout) as { answer: string };
    expect(result.answer).toBe(`${nasty} [[1]](${nasty})`);
  });

  it("comes out the same however it is split", async () => {
    const whole = await play([[start(), text(nasty), stop]], { isTTY: true });
    const split = await play([[start()], ...[...nasty].map((part) => [text(part)]), [stop]], { isTTY: true });
    expect(split.stdout).toBe(whole.stdout);
  });

  it("cannot break a title over lines", async () => {
    const { stderr } = await play([[start(0, [document("a", "one\n[2] two")]), text("x"), stop]], { show: new Set() });
    expect(stderr).toBe("Retrieved, not cited\n  · one [2] two\n");
  });
});

describe("secrets", () => {
  it("are redacted where the answer spells one over several packets", async () => {
    const { stdout } = await play([[start(), text("key tok-")], [text("12345"), text("678 end")], [stop]], {
      isTTY: true,
      secret: "tok-12345678",
    });
    expect(stdout).toBe("key *** end\n");
  });

  it("are not waited for at the end", async () => {
    const { stdout } = await play([[start(), text("ends in tok-12")], [stop]], { isTTY: true, secret: "tok-12345678" });
    expect(stdout).toBe("ends in tok-12\n");
  });
});
