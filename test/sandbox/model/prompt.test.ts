import { describe, expect, it } from "vitest";
import {
  createCitationFinder,
  contextOf,
  historyOf,
  messagesOf,
} from "../../../src/sandbox/chat/model/turn.ts";
import type { Hit } from "../../../src/sandbox/store/index/search.ts";
import type { Message } from "../../../src/sandbox/store/sessions.ts";

describe("prompts", () => {
  function hit(id: string, number: number, text = `text ${number}`): Hit {
    const document = {
      id,
      name: `Name ${id}`,
      source: "file",
      link: id === "a" ? "https://a" : null,
      metadata: {},
      updatedAt: 0,
      owners: [[], []] as Hit["document"]["owners"],
      hidden: false,
    };
    return { document, link: null, heading: "", text, number, score: 1 };
  }

  function message(type: Message["type"], text: string, error: string | null = null): Message {
    return {
      id: 1,
      parent: null,
      latestChild: null,
      type,
      text,
      documents: [],
      citations: {},
      files: [],
      error,
      model: null,
      sentAt: 0,
    };
  }

  const parts = {
    question: "Why?",
    history: [],
    context: [],
    attachments: [],
    additional: undefined,
    listed: undefined,
    searched: false,
    instructions: undefined,
  };

  describe("the passages that go along", () => {
    it("are those that fit, best document first", () => {
      const hits = [
        hit("b", 5),
        hit("a", 9),
        hit("b", 2),
        hit("c", 1, "x".repeat(30_000)),
        hit("d", 3),
      ];
      expect(contextOf(hits).map((each) => each.map(({ number }) => number))).toEqual([
        [5, 2],
        [9],
        [3],
      ]);
      const many = Array.from({ length: 100 }, (_, number) => hit(`d${number}`, number));
      expect(contextOf(many)).toHaveLength(8);
      const long = Array.from({ length: 100 }, (_, number) => hit("a", number, "x".repeat(1_000)));
      expect(contextOf(long).flat()).toHaveLength(24);
    });
  });

  describe("the history", () => {
    it("has the answers without what the sandbox put into them, and no failed turns", () => {
      const branch = [
        message("system", ""),
        message("user", "one"),
        message("assistant", "1 [[1]](https://a (b)). x [[2]]()"),
        message("user", "two"),
        message("assistant", "half", "broken"),
        message("user", "three"),
        message("assistant", ""),
        message("user", "four"),
        message("assistant", "4\n\n... *Generation was stopped by the user.*"),
        message("user", "five"),
      ];
      expect(historyOf(branch)).toEqual([
        { role: "user", content: "one" },
        { role: "assistant", content: "1). x" },
        { role: "user", content: "four" },
        { role: "assistant", content: "4" },
      ]);
    });

    it("forgets the oldest turns when it is too long", () => {
      const branch = Array.from({ length: 10 }, (_, turn) => [
        message("user", `question ${turn}`),
        message("assistant", "x".repeat(60_000)),
      ]).flat();
      const history = historyOf(branch);
      expect(history).toHaveLength(6);
      expect(history[0]!.content).toBe("question 7");
    });
  });

  describe("the messages", () => {
    it("are the bare question when nothing belongs to it", () => {
      expect(messagesOf({ ...parts, instructions: "Be brief." })).toEqual([
        { role: "system", content: "Be brief." },
        { role: "user", content: "Why?" },
      ]);
    });

    it("hold everything that belongs to it, in front of the question", () => {
      const [system, earlier, user] = messagesOf({
        ...parts,
        history: [{ role: "user", content: "before" }],
        context: [[hit("a", 2), hit("a", 1)], [hit("b", 3)]],
        attachments: [
          { name: "n.txt", text: "attached" },
          { name: "long.txt", text: "y".repeat(150_000) },
          { name: "none.txt", text: "z".repeat(150_000) },
        ],
        additional: "piped",
        listed: [{ id: "a" }],
        searched: true,
      });
      expect(system!.content).toContain("for example [1]");
      expect(earlier!.content).toBe("before");
      const { content } = user!;
      expect(content).toContain(
        "[1] Name a (https://a)\ntext 1\n…\ntext 2\n\n[2] Name b\ntext 3\n\n",
      );
      expect(content).toContain('Newest documents: [{"id":"a"}]');
      expect(content).toContain(
        "Attached file n.txt:\nattached\n\nAttached file long.txt (its beginning):\ny",
      );
      expect(content).toContain("Additional context:\npiped\n\nQuestion: Why?");
      expect(content.length).toBeLessThan(201_000);
    });

    it("say that a search found nothing", () => {
      expect(messagesOf({ ...parts, searched: true })[1]!.content).toBe(
        "The search found no document for this question.\n\nQuestion: Why?",
      );
    });
  });
});

