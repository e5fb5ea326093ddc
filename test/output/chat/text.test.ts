import { describe, expect, it } from "vitest";
import type { ChatEvent } from "../../../src/api/chat-schemas.ts";
import { advance, createTurn } from "../../../src/output/chat/turn/answer.ts";
import { sourceLines } from "../../../src/output/chat/source-lines.ts";
import { plainText } from "../../../src/output/terminal/text.ts";
import { expectLinear } from "../../cost.ts";
import { chatRenderers } from "../../../src/output/chat/render.ts";
import type { Shown } from "../../../src/output/chat/turn/tools.ts";
import { createOutput } from "../../../src/output/terminal/output.ts";
import { createTestContext } from "../../support.ts";
import { document, packet, searchTurn, start, stop, text } from "./lines.ts";
import { answer, each, fine, play } from "./play.ts";
import { readFileSync } from "node:fs";
import { parseStreamLine } from "../../../src/api/chat/packets.ts";

describe("text off a terminal", () => {
  it("is the final answer alone on stdout, in one write", async () => {
    const { stdout, writes } = await play(each(searchTurn));
    expect(stdout).toBe(`${answer}\n`);
    expect(writes.filter(([name]) => name === "out").map(([, part]) => part)).toEqual([
      answer,
      "\n",
    ]);
  });

  it("has the activity and the sources on stderr", async () => {
    const { stderr } = await play(each(searchTurn));
    expect(stderr).toContain("They ask about leave.\n");
    expect(stderr).toContain("searching documents\n  for: leave · vacation policy\n");
    expect(stderr).toContain("  found 2 documents\n  · Leave\n  · Sick leave\n");
    expect(stderr).toContain("Sources\n  [1] Leave  https://docs.example.com/leave\n");
    expect(stderr).toContain("Also retrieved, not cited\n  · Sick leave\n");
    expect(stderr).toContain("is not shown");
  });

  it("writes nothing before the stop packet, and at once with it", async () => {
    const lines = [start(), text("a"), text("b")];
    const held = await play(each(lines), { outcome: { ...fine, status: "incomplete" } });
    expect(held.writes).toEqual([["out", "ab\n"]]);
    const test = createTestContext();
    const turn = createTurn();
    const renderer = chatRenderers.text(
      createOutput(test),
      { start() {}, async stop() {} },
      {
        turn,
        live: false,
        show: new Set(),
        sources: true,
        all: false,
      },
    );
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
  it("ends its row with the stop packet, and says that look-ups follow", async () => {
    const test = createTestContext({ isTTY: true });
    const turn = createTurn();
    const starts: string[] = [];
    const renderer = chatRenderers.text(
      createOutput(test),
      { start: (label) => void starts.push(`${label}|${test.stdoutText()}`), async stop() {} },
      { turn, live: true, show: new Set(), sources: true, all: false },
    );
    for (const line of [start(), text("a"), stop]) await renderer.show(advance(turn, line), [line]);
    expect(starts.at(-1)).toBe("checking what the service made of the question|a\n");
  });

  it("comes at once, one write per network chunk", async () => {
    const { writes } = await play([[start(), text("a"), text("b")], [text("c")], [stop]], {
      isTTY: true,
    });
    expect(writes).toEqual([
      ["out", "ab"],
      ["out", "c"],
      ["out", "\n"],
    ]);
  });

  it("has the sources below the answer on stdout", async () => {
    const { stdout } = await play(each(searchTurn), { isTTY: true });
    expect(stdout).toMatch(
      /\.\n\nSources\n {2}\[1\] Leave {2}https:\/\/docs\.example\.com\/leave\n/,
    );
  });

  it("puts a link on a line of its own where it would be broken", async () => {
    const link = `https://docs.example.com/${"a".repeat(40)}`;
    const documents = [document("a", "Holidays and leave", link), document("b", "B", link)];
    const lines = [start(0, documents), text("x [[1]]() y"), stop];
    const cited = packet({ type: "citation_info", citation_number: 1, document_id: "a" });
    const show: ReadonlySet<Shown> = new Set(["documents"]);
    const { stdout } = await play([[cited, ...lines]], { isTTY: true, show });
    expect(stdout).toContain(`Sources\n  [1] Holidays and leave\n      ${link}\n`);
    expect(stdout).toContain(`\n  · B  ${link}\n`);
    const { stderr } = await play([[cited, ...lines]], { show });
    expect(stderr).toContain(`Sources\n  [1] Holidays and leave  ${link}\n`);
  });

  it("shows citation markers as their numbers, however they are cut", async () => {
    const whole = "a [[1]](https://a/b_(c)?c=d)[[2]]() b [x] [[y]] [[3]] ([[4](c) [[5]](";
    const shown = "a [1][2] b [x] [[y]] [[3]] ([[4](c) [[5]](";
    for (let cut = 0; cut <= whole.length; cut++) {
      const lines = [start(), text(whole.slice(0, cut)), text(whole.slice(cut)), stop];
      const { stdout } = await play(each(lines), { isTTY: true });
      expect(stdout.split("\n")[0], `cut at ${cut}`).toBe(shown);
    }
    const { stdout } = await play(each([start(), text("a [[1]]("), stop]), { isTTY: true });
    expect(stdout).toBe("a [[1]](\n");
  });

  it("never lets the two streams share a line", async () => {
    const { writes } = await play(each(searchTurn), { isTTY: true });
    let line: string | undefined;
    for (const [name, part] of writes) {
      if (part !== "\n" && line !== undefined) expect(name).toBe(line);
      line = part.endsWith("\n") ? undefined : name;
    }
  });

  it("ends the line of the answer before it says anything else", async () => {
    const thought = packet({ type: "reasoning_delta", reasoning: "Hm" });
    const lines = [start(), text("a"), thought, text("b"), stop];
    const { writes } = await play(each(lines), { isTTY: true });
    expect(writes.slice(0, 3)).toEqual([
      ["out", "a"],
      ["out", "\n"],
      ["err", "Hm"],
    ]);
  });

  it("shows no sources with --no-sources, and no activity with --show none", async () => {
    const { stdout, stderr } = await play(each(searchTurn), {
      isTTY: true,
      sources: false,
      show: new Set(),
    });
    // The mark of interim text is activity too: the answer stands apart from it.
    expect(stdout).toBe(`Let me look that up.\n\n${answer}\n`);
    expect(stderr).toBe("(interim: a tool follows, the text above is not part of the answer)\n");
  });
});

describe("Markdown on a terminal", () => {
  it("is drawn as it comes, and interim text is a text of its own", async () => {
    const lines = [
      start(),
      text("Let me **look"),
      packet({ type: "search_tool_start", is_internet_search: false }, 1),
      start(2),
      text("# Ask", 2),
      text("\n\n- your *manager", 2),
      text("*", 2),
      stop,
    ];
    const { stdout, stderr, writes } = await play(each(lines), { isTTY: true, render: "auto" });
    // Without colour the marks stay.
    expect(stdout).toBe("Let me **look\n\n# Ask\n\n• your *manager*\n");
    expect(stderr).toContain("(interim: a tool follows");
    expect(writes[0]).toEqual(["out", "Let me **look"]);
  });
});

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
    "Sources\n  [1] https://elsewhere  (not among the documents of this answer)\n",
  ],
  [
    "have the id at least",
    [start(), cite(1, "gone"), text("x [[1]]()")],
    "Sources\n  [1] gone  (not among the documents of this answer)\n",
  ],
  [
    "say when a marker has no document",
    [start(), text("x [[4]]()")],
    "Sources\n  [4] (no document)\n",
  ],
  [
    "say when the text does not have a number",
    [start(0, [document("a", "A")]), cite(1, "a"), text("x")],
    "Sources\n  [1] A  (not marked in the text)\n",
  ],
  [
    "know a document by the link of its marker",
    [start(0, [document("a", "A", "https://a")]), text("x [[7]](https://a)")],
    "Sources\n  [7] A  https://a\n",
  ],
  [
    "merge one page that has several ids",
    [
      start(0, [document("a", "A", "https://a"), document("web:a", "A", "https://a")]),
      cite(1, "a"),
      cite(2, "web:a"),
      text("x [[1]](https://a) [[2]](https://a)"),
    ],
    "Sources\n  [1][2] A  https://a\n",
  ],
  [
    "add the ids to documents that look alike",
    [
      start(0, [document("a", "A"), document("a2", "A"), document("b", "B")]),
      cite(1, "a"),
      text("x [[1]]()"),
    ],
    "Sources\n  [1] A  a\nAlso retrieved, not cited\n  · A  a2\n  · B\n",
  ],
  [
    "merge several chunks of one document",
    [
      start(0, [
        { ...document("a", "A"), chunk_ind: 0 },
        { ...document("a", "A"), chunk_ind: 4 },
        { ...document("b", "B"), chunk_ind: 0 },
        { ...document("b", "B"), chunk_ind: 1 },
      ]),
      cite(1, "a"),
      text("x [[1]]()"),
    ],
    "Sources\n  [1] A\nAlso retrieved, not cited\n  · B\n",
  ],
  [
    "keep apart pages of one title",
    [
      start(0, [document("a", "A", "https://a"), document("b", "A", "https://b")]),
      cite(1, "a"),
      cite(2, "b"),
      text("x [[1]](https://a) [[2]](https://b)"),
    ],
    "Sources\n  [1] A  https://a\n  [2] A  https://b\n",
  ],
  [
    "have links with parentheses",
    [start(), text("x [[1]](https://w/A_(b))")],
    "Sources\n  [1] https://w/A_(b)  (no document of this answer)\n",
  ],
  [
    "keep apart what was only retrieved",
    [start(0, [document("a", "A")]), text("x")],
    "Retrieved, not cited\n  · A\n",
  ],
];
it.each(cases)("%s", async (_name, lines, expected) => {
  const { stderr } = await play([[...lines, stop]], { show: new Set(["documents"]) });
  expect(stderr).toBe(expected);
});

