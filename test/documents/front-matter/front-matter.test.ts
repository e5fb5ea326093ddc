import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "../../property.ts";
import { describe, expect, it } from "vitest";
import { splitFrontMatter } from "../../../src/documents/front-matter/front-matter.ts";
import { CliError } from "../../../src/errors.ts";
import { expectCheap } from "../../cost.ts";
import { failure } from "../folder.ts";

const split = (text: string): { data: unknown; body: string; warnings: string[] } => {
  const { frontMatter, body, warnings } = splitFrontMatter(text, "a.md");
  // Through JSON: front matter objects have no prototype.
  const data: unknown = frontMatter && JSON.parse(JSON.stringify(frontMatter.data));
  return { data, body, warnings };
};

describe("front matter", () => {
  it.each([
    ["---\na: 1\n---\nbody\n", { a: "1" }, "body\n"],
    ["---  \na: 1\n---\t\n\nbody", { a: "1" }, "\nbody"],
    ["---\n---\nbody", {}, "body"],
    ["---\n# only a comment\n---\nbody", {}, "body"],
    ["---\na: 1\n---", { a: "1" }, ""],
    [
      "---\na: |\n  x\n  ----\n  ---y\n---\nbody\n---\nrest",
      { a: "x\n----\n---y\n" },
      "body\n---\nrest",
    ],
    ["---\na: x\n...\nbody\n---\nrest", { a: "x" }, "body\n---\nrest"],
    ["---\na: x\n------ \nbody\n---\nrest", { a: "x" }, "body\n---\nrest"],
    ["---\na: x...\nb: |\n  ...\n--- \n...\nrest", { a: "x...", b: "...\n" }, "...\nrest"],
    ["+++\na = 'x'\n+++\nbody", { a: "x" }, "body"],
    ["---toml\na = 'x'\n---\nbody", { a: "x" }, "body"],
    ['---json\n{"a": "x"}\n---\nbody', { a: "x" }, "body"],
    ['{\n"a": "}\\n",\n"b": {\n}\n}\nbody\n}', { a: "}\n", b: {} }, "body\n}"],
    ["{\n}\nbody", {}, "body"],
  ])("is split from the body: %j", (text, data, body) => {
    expect(split(text)).toMatchObject({ data, body, warnings: [] });
  });

  it.each([
    "no front matter\n---\nx",
    " ---\na: 1\n---\n",
    "----\na: 1\n----\n",
    "---\nSome paragraph.\n---\nrest",
    "---\n- a list\n---\nrest",
    "---text\nnot closed",
    "--- some words\n---\nrest",
    "{ curly text\n}\nrest",
    "{\nnot json\n}\nrest",
    '{\n"a": 1\n} trailing\nrest',
    "+ a list\n+ of two",
    "",
    "\n---\na: 1\n---\n",
  ])("is not seen in %j: all of it is body", (text) => {
    expect(split(text)).toEqual({ data: undefined, body: text, warnings: [] });
  });

  it.each(["---\na: 1\nbody without end\n", "+++\na = 1\n...\n", "---\n("])(
    "that is never closed is body, with a warning: %j",
    (text) => {
      const { data, body, warnings } = split(text);
      expect({ data, body }).toEqual({ data: undefined, body: text });
      expect(warnings).toEqual([expect.stringContaining("never closed")]);
    },
  );

  it.each([
    ["---\na: 1\nb: [\n---\n", "a.md:4:1:"],
    ["---\na: 1\na: 2\n---\n", "a.md:3:1:"],
    ["---\na: 1\n\tb: 2\n---\n", "a.md:3:"],
    ["+++\na = 1\nb = \n+++\n", "a.md:3:5:"],
    ['---json\n{"a": 1,\n "b": x}\n---\n', "a.md:3:7:"],
    ['{\n"a": 1,\n"b" 2\n}\nbody', "a.md:3:5:"],
    ["---json\n{}\ufeff\n---\n", "a.md:2:3:"],
    ["---json\n{}\n\u00a0\n---\n", "a.md:2:3:"],
    ["---\na: !!js/function 'x'\n---\n", "a.md:2:"],
    ["---\na: !!omap [x]\n---\n", "a.md:2:"],
    ["---\na: 1\n--- \nb\n...\n", undefined],
  ])("that is broken names line and column: %j", (text, place) => {
    if (place === undefined) expect(split(text).data).toEqual({ a: "1" });
    else {
      const first = failure(() => split(text));
      expect(first).toContain(place);
      // gray-matter's cache would make the second time pass.
      expect(failure(() => split(text))).toBe(first);
    }
  });

  it.each([
    ["title: Leave: how to", 'put the value in quotes, because it contains a colon: title: "…"'],
    ["title: x\n\tnote: y: z", "correct the front matter, or begin with an empty line"],
  ])("that is broken has a remedy: %j", (block, remedy) => {
    const text = `---\ntags: x\n${block}\n---\nbody`;
    expect(() => split(text)).toThrow(
      expect.objectContaining({ hints: [expect.stringContaining(remedy)] }),
    );
  });

  it("reads null and ~ of YAML as null, unless they are quoted", () => {
    const text =
      "---\na: null\nb: ~\nc: Null\nd: NULL\ne: 'null'\nf: \"~\"\ng: nULL\nh: [null, x, ~]\ni:\n- ~\n---\n";
    expect(split(text).data).toEqual({
      a: null,
      b: null,
      c: null,
      d: null,
      e: "null",
      f: "~",
      g: "nULL",
      h: [null, "x", null],
      i: [null],
    });
  });

  it("keeps YAML scalars as written", () => {
    const text =
      "---\nv: 1.10\nd: 2024-01-02\no: 010\nn: NO\nt: ~x\nx: 0x1F\nlong: 12345678901234567890\nempty:\n---\n";
    expect(split(text).data).toEqual({
      v: "1.10",
      d: "2024-01-02",
      o: "010",
      n: "NO",
      t: "~x",
      x: "0x1F",
      long: "12345678901234567890",
      empty: null,
    });
  });

  it.each([
    "---\n__proto__:\n  x: 1\nconstructor: 2\nprototype: 3\na:\n  __proto__: {x: 1}\n---\n",
    '{\n"__proto__": {"x": 1}, "constructor": 2, "prototype": 3, "a": {"__proto__": {"x": 1}}\n}\n',
    "+++\na = {}\n'__proto__' = { x = 1 }\nconstructor = 2\nprototype = 3\n+++\n",
  ])("drops keys that reach a prototype: %j", (text) => {
    const { frontMatter } = splitFrontMatter(text, "a.md");
    expect(Object.keys(frontMatter?.data ?? {})).toEqual(["a"]);
    expect(Object.getPrototypeOf(frontMatter?.data)).toBeNull();
    expect(Object.keys(frontMatter?.data["a"] ?? { no: 1 })).toEqual([]);
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });
});

