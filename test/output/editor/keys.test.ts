import * as fc from "../../property.ts";
import { describe, expect, it } from "vitest";
import {
  createKeyReader,
  inertPaste,
  longestPaste,
  type Key,
} from "../../../src/output/terminal/editor/keys.ts";

/** The keys of chunks, in short: presses by name, texts in quotes, pastes in brackets. */
function read(...chunks: (string | Uint8Array)[]): string[] {
  const keys = createKeyReader();
  return chunks
    .flatMap((chunk) => keys(typeof chunk === "string" ? Buffer.from(chunk) : chunk))
    .map((key) =>
      key.type === "press" ? key.name : key.type === "text" ? `"${key.text}"` : `[${key.text}]`,
    );
}

describe("the keys of a terminal", () => {
  it.each<[string, string[], string[]]>([
    ["typed text", ["héé 休"], ['"héé 休"']],
    ["Enter and Ctrl-J", ["a\r", "\n"], ['"a"', "enter", "newline"]],
    ["Alt-Enter", ["\u001b\r"], ["newline"]],
    ["Alt-Enter in two chunks", ["\u001b", "\r"], ["newline"]],
    ["arrows of both kinds", ["\u001b[A\u001bOB"], ["up", "down"]],
    ["words", ["\u001b[1;5D\u001bf\u001b\u007f"], ["alt-b", "alt-f", "ctrl-w"]],
    ["control letters", ["\u0001\u0003\u001a"], ["ctrl-a", "ctrl-c", "ctrl-z"]],
    ["a sequence in pieces", ["\u001b", "[", "3", "~"], ["delete"]],
    ["an unknown sequence is nothing", ["\u001b[17;2~x"], ['"x"']],
    ["an escape key, then a letter", ["\u001b", "x"], ['"x"']],
    ["C1 characters are nothing", ["\u009b31mx"], ['"31mx"']],
    ["a paste", ["\u001b[200~a\rb\r\nc\u001b[201~d"], ["[a\nb\nc]", '"d"']],
    ["a paste in pieces", ["\u001b[20", "0~a\u001b[2", "01~"], ["[a]"]],
    ["keys inside a paste", ["\u001b[200~\u001b[A\u0003\u001b[201~"], ["[^[[A^C]"]],
    ["lines without brackets", ["/help\r/exit\r"], ["[/help\n/exit]", "enter"]],
    ["one line at once", ["/help\r"], ['"/help"', "enter"]],
    ["a paste that never ends", ["\u001b[200~abc", "\u0003", "x"], ["[abc]", '"x"']],
  ])("%s", (_name, chunks, keys) => {
    expect(read(...chunks)).toEqual(keys);
  });

  it("joins bytes of a character that come apart", () => {
    const bytes = Buffer.from("休");
    expect(read(bytes.subarray(0, 1), bytes.subarray(1))).toEqual(['"休"']);
  });

  it("cuts a paste that is too long, and says so", () => {
    const keys: Key[] = createKeyReader()(
      Buffer.from(`\u001b[200~${"x".repeat(longestPaste + 1)}\u001b[201~`),
    );
    expect(keys).toHaveLength(1);
    expect(keys[0]).toMatchObject({ type: "paste", isCut: true });
    expect((keys[0] as { text: string }).text).toHaveLength(longestPaste);
  });

  it("reads a paste the same in every division", () => {
    const text = fc.string({
      unit: fc.constantFrom("a", "\u001b", "[", "2", "0", "1", "~", "\r", "\n", "休", "\u009b"),
    });
    fc.assert(
      fc.property(
        text,
        fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
        (inner, sizes) => {
          fc.pre(!inner.includes("\u001b[201~") && inner !== "\u0003");
          const all = Buffer.from(`\u001b[200~${inner}\u001b[201~z`);
          const chunks: Uint8Array[] = [];
          for (let at = 0, turn = 0; at < all.length; turn++) {
            const size = sizes[turn % sizes.length]!;
            chunks.push(all.subarray(at, at + size));
            at += size;
          }
          expect(read(...chunks)).toEqual([`[${inertPaste(inner)}]`, '"z"']);
        },
      ),
    );
  });
});
