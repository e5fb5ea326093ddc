import { describe, expect, it } from "vitest";
import { dialects } from "../../src/api/dialects.ts";

describe("the id a document is stored under", () => {
  it.each([
    ["my doc/a!(b)~.md", "my_doc%2Fa%21%28b%29~.md"],
    ["my_doc/a!(b)~.md", "my_doc%2Fa%21%28b%29~.md"],
    ["é'*", "%C3%A9%27%2A"],
    // Half a surrogate pair, as JSON front matter can spell it.
    ["a\ud800", "a%EF%BF%BD"],
  ])("of %j", (id, stored) => {
    expect(dialects.onyx.storedId?.(id)).toBe(stored);
  });
  it("is not promised by the standard dialect", () => {
    expect(dialects.standard.storedId).toBeUndefined();
  });
});