describe("executable front matter", () => {
  const canary = "globalThis.knowctlCanary = true";
  const words = [
    "js",
    "javascript",
    "JS",
    " js",
    "\tjs ",
    "coffee",
    "constructor",
    "toString",
    "__proto__",
    "node",
    "cson",
    "ejs",
  ];
  it.each(words.map((word) => `---${word}\n{ a: (${canary}) }\n---\nbody`))(
    "%j is refused",
    (text) => {
      expect(failure(() => split(text))).toContain(
        "a.md:1:1: front matter in this language is refused",
      );
      expect(globalThis).not.toHaveProperty("knowctlCanary");
    },
  );

  it.each(["---js\n1", "---JavaScript\n", "--- coffee"])(
    "%j is refused though never closed",
    (text) => {
      expect(failure(() => split(text))).toContain("refused");
    },
  );

  const folder = new URL("../../fixtures/documents/hostile/", import.meta.url).pathname;
  it.each(readdirSync(folder))("fixture %s gives an error soon", (name) => {
    const text = readFileSync(join(folder, name), "utf8");
    const refuse = (): void => {
      expect(failure(() => splitFrontMatter(text, name))).toContain(`${name}:`);
    };
    expectCheap(refuse);
    expect(globalThis).not.toHaveProperty("knowctlCanary");
  });
});

