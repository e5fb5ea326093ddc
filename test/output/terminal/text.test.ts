import { describe, expect, it } from "vitest";
import { bold, dim, link, plainText, red, renderText } from "../../../src/output/terminal/text.ts";
import { expectLinear } from "../../cost.ts";
import * as fc from "../../property.ts";
import stringWidth from "string-width";
import { createOutput } from "../../../src/output/terminal/output.ts";
import type { Column } from "../../../src/output/formats/select.ts";
import { fitWidths, layOutColumns, writeTable } from "../../../src/output/terminal/table.ts";
import {
  displayWidth,
  fit,
  fitEnd,
  wrapLines,
  wrapWords,
} from "../../../src/output/terminal/width.ts";
import { relativeTime } from "../../../src/output/terminal/progress.ts";
import { createTestContext } from "../../support.ts";
import { secretsOf } from "../../../src/output/terminal/redact.ts";
import { createIndenter } from "../../../src/output/terminal/indent.ts";

describe("renderText", () => {
  it("styles only where there is colour", () => {
    expect(renderText([bold("a ", red("b"))], false)).toBe("a b");
    expect(renderText([bold("a")], true)).toBe("\u001b[1ma\u001b[22m");
  });

  it("lets no text from outside style anything", () => {
    expect(renderText([dim("\u001b[31mx")], true)).toBe("\u001b[2m^[[31mx\u001b[22m");
  });

  it.each([
    ["https://example.com/a?b=c", true],
    ["http://127.0.0.1:1/", true],
    ["javascript:alert(1)", false],
    ["file:///etc/passwd", false],
    ["https://example.com/\u001b\\\u001b]52;c;x", false],
    ["https://example.com/\u0007", false],
    ["https://example.com/a b", false],
    ["https://example.com/é", false],
  ])("links to %j: %s", (url, linked) => {
    const shown = renderText([link(url, "text")], true);
    expect(shown).toBe(linked ? `\u001b]8;;${url}\u001b\\text\u001b]8;;\u001b\\` : "text");
    expect(renderText([link(url, "text")], false)).toBe("text");
  });

  it("measures what is seen", () => {
    expect(plainText([bold("a"), link("https://x", "b\u001b")])).toBe("ab^[");
  });
});

