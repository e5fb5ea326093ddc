import { expectLinear } from "../../cost.ts";
import * as fc from "../../property.ts";
import { describe, expect, it } from "vitest";
import {
  fingerprint,
  parseTimestamp,
  storedId,
  storedIdOf,
  zuluTime,
} from "../../../src/sandbox/store/documents.ts";
import { encodeLine, packet } from "../../../src/sandbox/chat/packets.ts";
import {
  indexText,
  sentencesOf,
  splitPassages,
} from "../../../src/sandbox/store/index/passages.ts";
import { pythonRepr, pythonString } from "../../../src/sandbox/http/validation.ts";
import { questionTerms } from "../../../src/sandbox/store/index/search.ts";

describe("stored ids", () => {
  it.each([
    ["my doc", "my_doc"],
    ["a/b?c=d&e#f", "a%2Fb%3Fc%3Dd%26e%23f"],
    ["A-Z_a.z~0", "A-Z_a.z~0"],
    ["!'()*", "%21%27%28%29%2A"],
    ["ü日", "%C3%BC%E6%97%A5"],
    ["100%", "100%25"],
    ["a\ud800b", "ab"],
  ])("%j is %s", (id, stored) => {
    expect(storedId(id)).toBe(stored);
  });

  it("come from the title without an id", () => {
    expect(storedIdOf({ semantic_identifier: "My title!" })).toBe("ingestion_api_My_title%21");
    expect(storedIdOf({ id: "", semantic_identifier: "x" })).toBe("ingestion_api_x");
  });

  it("never throw", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (id) => {
        expect(storedId(id)).toMatch(/^[\w.~%-]*$/);
      }),
    );
  });
});

describe("timestamps", () => {
  it.each([
    ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", false],
    ["2026-01-01T02:00:00+02:00", "2026-01-01T00:00:00Z", false],
    ["2026-01-01T02:00:00+0200", "2026-01-01T00:00:00Z", false],
    ["2026-01-01 00:00:00.123456z", "2026-01-01T00:00:00.123Z", false],
    ["2026-01-01T00:00", "2026-01-01T00:00:00Z", true],
    ["2026-01-01", "2026-01-01T00:00:00Z", true],
    ["2024-02-29", "2024-02-29T00:00:00Z", true],
    [1_767_225_600, "2026-01-01T00:00:00Z", false],
    ["1767225600", "2026-01-01T00:00:00Z", false],
    [1_767_225_600_000, "2026-01-01T00:00:00Z", false],
  ])("%j is %s, naive %s", (value, written, naive) => {
    const time = parseTimestamp(value);
    expect([time && zuluTime(time.ms), time?.naive]).toEqual([written, naive]);
  });

  it.each([
    "",
    "soon",
    "2026-02-30",
    "2026-13-01",
    "2026-01-01T25:00:00Z",
    "01/02/2026",
    null,
    true,
    {},
    [],
    Number.NaN,
  ])("%j is none", (value) => {
    expect(parseTimestamp(value)).toBeUndefined();
  });
});

it("the fingerprint covers title, texts, images and owners only", () => {
  const base = {
    id: "a",
    semantic_identifier: "A",
    title: "T",
    sections: [{ text: "x" }],
    source: "file",
    metadata: {},
  };
  const same = [
    { ...base, metadata: { a: "b" } },
    { ...base, semantic_identifier: "B" },
    { ...base, source: "web" },
    { ...base, sections: [{ text: "x", link: "y" }] },
  ];
  const other = [
    { ...base, title: "U" },
    { ...base, sections: [{ text: "y" }] },
    { ...base, sections: [{ text: "x" }, { image_file_id: "i" }] },
    { ...base, primary_owners: [{ email: "a@b" }] },
  ];
  for (const document of same) expect(fingerprint(document)).toBe(fingerprint(base));
  for (const document of other) expect(fingerprint(document)).not.toBe(fingerprint(base));
});

describe("Python's way of writing", () => {
  it.each([
    [null, "None"],
    [true, "True"],
    [1.5, "1.5"],
    ["plain", "'plain'"],
    ["it's", `"it's"`],
    [`both ' and "`, `'both \\' and "'`],
    ["a\\b\n\t\r", "'a\\\\b\\n\\t\\r'"],
    ["\u0000\u001b\u2028\u202e", "'\\x00\\x1b\\u2028\\u202e'"],
    ["ü日😀", "'ü日😀'"],
    [[1, "a", []], "[1, 'a', []]"],
    [{ a: { "b'": null } }, `{'a': {"b'": None}}`],
  ])("%j is %s", (value, written) => {
    expect(pythonRepr(value)).toBe(written);
  });

  it("keeps text as it is in str(), and bounds nesting", () => {
    expect([pythonString("a'b"), pythonString(["x"])]).toEqual(["a'b", "['x']"]);
    let deep: unknown = 1;
    for (let depth = 0; depth < 20_000; depth += 1) deep = [deep];
    expect(pythonRepr(deep)).toContain("...");
  });
});

