import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { frontMatterId } from "../../src/documents/front-matter-id.ts";
import { mapDocument } from "../../src/documents/map-document.ts";
import { readMarkdown } from "../../src/documents/readers/markdown.ts";
import { compileSettings } from "../../src/documents/settings.ts";
import { CliError } from "../../src/errors.ts";

const path = "docs/a.md";

/** The id as mapping gives it; undefined where it gives no document. */
function mappedId(text: string, keys: readonly string[]): string | undefined {
  const settings = compileSettings({ root: "/", frontMatter: { id: keys } });
  try {
    const mapped = mapDocument({ path, mtimeMs: 0 }, readMarkdown(text, path), settings);
    return mapped.kind === "document" ? mapped.document.id : undefined;
  } catch (error) {
    if (error instanceof CliError) return undefined;
    throw error;
  }
}

function quickId(text: string, keys: readonly string[]): string {
  const found = frontMatterId(text, path, keys);
  return found.kind === "id" ? found.id : path;
}

describe("the id of a text", () => {
  it.each([
    ["---\ntitle: x\nid: a\n---\nbody", "a"],
    ["---\ntitle: A guide with video\n---\nbody", path],
    ["---\nid: ' a   b '\n---\nbody", "a b"],
    ["---\nid: cafe\u0301\n---\nbody", "caf\u00e9"],
    ["---\nid:\n---\nbody", path],
    ["---\nid: ~\n---\nbody", path],
    ['---\n"id": a\n---\nbody', "a"],
    ['---\n"\\x69d": a\n---\nbody', "a"],
    ['---\n? "i\\\n  d"\n: a\n---\nbody', "a"],
    ["---\n? |-\n  id\n: a\n---\nbody", "a"],
    ["---\nx: &x {id: a}\n<<: *x\n---\nbody", path],
    ["---\nx: &x id\n*x : a\n---\nbody", "a"],
    ["---\n[id]: a\n---\nbody", "a"],
    ["---\n{id: a}\n---\nbody", "a"],
    ["---\nx: {id: a}\n---\nbody", path],
    ["+++\nid = 'a'\n+++\nbody", "a"],
    ["+++\n\"\\u0069d\" = 'a'\n+++\nbody", "a"],
    ['{\n"id": 7\n}\nbody', "7"],
    ['{\n"\\u0069\\u0064": "a"\n}\nbody', "a"],
    ["---\nid: a\nbody without end", path],
    ["id: a\n", path],
    ["---\n- id: a\n---\nbody", path],
  ])("in %j is %j", (text, id) => {
    expect(quickId(text, ["id"])).toBe(id);
    expect(mappedId(text, ["id"])).toBe(id);
  });

  it.each(["---\nid: [\n---\nx", "---\nid: [a]\ndraft: true\n---\nx", "---js\nid: a\n---\nx"])(
    "is left to mapping where something is wrong: %j",
    (text) => {
      expect(frontMatterId(text, path, ["id"])).toEqual({ kind: "default" });
      expect(mappedId(text, ["id"])).toBeUndefined();
    },
  );

  it.each([[["doc id"]], [["null"]], [["$id"]], [["a.b", "a-b"]], [[]]])(
    "has the keys %j",
    (keys) => {
      for (const block of [
        "? doc\n  id\n: a",
        ": a",
        "$id: a",
        "a.b: a",
        "a-b: a",
        "axb: a",
        "a: {b: c}",
      ]) {
        const text = `---\n${block}\n---\nbody`;
        const id = mappedId(text, keys);
        if (id !== undefined) expect(quickId(text, keys)).toBe(id);
      }
    },
  );

  it("is never another than the one that mapping gives", () => {
    const names = ["id", "uid", '"id"', "'id'", '"\\u0069d"', '"i\\\nd"', "slug", "[id]", "id.x"];
    const marks = [":", ": ", " = ", "=", "? ", "{", "}", ", ", "[", "]", '"', "- ", "\\", "# "];
    const others = ["\n", "\n  ", "a", "'b'", "~", "null", "!!str ", "|-\n  ", "<<", "*x", "&x"];
    const part = fc.constantFrom(...names, ...marks, ...others, "\ufeff");
    const text = fc
      .tuple(
        fc.constantFrom("---\n", "---\nx: &x id\n", "---\n", "+++\n", "---json\n{", "{\n"),
        fc.array(part, { maxLength: 9 }),
        fc.constantFrom("\n---\nbody", "\n+++\nbody", "\n}\nbody", "}\n---\nbody"),
      )
      .map(([open, parts, close]) => open + parts.join("") + close);
    const keys = fc.constantFrom(["id"], ["slug", "id"], ["null"], ["a"], ["id.x"], ["b", "uid"]);
    const property = fc.property(text, keys, (each, list) => {
      const id = mappedId(each, list);
      if (id !== undefined) expect(quickId(each, list)).toBe(id);
    });
    fc.assert(property, { numRuns: 3000 });
  });
});
