import { describe, expect, it } from "vitest";

/** The browser's modules are no part of the program's types. */
const load = (name: string): Promise<unknown> =>
  import(new URL(`../../../src/sandbox/page/browser/${name}`, import.meta.url).href);
const { visible, readableId } = (await load("dom.js")) as {
  visible(text: string): string;
  readableId(id: string): string;
};

describe("the texts of the page", () => {
  it.each([
    ["a\tb\r\nc", "a\tb\nc"],
    ["\u001b[31m\u0000", "␛[31m␀"],
    ["\u007f\u0085", "␡[U+0085]"],
    ["\u202ecod.exe\u2069", "[U+202E]cod.exe[U+2069]"],
    ["שלום\u200f world", "שלום world"],
  ])("show what is hidden in %j", (text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  it.each([
    ["docs%2Fann%C3%A9e.md", "docs/année.md"],
    ["100%", "100%"],
    ["a_b", "a_b"],
  ])("make the id %s readable", (id, readable) => {
    expect(readableId(id)).toBe(readable);
  });
});