it("are cut at ten retrieved ones unless all are asked for", async () => {
  const many = Array.from({ length: 12 }, (_, index) => document(`d${index}`));
  const lines = [start(0, many), text("x"), stop];
  const show: ReadonlySet<Shown> = new Set(["documents"]);
  expect((await play([lines], { show })).stderr).toContain("… and 2 more");
  expect((await play([lines], { show, all: true })).stderr).toContain("· d11\n");
  expect((await play([lines], { show: new Set() })).stderr).toBe("");
});

describe("activity", () => {
  const fixture = readFileSync("test/fixtures/wire/every-packet.ndjson", "utf8")
    .trimEnd()
    .split("\n")
    .map(parseStreamLine);

  /** Lines of stderr that one packet, or a few, leave. */
  const cases: [name: string, lines: ChatEvent[], shown: string][] = [
    [
      "a search of the documents",
      [
        packet({ type: "search_tool_start", is_internet_search: false }),
        packet({ type: "search_tool_queries_delta", queries: ["leave", "holiday"] }),
        packet({ type: "search_tool_filter_delta", sources: [], time_filter_start: null }),
        packet({
          type: "search_tool_documents_delta",
          documents: [document("a", "A"), document("a", "A")],
        }),
      ],
      "searching documents\n  for: leave · holiday\n  found 1 document\n  · A\n",
    ],
    [
      "two documents of one title",
      [
        packet({ type: "search_tool_start", is_internet_search: false }),
        packet({
          type: "search_tool_documents_delta",
          documents: [document("a", "A"), document("b", "A")],
        }),
      ],
      "searching documents\n  found 2 documents\n  · A\n  · A\n",
    ],
    [
      "a search of the web with its filters",
      [
        packet({ type: "search_tool_start", is_internet_search: true }),
        packet({
          type: "search_tool_filter_delta",
          sources: ["web", "file"],
          time_filter_start: "2026-01-01T00:00:00+00:00",
          time_filter_end: null,
        }),
        packet({ type: "search_tool_documents_delta", documents: [] }),
      ],
      "searching the web\n  filters applied: sources web, file, from 2026-01-01\n  found nothing\n",
    ],
    [
      "opened pages",
      [
        packet({ type: "open_url_start" }),
        packet({ type: "open_url_urls", urls: ["https://a/b"] }),
        packet({ type: "open_url_documents", documents: [document("w", "Page", "https://a/b")] }),
      ],
      "opening pages\n  https://a/b\n  opened 1 document\n  · Page\n",
    ],
    [
      "code with its output, cut",
      [
        packet({ type: "python_tool_start", code: "for i in x:\n  print(i)" }),
        packet({
          type: "python_tool_delta",
          stdout: "1\n2\n3\n4\n5\n6\n7\n",
          stderr: "slow",
          file_ids: ["f-3"],
        }),
      ],
      "running code\n  | for i in x:\n  |   print(i)\n  1\n  2\n  3\n  4\n  5\n  … 2 more lines\n  stderr: slow\n  created file f-3\n",
    ],
    [
      "a tool with arguments and result",
      [
        packet({ type: "custom_tool_start", tool_name: "weather", tool_id: 7 }),
        packet({ type: "custom_tool_args", tool_name: "weather", tool_args: { city: "Oslo" } }),
        packet({ type: "custom_tool_delta", tool_name: "weather", data: { degrees: -3 } }),
      ],
      'tool weather\n  {"city":"Oslo"}\n  {"degrees":-3}\n',
    ],
    [
      "a tool that wants a login",
      [
        packet({
          type: "custom_tool_delta",
          tool_name: "weather",
          error: { is_auth_error: true, status_code: 401, message: "no" },
        }),
      ],
      "tool weather failed: status 401: no\n  sign in to this tool on the service's web page, then ask again\n",
    ],
    [
      "an image",
      [
        packet({ type: "image_generation_start" }),
        packet({ type: "image_generation_heartbeat" }),
        packet({
          type: "image_generation_final",
          images: [
            { file_id: "f", url: "/chat/file/f", revised_prompt: "A field", shape: "square" },
          ],
        }),
      ],
      "generating an image\n  image https://host/api/chat/file/f  A field, square\n",
    ],
    [
      "a file that is read",
      [
        packet({ type: "file_reader_start" }),
        packet({
          type: "file_reader_result",
          file_name: "a.pdf",
          start_char: 0,
          end_char: 10,
          total_chars: 90,
          preview_start: "Once",
          preview_end: "end",
        }),
      ],
      "reading a file\n  read a.pdf, characters 0 to 10 of 90\n  “Once … end”\n",
    ],
    [
      "memories",
      [
        packet({ type: "memory_tool_start" }),
        packet({ type: "memory_tool_delta", memory_text: "likes tea", operation: "add" }),
        packet({ type: "memory_tool_delta", memory_text: "likes coffee", operation: "update" }),
        packet({ type: "memory_tool_no_access" }),
      ],
      "using the memory\n  memory added: likes tea\n  memory updated: likes coffee\nusing the memory failed: no access to memories\n",
    ],
    [
      "a research plan",
      [
        packet({ type: "deep_research_plan_start" }),
        packet({ type: "deep_research_plan_delta", content: "1. Read\n2. " }),
        packet({ type: "deep_research_plan_delta", content: "Write" }),
        packet({ type: "section_end" }),
      ],
      "planning the research\n1. Read\n2. Write\n",
    ],
    [
      "a sub-agent with its report",
      [
        packet({ type: "research_agent_start", research_task: "Read all" }),
        packet({ type: "intermediate_report_start" }, 0, { sub_turn_index: 1 }),
        packet({ type: "intermediate_report_delta", content: "So far\nand" }, 0, {
          sub_turn_index: 1,
        }),
        packet({ type: "intermediate_report_delta", content: " on" }, 0, { sub_turn_index: 1 }),
        packet({ type: "intermediate_report_cited_docs", cited_docs: [document("a", "A")] }, 0, {
          sub_turn_index: 1,
        }),
      ],
      "research agent\n  Read all\n[1.2] writing an intermediate report\n[1.2] So far\n[1.2] and on\n[1.2]   cites 1 document\n[1.2]   · A\n",
    ],
    [
      "a coding agent and its shell",
      [
        packet({ type: "coding_agent_start", query: "count lines", repo: "tools" }),
        packet({ type: "coding_agent_thinking_delta", content: "wc it is" }),
        packet({ type: "bash_tool_start", cmd: "wc -l *\necho" }),
        packet({
          type: "bash_tool_delta",
          stdout: "12",
          stderr: "no",
          exit_code: 1,
          timed_out: true,
        }),
        packet({ type: "coding_agent_final", answer: "12 lines" }),
      ],
      "coding agent in tools\n  count lines\nwc it is\nrunning a command\n  $ wc -l *\n    echo\n  12\n  stderr: no\n  exit code 1\n  timed out\n  12 lines\n",
    ],
    [
      "a failure that does not say of what",
      [packet({ type: "open_url_start" }), packet({ type: "error" })],
      "opening pages\nopening pages failed\n",
    ],
    ["a failure out of nowhere", [packet({ type: "error" })], "a tool failed\n"],
    [
      "a call that a test server tells",
      [
        packet({
          type: "tool_call_debug",
          tool_call_id: "c1",
          tool_name: "python",
          tool_args: { a: 1 },
        }),
      ],
      'call c1: python {"a":1}\n',
    ],
    [
      "reasoning",
      [packet({ type: "reasoning_delta", reasoning: "Hm" }), packet({ type: "reasoning_done" })],
      "Hm\n",
    ],
    ["a heartbeat", [packet({ type: "chat_heartbeat" })], ""],
    [
      "arguments in the making",
      [
        packet({
          type: "tool_call_argument_delta",
          tool_type: "python",
          argument_deltas: { code: "p" },
        }),
      ],
      "",
    ],
    [
      "what nobody knows",
      [parseStreamLine('{"placement":{},"obj":{"type":"telepathy","text":"x"}}')],
      "",
    ],
  ];

  const fileUrl = (path: string): string => `https://host/api${path}`;

  describe("activity on stderr", () => {
    it.each(cases)("shows %s", async (_name, lines, shown) => {
      const { stderr, stdout } = await play(each([...lines, start(5), text("x", 5), stop]), {
        sources: false,
        fileUrl,
      });
      expect(stderr).toBe(shown);
      expect(stdout).toBe("x\n");
    });

    it("is dimmed on a terminal", async () => {
      const { stderr } = await play(each(cases[0]![1]), { isTTY: true, colour: true });
      expect(stderr.split("\n").every((line) => line === "" || line.startsWith("\u001b[2m"))).toBe(
        true,
      );
    });

    it.each<[string, Parameters<typeof play>[1], RegExp, RegExp]>([
      ["reasoning", { show: new Set(["reasoning"]) }, /Two ways/, /searching|found/],
      ["tools", { show: new Set(["tools"]) }, /searching the web/, /Two ways|found/],
      ["documents", { show: new Set(["documents"]) }, /found 1 document/, /Two ways|searching/],
      ["none", { show: new Set() }, /Sources/, /Two ways|searching|found|retrieved/],
    ])("is chosen: %s", async (_name, options, has, hasNot) => {
      const { stderr } = await play(each(fixture), options);
      expect(stderr).toMatch(has);
      expect(stderr).not.toMatch(hasNot);
    });
  });

  describe("very long lists", () => {
    const namesOf = (count: number): string[] =>
      Array.from({ length: count }, (_, index) => `n${index}`);
    const linesOf = (many: string[]) => [
      packet({ type: "search_tool_start" }, 1),
      packet({ type: "search_tool_queries_delta", queries: many }, 1),
      packet({ type: "open_url_urls", urls: many }, 1),
      packet({ type: "python_tool_delta", stdout: many.join("\n"), file_ids: many }, 1),
      packet({ type: "search_tool_documents_delta", documents: many.map((id) => document(id)) }, 1),
      packet({ type: "image_generation_final", images: many.map((url) => ({ url })) }, 1),
      start(2),
      text("x", 2),
      stop,
    ];

    it("are shown in short, and kept whole as data", async () => {
      const many = namesOf(20_000);
      const lines = linesOf(many);
      const { stderr } = await play(each(lines));
      expect(stderr.length).toBeLessThan(3000);
      const { stdout } = await play(each(lines), { format: "json" });
      const { toolCalls } = JSON.parse(stdout) as { toolCalls: { queries: string[] }[] };
      expect(toolCalls[0]?.queries).toHaveLength(many.length);
    });

    it("are not too long for a call, where all of them are shown", async () => {
      // A call takes some 120,000 arguments.
      const lines = linesOf(namesOf(150_000));
      const { stderr } = await play(each(lines), { all: true });
      expect(stderr).toContain("· n149999\n");
      expect((await play([lines], { isTTY: true, all: true })).stdout).toContain("· n149999");
    });
  });

  it("documents that look alike cost what their number does", () => {
    const turnOf = (count: number) => {
      const turn = createTurn();
      const alike = Array.from({ length: count }, (_, index) => document(`n${index}`, "Notes"));
      for (const line of [start(1, alike), stop]) advance(turn, line);
      return turn;
    };
    // Each size that is measured, made before: a turn costs more than its lines.
    const turns = new Map([1, 2, 4, 8, 16, 32].map((n) => [n * 1250, turnOf(n * 1250)]));
    expectLinear(40_000, (count) => {
      const lines = sourceLines(turns.get(count)!, 1).map(plainText);
      expect(lines[1]).toBe("  · Notes  n0");
    });
  });

  describe("parallel branches", () => {
    const report = (tab: number, content: string): ChatEvent =>
      packet({ type: "intermediate_report_delta", content }, 2, {
        tab_index: tab,
        sub_turn_index: 0,
      });

    it("are told apart when their packets are mixed", async () => {
      const { stderr } = await play(
        each([
          packet({ type: "top_level_branching", num_parallel_branches: 2 }, 1),
          packet({ type: "search_tool_start", is_internet_search: false }, 2),
          packet({ type: "search_tool_start", is_internet_search: true }, 2, { tab_index: 1 }),
          packet({ type: "search_tool_queries_delta", queries: ["web"] }, 2, { tab_index: 1 }),
          packet({ type: "search_tool_queries_delta", queries: ["own"] }, 2),
          packet({ type: "python_tool_start", code: "1" }, 3),
          start(5),
          stop,
        ]),
      );
      expect(stderr).toBe(
        "[1] searching documents\n[2] searching the web\n[2]   for: web\n[1]   for: own\nrunning code\n  | 1\n",
      );
    });

    it.each([
      ["one tool", [1], "searching documents\n"],
      ["two tools", [1, 2], "[1] searching documents\n[2] searching documents\n"],
    ])("do not count the text before %s of the same step", async (_, tabs, expected) => {
      const tool = { type: "search_tool_start", is_internet_search: false } as const;
      const branches = { type: "top_level_branching", num_parallel_branches: 2 } as const;
      const { stderr } = await play(
        each([
          start(1),
          ...(tabs.length > 1 ? [packet(branches, 1)] : []),
          ...tabs.map((tab) => packet(tool, 1, { tab_index: tab })),
          start(5),
          stop,
        ]),
      );
      expect(stderr).toBe(expected);
    });

    it("write running text line by line", async () => {
      const { stderr } = await play(
        each([
          report(0, "one "),
          report(1, "a "),
          report(0, "two\nthree"),
          report(1, "b\n"),
          start(5),
          stop,
        ]),
      );
      expect(stderr).toBe("[1.1] one two\n[2.1] a b\n[1.1] three\n");
    });

    it("hold back little, and cut long reports unless all is asked for", async () => {
      const long = report(0, "line\n".repeat(30));
      const cut = (await play(each([long, stop]))).stderr;
      expect(cut.split("\n").length).toBe(22);
      expect(cut).toContain("[1.1] … (--show all shows the rest)\n");
      expect((await play(each([long, stop]), { all: true })).stderr.split("\n").length).toBe(31);
      const endless = each(Array.from({ length: 300 }, () => report(0, "word ".repeat(20))));
      expect((await play(endless)).stderr.split("\n").length).toBeGreaterThan(10);
    });
  });
});