describe("table", () => {
  type Row = Record<string, unknown>;

  const columns: Column<Row>[] = [
    { name: "id", value: (row) => row["id"], align: "right" },
    { name: "name", value: (row) => row["name"] },
    { name: "when", value: (row) => row["when"], show: (value) => `shown ${String(value)}` },
  ];

  async function table(
    rows: Row[],
    options: { isTTY?: boolean; columns?: number } = {},
  ): Promise<string[]> {
    const context = createTestContext({ cwd: "/", env: { NO_COLOR: "1" }, ...options });
    await writeTable(createOutput(context), columns, rows);
    return context.stdoutText().split("\n").slice(0, -1);
  }

  describe("writeTable", () => {
    it("aligns under a header; nothing is cut and no time is changed off a terminal", async () => {
      const name = "long ".repeat(40).trim();
      expect(
        await table([
          { id: 7, name, when: "2026" },
          { id: 243, name: "b", when: null },
        ]),
      ).toEqual([
        ` id  name${" ".repeat(195)}  when`,
        `  7  ${name}  2026`,
        `243  b${" ".repeat(198)}  —`,
      ]);
    });

    it("cuts other columns rather than a time, also when the time is the widest", async () => {
      const when = "a long while ago";
      const lines = await table([{ id: 7, name: "n".repeat(20), when }], {
        isTTY: true,
        columns: 44,
      });
      expect(lines[1]).toBe(` 7  ${"n".repeat(15)}…  shown ${when}`);
    });

    it("shows times and cuts the widest column on a terminal", async () => {
      const lines = await table([{ id: 7, name: "n".repeat(50), when: "1" }], {
        isTTY: true,
        columns: 30,
      });
      expect(lines).toEqual([`id  name${" ".repeat(15)}when`, ` 7  ${"n".repeat(16)}…  shown 1`]);
    });

    it.each([1, 3, 10, 20, 40, 80, 200])("fits %i columns where it can", async (width) => {
      const name = "データ基盤 👩‍👩‍👧 e\u0301".repeat(5);
      const rows = [{ id: 1234567, name, when: "x".repeat(40) }];
      const lines = await table(rows, { isTTY: true, columns: width });
      const least = 7 + 2 + 3 + 2 + 3;
      for (const line of lines)
        expect(stringWidth(line)).toBeLessThanOrEqual(Math.max(width, least));
      expect(lines[1]).toContain("1234567");
    });

    it("aligns wide, combining and joined characters by what is seen", async () => {
      const names = ["plain", "日本語", "e\u0301te\u0301", "👩‍👩‍👧 family", "🇩🇪", "ﷺ"];
      const lines = await table(names.map((name) => ({ id: 1, name, when: "END" })));
      const places = lines.slice(1).map((line) => stringWidth(line.slice(0, line.indexOf("END"))));
      expect(new Set(places).size).toBe(1);
    });

    it("keeps a row on one line, whatever is in it", async () => {
      const lines = await table([{ id: 1, name: "a\nb\tc\u001b[2J\r", when: [1, "x", null] }]);
      expect(lines[1]).toBe(" 1  a b c^[[2J  1, x, ");
    });

    it("keeps the end of a column that says so", async () => {
      const context = createTestContext({
        cwd: "/",
        isTTY: true,
        columns: 14,
        env: { NO_COLOR: "1" },
      });
      const where: Column<Row> = { name: "where", value: (row) => row["where"], cut: "start" };
      await writeTable(createOutput(context), [where], [{ where: "/home/me/config.json:4" }]);
      expect(context.stdoutText()).toBe("where\n…config.json:4\n");
    });

    it("writes nothing for no rows", async () => {
      expect(await table([], { isTTY: true })).toEqual([]);
    });

    it("shows other values as text", async () => {
      const lines = await table([{ id: 1, name: { a: 1 }, when: false }]);
      expect(lines[1]).toBe(' 1  {"a":1}  false');
    });
  });

  describe("fit", () => {
    it.each([
      ["abc", 3, "abc"],
      ["abcd", 3, "ab…"],
      ["日本語", 6, "日本語"],
      ["日本語", 5, "日本…"],
      ["日本語", 4, "日…"],
      ["e\u0301e\u0301e\u0301", 2, "e\u0301…"],
      ["👩‍👩‍👧👩‍👩‍👧", 3, "👩‍👩‍👧…"],
      ["ab", 1, "…"],
    ])("%j in %i columns is %j", (text, width, expected) => {
      expect(fit(text, width)).toBe(expected);
    });

    it.each([
      ["abc", 3, "abc"],
      ["/home/me/config.json:4", 14, "…config.json:4"],
      ["日本語", 5, "…本語"],
      ["👩‍👩‍👧👩‍👩‍👧", 3, "…👩‍👩‍👧"],
      ["ab", 1, "…"],
    ])("keeps the end of %j in %i columns: %j", (text, width, expected) => {
      expect(fitEnd(text, width)).toBe(expected);
    });

    it("never exceeds the width", () => {
      fc.assert(
        fc.property(
          fc.string({ unit: "grapheme" }),
          fc.integer({ min: 1, max: 20 }),
          (text, width) => {
            expect(displayWidth(fit(text, width))).toBeLessThanOrEqual(width);
            expect(displayWidth(fitEnd(text, width))).toBeLessThanOrEqual(width);
          },
        ),
      );
    });

    it("cuts and measures a text of megabytes in the time of its length", () => {
      expectLinear(1_000_000, (count) => {
        expect(fit("語".repeat(count), 11)).toBe("語語語語語…");
      });
      for (const [character, width] of [
        ["語", 2],
        ["é", 1],
      ] as const) {
        expectLinear(300_000, (count) => {
          expect(displayWidth(character.repeat(count))).toBe(width * count);
        });
      }
    });
  });

  describe("fitWidths", () => {
    it.each<[number[], boolean[], number, number[]]>([
      [[5, 5], [true, true], 20, [5, 5]],
      [[5, 50], [true, true], 20, [5, 13]],
      [[30, 30], [true, true], 20, [9, 9]],
      [[10, 30], [false, true], 20, [10, 8]],
      [[18, 30], [false, true], 20, [18, 3]],
      [[30, 30, 30], [true, true, true], 5, [3, 3, 3]],
    ])("%j into %3$i", (widths, flexible, available, expected) => {
      expect(fitWidths(widths, flexible, available)).toEqual(expected);
    });
  });

  describe("layOutColumns", () => {
    const connectors = [10, 16, 13, 11, 10, 12, 17];
    const flexible = [false, true, true, true, true, true, true];
    it.each<[number, number[]]>([
      [120, connectors],
      [95, [10, 16, 12, 11, 10, 12, 12]],
      [80, [10, 16, 11, 11, 10, 12]],
      [40, [10, 16, 10]],
      [30, [10, 16]],
      [20, [10, 8]],
      [5, [10, 3]],
    ])("in %i columns", (available, expected) => {
      expect(layOutColumns(connectors, flexible, available)).toEqual(expected);
    });

    it("what has no room is named on stderr", async () => {
      const context = createTestContext({
        cwd: "/",
        isTTY: true,
        columns: 30,
        env: { NO_COLOR: "1" },
      });
      const row = { id: 1, name: "n".repeat(22), when: "2026" };
      await writeTable(createOutput(context), columns, [row]);
      expect(context.stdoutText()).toBe(`id  name\n 1  ${"n".repeat(22)}\n`);
      expect(context.stderrText()).toBe(
        "columns that do not fit:\n  when (use a wider terminal,\n  or --fields)\n",
      );
    });
  });

  describe("relativeTime", () => {
    const now = Date.parse("2026-03-10T12:00:00Z");
    it.each([
      ["2026-03-10T11:59:30Z", "just now"],
      ["2026-03-10T11:59:00Z", "1 minute ago"],
      ["2026-03-10T10:00:00Z", "2 hours ago"],
      ["2026-03-07T12:00:00Z", "3 days ago"],
      ["2026-03-07T12:00:00", "3 days ago"],
      ["2026-03-07T14:00:00+02:00", "3 days ago"],
      ["2026-03-07T12:00:00.123456Z", "2 days ago"],
      ["2026-01-01T00:00:00Z", "2 months ago"],
      ["2020-01-01T00:00:00Z", "6 years ago"],
      ["2026-03-11T13:00:00Z", "in 1 day"],
      ["not a time", "not a time"],
      ["", ""],
      ["5", "5"],
    ])("%j is %j", (text, expected) => {
      expect(relativeTime(text, now)).toBe(expected);
    });
  });
});

