import { expectLinear } from "../../cost.ts";
import * as fc from "../../property.ts";
import { describe, expect, it } from "vitest";
import {
  neutralise,
  neutraliseJson,
  neutraliseLine,
} from "../../../src/output/terminal/neutralise.ts";

// Written as ranges of code points, not as the pattern of the source.
function isDangerous(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  if (code === 0x0a || code === 0x09) return false;
  if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) return true;
  return (
    [0x61c, 0x200e, 0x200f].includes(code) ||
    (code >= 0x202a && code <= 0x202e) ||
    (code >= 0x2066 && code <= 0x2069)
  );
}

const hostile = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      "\u001b",
      "[",
      "]",
      "31m",
      "\u0007",
      "\u009b",
      "\u0090",
      "\r",
      "\n",
      "\t",
      "\u202e",
      "\u2066",
    ),
    fc.string({ unit: "binary", maxLength: 3 }),
  ),
});

it.each([
  ["colour", "\u001b[31mred", "^[[31mred"],
  ["C1 control sequence", "\u009b2J", "<U+009B>2J"],
  ["device control string", "\u0090q\u009c", "<U+0090>q<U+009C>"],
  ["APC, PM, SOS", "\u009f\u009e\u0098", "<U+009F><U+009E><U+0098>"],
  ["clipboard (OSC 52)", "\u001b]52;c;ZXZpbA==\u0007", "^[]52;c;ZXZpbA==^G"],
  ["lone escape at the end", "x\u001b", "x^["],
  ["backspace and delete", "a\bb\u007f", "a^Hb^?"],
  ["carriage return", "safe\rEVIL", "safeEVIL"],
  ["CRLF", "a\r\nb", "a\nb"],
  ["override", "\u202egnp.exe", "<U+202E>gnp.exe"],
  ["isolate", "\u2066x\u2069", "<U+2066>x<U+2069>"],
  ["NUL", "a\u0000b", "a^@b"],
])("makes %s visible", (_name, text, expected) => {
  expect(neutralise(text)).toBe(expected);
});

it("keeps everything else: newline, tab, zero width, tags, emoji, any script", () => {
  const text = "a\n\tb\u200b\u200d\u{e0041}👩‍👩‍👧 é e\u0301 שלום";
  expect(neutralise(text)).toBe(text);
});

it("leaves no control character, however the text is cut", () => {
  fc.assert(
    fc.property(hostile, fc.nat(), (text, seed) => {
      const cut = seed % (text.length + 1);
      const whole = neutralise(text);
      expect([...whole].filter(isDangerous)).toEqual([]);
      expect(neutralise(text.slice(0, cut)) + neutralise(text.slice(cut))).toBe(whole);
      expect(neutralise(whole)).toBe(whole);
    }),
  );
});

describe("neutraliseLine", () => {
  it.each([
    ["a\nb", "a b"],
    ["a \n\t b", "a b"],
    ["a\r\nb", "a b"],
    ["two  spaces stay", "two  spaces stay"],
    ["\u001b[1m\n", "^[[1m "],
  ])("%j on one line", (text, expected) => {
    expect(neutraliseLine(text)).toBe(expected);
  });

  it("takes linear time on a long run of white space", () => {
    expectLinear(300_000, (count) => void neutraliseLine(`${" ".repeat(count)}x`));
  });
});

describe("neutraliseJson", () => {
  it("keeps the data and leaves no control character", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const value = { [text]: [text] };
        const json = neutraliseJson(JSON.stringify(value, undefined, 2));
        expect([...json].filter(isDangerous)).toEqual([]);
        expect(JSON.parse(json)).toEqual(value);
      }),
    );
  });

  it("makes a line inert that is no JSON", () => {
    expect(neutraliseJson("\u001b[2J\u009b1m{\r}")).toBe("\\u001b[2J\\u009b1m{ }");
  });
});