describe("citations", () => {
  const citable = [
    { documentId: "a", link: "https://a" },
    { documentId: "b", link: "" },
  ];

  function found(text: string, size: number, documents = citable): string {
    const finder = createCitationFinder(documents);
    const parts = [];
    for (let at = 0; at < text.length; at += size)
      parts.push(...finder.push(text.slice(at, at + size)));
    parts.push(...finder.end());
    return parts
      .map((part) => ("text" in part ? part.text : `{${part.documentId}${part.number}}`))
      .join("");
  }

  const cases: [string, string][] = [
    ["So it is [1].", "So it is {a1}."],
    ["[1][2]", "{a1}{b2}"],
    ["[1, 2] and [1,2;1]", "{a1}{b2} and {a1}{b2}{a1}"],
    ["[[1]](https://elsewhere) x", "{a1} x"],
    ["[[2]] x", "{b2} x"],
    ["【1】【2†source.md】", "{a1}{b2}"],
    // Numbers that no document has.
    ["[3] [0] [[7]](x) [1, 9]", "   {a1}"],
    ["in [2024] and [1234]", "in [2024] and [1234]"],
    // No citations at all.
    ["[1](https://link)", "[1](https://link)"],
    ["[a] [] [1 [1a] [-1] [ 1 ]", "[a] [] [1 [1a] [-1] [ 1 ]"],
    ["【no end", "【no end"],
    ["[[1", "[[1"],
    ["[[1]](no end\n[1]", "{a1}(no end\n{a1}"],
    ["an `x[1]` here [1]", "an `x[1]` here {a1}"],
    ["an `open [1]\nand [1]", "an `open [1]\nand {a1}"],
    ["``a`[1]``[1]", "``a`[1]``{a1}"],
    ["```js\nx[1] `` y[2]\n```\n[1]", "```js\nx[1] `` y[2]\n```\n{a1}"],
    ["````\n```\n[1]\n````[1]", "````\n```\n[1]\n````{a1}"],
    ["```\nopen [1]", "```\nopen [1]"],
    ["", ""],
  ];

  describe("citations in a model's text", () => {
    it.each(cases)("%j", (text, expected) => {
      for (const size of [1, 2, 3, 5, 1_000])
        expect([size, found(text, size)]).toEqual([size, expected]);
    });

    it("leaves numbers alone where no document was given", () => {
      expect(found("x[1] and 【1】 and [[1]](y)", 1, [])).toBe("x[1] and 【1】 and ");
    });

    it("holds back no more than it must", () => {
      const finder = createCitationFinder(citable);
      expect(finder.push("plain text")).toEqual([{ text: "plain text" }]);
      expect(finder.push(" and [")).toEqual([{ text: " and " }]);
      expect(finder.push("x")).toEqual([{ text: "[x" }]);
    });

    it("reads hostile text in linear time", () => {
      for (const text of [
        "[".repeat(200_000),
        "[[1]](".repeat(50_000),
        "`[".repeat(100_000),
        "【".repeat(200_000),
      ]) {
        expect(found(text, 64).length).toBeGreaterThan(0);
      }
    });
  });
});