describe("wrap", () => {
  it.each([
    ["fits", 10, ["fits"]],
    ["two  blanks", 20, ["two  blanks"]],
    ["breaks between words", 14, ["breaks between", "words"]],
    ["averyveryverylongword after", 8, ["averyveryverylongword", "after"]],
    ["run `knowctl retry` again", 12, ["run", "`knowctl retry`", "again"]],
    ["an open ` tick and more words", 12, ["an open `", "tick and", "more words"]],
  ])("breaks %j at %i columns", (text, width, rows) => {
    expect(wrapWords(text, width)).toEqual(rows);
  });

  it("begins further rows below the first word", () => {
    expect(wrapLines("  → one two three\nshort\nfour five six seven", 13)).toBe(
      "  → one two\n    three\nshort\nfour five\n  six seven",
    );
  });

  it("keeps a line that is a command whole", () => {
    for (const line of ["  KEY=a knowctl chat one two", "$ knowctl chat one two"]) {
      expect(wrapLines(line, 12)).toBe(line);
    }
  });

  it("takes time that grows with the text alone", () => {
    const words = (count: number): string => "`a b ".repeat(count);
    expect(wrapLines(words(200_000), 40).length).toBeGreaterThan(1_000_000);
  });

  it.each([24, 40, 60])("hides a secret before it breaks a line at %i columns", async (columns) => {
    const context = createTestContext({ isTTY: true, columns });
    const phrase = "correct horse battery staple of eight words in all";
    secretsOf(context).add(phrase);
    const output = createOutput(context, {});
    for (let words = 0; words < 12; words++) {
      await output.warn(`${"word ".repeat(words)}the server says ${phrase} is wrong`);
    }
    expect(context.stderrText()).not.toMatch(/horse|battery|staple/);
    expect(context.stderrText()).toContain("***");
  });

  it("breaks nothing off a terminal, where a program may read the lines", async () => {
    const context = createTestContext();
    await createOutput(context, {}).note("word ".repeat(40));
    expect(context.stderrText()).toBe(`${"word ".repeat(40)}\n`);
  });
});

it.each([
  ['{"a":[1,2,{"b":"x,y:{"}],"c":{},"d":[]}'],
  ["[ ]"],
  ['"a\\"b\\\\"'],
  ["12345678901234567890.10"],
  ["null"],
])("%s is laid out as JSON.stringify does", (json) => {
  const digits = /^\d/.test(json) ? json : JSON.stringify(JSON.parse(json), undefined, 2);
  expect(createIndenter()(json)).toBe(digits);
});

it("keeps values apart that stand one after the other", () => {
  expect(createIndenter()('{"a":1}\n{"b":2} 3')).toBe('{\n  "a": 1\n}\n{\n  "b": 2\n}\n3');
});

it("gives the same however the text is cut, and the same data", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(), (value, at) => {
      const json = JSON.stringify(value);
      const cut = at % (json.length + 1);
      const layOut = createIndenter();
      const pieces = layOut(json.slice(0, cut)) + layOut(json.slice(cut));
      expect(pieces).toBe(createIndenter()(json));
      expect(JSON.parse(pieces)).toEqual(JSON.parse(json));
    }),
  );
});
