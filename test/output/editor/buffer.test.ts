import { describe, expect, it } from "vitest";
import {
  edits,
  emptyBuffer,
  insert,
  moveLine,
  type Buffer,
} from "../../../src/output/terminal/editor/buffer.ts";

/** A buffer written with `|` for the cursor. */
function buffer(written: string): Buffer {
  return { ...emptyBuffer, text: written.replace("|", ""), cursor: written.indexOf("|") };
}

function written({ text, cursor }: Buffer): string {
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`;
}

describe("edits", () => {
  it.each([
    ["left", "ab|c", "a|bc"],
    ["left", "|abc", "|abc"],
    ["left", "e\u0301|", "|e\u0301"],
    ["right", "a|👩‍💻b", "a👩‍💻|b"],
    ["right", "abc|", "abc|"],
    ["backspace", "休み|", "休|"],
    ["backspace", "x👩‍💻|", "x|"],
    ["delete", "a|bc", "a|c"],
    ["home", "one\ntw|o", "one\n|two"],
    ["end", "o|ne\ntwo", "one|\ntwo"],
    ["alt-b", "one two, |three", "one |two, three"],
    ["alt-f", "one| two three", "one two| three"],
    ["ctrl-w", "/file a-b/c|", "/file |"],
    ["ctrl-w", "one two  |", "one |"],
    ["alt-d", "one| two three", "one| three"],
    ["ctrl-u", "one\ntwo th|ree", "one\n|ree"],
    ["ctrl-k", "one|more\ntwo", "one|\ntwo"],
    ["newline", "a|b", "a\n|b"],
  ])("%s turns %j into %j", (name, from, to) => {
    expect(written(edits[name]!(buffer(from)))).toBe(to);
  });

  it("give back what was cut", () => {
    const cut = edits["ctrl-u"]!(buffer("some words|"));
    expect(written(edits["ctrl-y"]!(cut))).toBe("some words|");
  });

  it.each([
    ["abc\nde|f", -1, "ab|c\ndef"],
    ["休み|\nabcd", 1, "休み\nab|cd"],
    ["long line|\nx", 1, "long line\nx|"],
    ["abc\n|\nde", 1, "abc\n\n|de"],
  ] as const)("move in %j by %d lines", (from, step, to) => {
    expect(written(moveLine(buffer(from), step)!)).toBe(to);
  });

  it.each([
    ["a|b\nc", -1],
    ["ab\nc|", 1],
  ] as const)("know that %j has no line at %d", (from, step) => {
    expect(moveLine(buffer(from), step)).toBeUndefined();
  });
});

describe("a text", () => {
  it("is pasted as long as its first character is", () => {
    const pasted = insert(emptyBuffer, "/help", true);
    expect(pasted.isPasted).toBe(true);
    expect(insert(pasted, "!").isPasted).toBe(true);
    expect(insert({ ...pasted, cursor: 0 }, "x").isPasted).toBe(false);
    expect(edits["ctrl-u"]!(pasted).isPasted).toBe(false);
    expect(insert(insert(emptyBuffer, "/file "), "a.md", true).isPasted).toBe(false);
  });

  it("is cut and put back as pasted", () => {
    const cut = edits["ctrl-u"]!(insert(emptyBuffer, "/help", true));
    expect(edits["ctrl-y"]!(cut).isPasted).toBe(true);
  });
});
