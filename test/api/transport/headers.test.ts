import { describe, expect, it } from "vitest";
import { allHeaders, header, type Headers } from "../../../src/api/transport/headers.ts";

const raw = (...texts: string[]): Headers => texts.map((text) => Buffer.from(text, "latin1"));
const some = raw(
  "Content-Type",
  "text/plain",
  "Via",
  "a",
  "via",
  "b",
  "VIA",
  "c",
  "x-caf\u00e9",
  "\u00e9",
);

describe("headers of an answer", () => {
  it("are found by name, however it is written, the first of several", () => {
    expect(header(some, "content-type")).toBe("text/plain");
    expect(header(some, "via")).toBe("a");
    expect(header(some, "x-caf\u00e9")).toBe("\u00e9");
    expect(header(some, "text/plain")).toBeUndefined();
    expect(header([], "via")).toBeUndefined();
  });

  it("are all given by lower-case name, those that come several times as a list", () => {
    const all = allHeaders([...some, ...raw("__proto__", "x", "constructor", "y")]);
    expect(Object.entries(all)).toEqual([
      ["content-type", "text/plain"],
      ["via", ["a", "b", "c"]],
      ["x-caf\u00e9", "\u00e9"],
      ["__proto__", "x"],
      ["constructor", "y"],
    ]);
    expect(Object.getPrototypeOf(all)).toBe(Object.prototype);
  });
});