describe("hostile front matter", () => {
  const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${[..."bcdefghi"]
    .map((key, index) => `${key}: &${key} [${Array(9).fill(`*${"abcdefghi"[index]}`).join(",")}]`)
    .join("\n")}`;
  const merge = `a: &a {k: v}\n${[..."bcdefghi"]
    .map(
      (key, index) =>
        `${key}: &${key} {<<: [${Array(9).fill(`*${"abcdefghi"[index]}`).join(",")}]}`,
    )
    .join("\n")}`;
  const nested = (open: string): string => open.repeat(5000);
  it.each([
    ["alias bomb", `---\n${bomb}\n---\n`],
    ["merge bomb", `---\n${merge}\n---\n`],
    ["nested brackets", `---\na: ${nested("[")}\n---\n`],
    ["nested braces", `---\n${nested("{a: ")}\n---\n`],
    ["nested lists", `---\n${nested("- ")}\n---\n`],
    ["nested TOML", `+++\na = ${nested("[")}\n+++\n`],
    ["nested TOML tables", `+++\n[${nested("a.")}b]\n+++\n`],
    ["nested JSON", `---json\n${nested('{"a":')}\n---\n`],
    ["closed nested JSON", `---json\n{"a":${nested("[")}${"]".repeat(5000)}}\n---\n`],
    ["2 MB scalar", `---\na: ${"x".repeat(2_000_000)}\n---\n`],
    ["blank lines", `---\na: 1${"\n".repeat(60_000)}b: 2\n---\n`],
    ["blank lines with blanks", `---\na: 1${"\n ".repeat(30_000)}\n---\n`],
    [
      "many keys",
      `---\n${Array.from({ length: 5000 }, (_, index) => `k${index}: v`).join("\n")}\n---\n`,
    ],
    ["NUL by escape", '---\na: "\\0"\n---\n'],
    ["half a surrogate by escape", '---json\n{"a": "\\ud800"}\n---\n'],
  ])("%s is an error, soon", (_name, text) => {
    const refuse = (): void => {
      expect(failure(() => split(text))).toMatch(/^a\.md:\d+:\d+: /);
    };
    expectCheap(refuse);
  });

  it.each([
    ["fences", "---\n".repeat(16_000)],
    ["almost fences", `---\n${"---x\n".repeat(13_000)}`],
    ["open quotes", `---json\n{"${"\\".repeat(60_000)}\n---\n`],
    ["colons", `---\n${":".repeat(60_000)}\n---\n`],
    ["hashes", `---\n${"#".repeat(60_000)}\n---\n`],
    ["anchors", `---\n${"&a ".repeat(20_000)}\n---\n`],
    ["quotes", `---\na: ${"'".repeat(60_000)}\n---\n`],
    ["question marks", `---\n${"? ".repeat(30_000)}\n---\n`],
    ["tags", `---\n${"!a ".repeat(20_000)}\n---\n`],
    ["TOML dots", `+++\n${"a.".repeat(30_000)}b = 1\n+++\n`],
    ["TOML quotes", `+++\na = ${'"'.repeat(60_000)}\n+++\n`],
    ["blank text", " \n".repeat(500_000)],
  ])("%s are read soon", (_name, text) => {
    const attempt = (): void => {
      try {
        split(text);
      } catch (error) {
        expect(error).toBeInstanceOf(CliError);
      }
    };
    expectCheap(attempt);
  });
});

describe("properties", () => {
  const line = fc.oneof(
    fc.constantFrom(
      "---",
      "+++",
      "{",
      "}",
      "---js",
      "--- ",
      "----",
      "...",
      "a: 1",
      "a = 1",
      '"a": 1',
      "",
      "- x",
      "&a *a",
      "? ",
      "# h",
    ),
    fc.string({ maxLength: 20 }),
  );
  const document = fc.array(line, { maxLength: 12 }).map((lines) => lines.join("\n"));

  it("never crashes and loses no body text", () => {
    fc.assert(
      fc.property(document, (text) => {
        try {
          const { frontMatter, body, bodyLine } = splitFrontMatter(text, "a.md");
          // What is no front matter is all body; else the body is what follows the closing fence.
          if (!frontMatter) expect(body).toBe(text);
          else {
            expect(text.endsWith(body)).toBe(true);
            const head = text.slice(0, text.length - body.length);
            expect(head).toContain(frontMatter.block);
            expect(head.length - frontMatter.block.length).toBeLessThan(80);
            expect(head.split("\n").length).toBeGreaterThanOrEqual(bodyLine);
          }
        } catch (error) {
          if (!(error instanceof CliError)) throw error;
          expect(error.message).toMatch(/^a\.md:\d+:\d+: /);
        }
      }),
    );
  });
});