describe("passages", () => {
  it("are cut at headings, which they know", () => {
    const text = "Intro.\n\n# One\n\nFirst.\n\n## Two ##\nSecond.\n\nMore.";
    expect(splitPassages(text)).toEqual([
      { heading: "", text: "Intro." },
      { heading: "One", text: "# One\n\nFirst." },
      { heading: "Two", text: "## Two ##\nSecond.\n\nMore." },
    ]);
  });

  it("lose no word and stay short", () => {
    const words = fc.array(
      fc.constantFrom("a", "bb", "# h", "\n\n", "x".repeat(3_000), "ccc ddd", "\n# z\n"),
    );
    fc.assert(
      fc.property(words, (parts) => {
        const text = parts.join(" ");
        const passages = splitPassages(text);
        const letters = (from: string): string => from.replace(/\s/g, "");
        expect(letters(passages.map((passage) => passage.text).join(""))).toBe(letters(text));
        for (const passage of passages) expect(passage.text.length).toBeLessThanOrEqual(2_400);
      }),
    );
  });

  it("give sentences without Markdown", () => {
    const text = [
      "# Title",
      "A line that",
      "goes on. Another one!",
      "- **Bold** [link](https://x) item",
      "| a | b |",
      "|---|---|",
      "```sh",
      "npm install  # [a](b)",
      '$ knowctl chat "Where is the title?"',
      "```",
      "After",
    ].join("\n");
    expect(sentencesOf({ heading: "Title", text })).toEqual([
      "A line that goes on.",
      "Another one!",
      "Bold link item",
      "| a | b |",
      "After",
    ]);
    expect(sentencesOf({ heading: "", text: "x".repeat(1_000) })[0]).toHaveLength(400);
  });

  it.each([
    ["a path", "Leave > Annual leave\n\nAsk first.", "Leave > Annual leave", ["Ask first."]],
    ["a question", "Bikes > How often?\n\nEach week.", "Bikes > How often?", ["Each week."]],
    ["two lines", "Leave\nLeave > Sick\n\nTell us.", "Leave > Sick", ["Tell us."]],
    ["a sentence", "Ask first.\n\nThen go.", "", ["Ask first.", "Then go."]],
    ["a list", "- Ask first\n\nThen go.", "", ["Ask first", "Then go."]],
    ["all there is", "Leave > Annual leave", "", ["Leave > Annual leave"]],
  ])("have a title when the section begins with one: %s", (_name, text, heading, quoted) => {
    const [passage] = splitPassages(text);
    expect(passage).toEqual({ heading, text });
    expect(sentencesOf(passage!)).toEqual(quoted);
  });

  it("take no comment in code for a heading, and know code that is cut", () => {
    const code = Array.from(
      { length: 60 },
      (_, line) => `# step ${line}\nmake part${line} && run it\n`,
    );
    const passages = splitPassages(
      `# Steps\n\nDo this.\n\n\`\`\`sh\n${code.join("\n")}\`\`\`\n\nDone now.`,
    );
    expect(passages.length).toBeGreaterThan(1);
    expect(new Set(passages.map(({ heading }) => heading))).toEqual(new Set(["Steps"]));
    expect(passages.flatMap(sentencesOf)).toEqual(["Do this.", "Done now."]);
  });

  it.each(["[", "*", "#", " ", "**a", "> ", "- ", "![", "\n#", "`"])(
    "read hostile text in linear time: %j",
    (unit) => {
      expectLinear(50_000, (count) => {
        for (const passage of splitPassages(unit.repeat(count))) sentencesOf(passage);
      });
    },
  );

  it("are indexed character by character where words have no spaces", () => {
    expect(indexText("年次leave\u0000x").split(/\s+/).filter(Boolean)).toEqual([
      "年",
      "次",
      "leave",
      "x",
    ]);
  });
});

it("the telling words of a question", () => {
  expect(questionTerms("How do I request the VPN, please? VPN!")).toEqual(["request", "vpn"]);
  expect(questionTerms("what is it")).toEqual(["what", "is", "it"]);
  expect(questionTerms("?!")).toEqual([]);
});

it("a line is ASCII in both framings and means the same", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (content) => {
      const line = packet(0, "message_delta", { content });
      const bare = encodeLine(line, "ndjson");
      expect(bare).toMatch(/^[\x20-\x7e]*\n$/);
      expect(JSON.parse(bare)).toEqual(line);
      expect(encodeLine(line, "sse")).toBe(`data: ${bare}\n`);
    }),
  );
});
