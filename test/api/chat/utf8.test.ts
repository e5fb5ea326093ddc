import * as fc from "../../property.ts";
import { describe, expect, it } from "vitest";
import { createUtf8Decoder, isDamaged } from "../../../src/api/chat/utf8.ts";

function decode(pieces: readonly Uint8Array[]): string {
  const utf8 = createUtf8Decoder();
  return pieces.map((piece) => utf8.write(piece)).join("") + utf8.end();
}

const bytesOf = (...given: (string | number)[]): Uint8Array =>
  Buffer.concat(given.map((each) => Buffer.from(typeof each === "string" ? each : [each])));

const padding = Buffer.from("Größe 日 ".repeat(400));

describe("createUtf8Decoder", () => {
  it("reads valid text as it is, in any chunking", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme" }),
        fc.array(fc.nat(60), { maxLength: 6 }),
        (text, cuts) => {
          const bytes = Buffer.from(`${text}\uFFFD é 日 👋`);
          const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
          const pieces = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
          expect(decode(pieces)).toBe(`${text}\uFFFD é 日 👋`);
        },
      ),
    );
  });

  it.each([
    ["a byte that begins nothing", bytesOf("a", 0xff, "b")],
    ["a byte that goes on with nothing", bytesOf("a", 0x80)],
    ["a character that is cut by another one", bytesOf(0xe2, 0x82, "b")],
    ["a character that is cut by the end", bytesOf("a", 0xf0, 0x9f, 0x91)],
    ["a character in too many bytes", bytesOf(0xe0, 0x80, 0xaf)],
    ["half of a pair", bytesOf(0xed, 0xa0, 0xbd)],
    ["Latin-1 beside the mark of a lost character", bytesOf("\uFFFD", 0xe9, "\uFFFD")],
  ])("marks %s, in any chunking", (_name, bytes) => {
    const whole = decode([bytes]);
    expect(isDamaged(whole)).toBe(true);
    expect(whole.isWellFormed()).toBe(false);
    expect(whole.toWellFormed()).toBe(new TextDecoder().decode(bytes));
    expect(decode([...bytes].map((byte) => Uint8Array.of(byte)))).toBe(whole);
  });

  it("reads any bytes as the platform does, but for the mark, in any chunking", () => {
    const byte = fc.oneof(
      fc.nat(255),
      fc.constantFrom(0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x91, 0x8b, 0xef, 0xbf, 0xbd),
    );
    fc.assert(
      fc.property(fc.array(byte, { maxLength: 24 }), fc.nat(24), (given, cut) => {
        const bytes = Buffer.from(given);
        const whole = decode([bytes]);
        expect(whole.toWellFormed()).toBe(bytes.toString());
        expect(decode([bytes.subarray(0, cut), bytes.subarray(cut)])).toBe(whole);
        // Large chunks go another way.
        const large = Buffer.concat([padding, bytes]);
        expect(decode([large])).toBe(padding.toString() + whole);
        const end = padding.length + cut;
        expect(decode([large.subarray(0, end), large.subarray(end)])).toBe(
          padding.toString() + whole,
        );
        expect(decode([padding])).toBe(padding.toString());
      }),
    );
  });

  it("takes no character for a mark", () => {
    // The second half of this character is the mark.
    const text = decode([bytesOf("a\u{1F4FF}b")]);
    expect(text).toBe("a\u{1F4FF}b");
    expect(isDamaged(text)).toBe(false);
    expect(isDamaged(decode([bytesOf("\u{1F4FF}", 0xff)]))).toBe(true);
  });

  it("keeps a byte order mark in a chunk of any size", () => {
    expect(decode([bytesOf("\uFEFFa")])).toBe("\uFEFFa");
    expect(decode([bytesOf("\uFEFF", padding.toString())])).toBe(`\uFEFF${padding.toString()}`);
  });
});
