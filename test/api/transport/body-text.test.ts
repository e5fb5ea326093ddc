import { array, assert, few, property, string } from "../../property.ts";
import { expect, it } from "vitest";
import { toBytes } from "../../../src/api/transport/body-text.ts";

it("gives the bytes of each text, and never touches them again", () => {
  const text = string({ unit: "binary", maxLength: 3000 });
  assert(
    property(array(text, { maxLength: 40 }), (texts) => {
      const bytes = texts.map((each) => toBytes(each));
      expect(bytes.map((each) => each.toString("hex"))).toEqual(
        texts.map((each) => Buffer.from(each).toString("hex")),
      );
    }),
    few(50),
  );
});

it.each([0, 1, 21_845, 21_846, 3_000_000])("takes %i characters", (length) => {
  for (const character of ["a", "é", "文", "\ud800"]) {
    const text = character.repeat(length);
    expect(toBytes(text).equals(Buffer.from(text))).toBe(true);
  }
});

it("keeps bodies apart where one slab ends and the next begins", () => {
  const texts = Array.from({ length: 500 }, (_, index) => `${index} é `.repeat(600));
  const bodies = texts.map((text) => toBytes(text));
  expect(bodies.every((body, index) => body.equals(Buffer.from(texts[index] ?? "")))).toBe(true);
});
