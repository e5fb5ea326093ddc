import { execFileSync } from "node:child_process";
import { expectLinear } from "../../cost.ts";
import * as fc from "../../property.ts";
import { describe, expect, it } from "vitest";
import {
  quoteForBash,
  quoteForPowerShell,
  readShellLine,
} from "../../../src/commands/completion/shells.ts";

const breaks = " \t\n\"'><=;|&(:";

describe("a line of bash", () => {
  it.each([
    ["knowctl ", ["knowctl"], "", 0, ""],
    ["knowctl a b", ["knowctl", "a"], "b", 0, ""],
    ["knowctl 'a b' c", ["knowctl", "a b"], "c", 0, ""],
    ["knowctl a\\ b", ["knowctl"], "a b", 0, ""],
    ['knowctl "a b', ["knowctl"], "a b", 0, '"'],
    ["knowctl x'a b", ["knowctl"], "xa b", 1, "'"],
    ['knowctl "a"b', ["knowctl"], "ab", 1, ""],
    ["knowctl --a=b", ["knowctl"], "--a=b", 4, ""],
    ["knowctl --a\\=b", ["knowctl"], "--a=b", 0, ""],
    ['knowctl "--a=b', ["knowctl"], "--a=b", 0, '"'],
    ["knowctl '' x", ["knowctl", ""], "x", 0, ""],
    ['knowctl "a\\"\\x', ["knowctl"], 'a"\\x', 0, '"'],
    ["knowctl a\\", ["knowctl"], "a", 0, ""],
  ])("%j", (line, words, current, kept, quote) => {
    expect(readShellLine(line, breaks)).toEqual({ words, current, kept, quote });
  });

  it("is read in linear time", () => {
    expectLinear(400_000, (count) => {
      expect(readShellLine("a".repeat(count), breaks).current).toHaveLength(count);
    });
  });
});

// History expansion is not on in a script; the tests of the shells themselves look at it.
const printable = fc
  .string({ unit: "grapheme", maxLength: 20 })
  .filter((text) => !/[\0\n\r]/.test(text));

describe("a quoted text", () => {
  it("means the same to bash, whatever is in it", () => {
    const texts = fc.sample(printable, 300);
    const words = texts.flatMap((text) => [
      `x${quoteForBash(text, "")}`,
      // The line editor closes what does not end with the mark.
      ...(['"', "'"] as const).map((quote) => {
        const inside = quoteForBash(text, quote);
        return `x${quote}${inside}${inside.endsWith(quote) ? "" : quote}`;
      }),
    ]);
    const script = `printf '%s\\0' ${words.join(" ")}`;
    const out = execFileSync("bash", ["-c", script], { encoding: "utf8" });
    const expected = texts.flatMap((text) => [`x${text}`, `x${text}`, `x${text}`]);
    expect(out.split("\0").slice(0, -1)).toEqual(expected);
  });

  it("is one literal of PowerShell", () => {
    fc.assert(
      fc.property(printable, (text) => {
        const word = quoteForPowerShell(text);
        if (!word.startsWith("'")) return /^(?:--)?\w[\w./:\\=+-]*$/.test(word) && word === text;
        const inside = word.slice(1, -1);
        const marks = /['\u2018\u2019\u201a\u201b]/g;
        return inside.replace(/(['\u2018\u2019\u201a\u201b])\1/g, "").search(marks) < 0;
      }),
    );
  });
});
