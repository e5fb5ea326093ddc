import { describe, expect, it } from "vitest";
import { bold, dim, link, plainText, red, renderText } from "../../../src/output/terminal/text.ts";

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
