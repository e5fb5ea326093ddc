import { describe, expect, it } from "vitest";
import type { ChatEvent } from "../../../src/api/chat-schemas.ts";
import { advance, createTurn } from "../../../src/output/chat/turn/answer.ts";
import { chatRenderers } from "../../../src/output/chat/render.ts";
import type { Shown } from "../../../src/output/chat/turn/tools.ts";
import { createOutput } from "../../../src/output/terminal/output.ts";
import { createTestContext } from "../../support.ts";
import { document, packet, searchTurn, start, stop, text } from "./lines.ts";
import { answer, each, fine, play } from "./play.ts";

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
});
