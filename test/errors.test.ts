import { expect, it, onTestFinished } from "vitest";
import * as z from "zod/mini";
import { issueText } from "../src/errors.ts";

const cases: [z.ZodMiniType, unknown, string][] = [
  [z.object({}), 1, "expected object"],
  [z.array(z.string()), 1, "expected list"],
  [z.int(), 1.5, "expected whole number"],
  [z.number().check(z.maximum(3)), 9, "expected at most 3"],
  [z.string().check(z.maxLength(3)), "long", "expected at most 3 characters"],
  [z.string().check(z.minLength(1)), "", "may not be empty"],
  [z.string().check(z.maxLength(1, "a letter")), "ab", "a letter"],
  [z.enum(["a", "b"]), 2, "expected one of a, b"],
  [z.union([z.string(), z.number()]), null, "it has none of the allowed forms"],
  [z.custom((value) => value === 1), 2, "it is not valid"],
  [z.strictObject({}), { b: 1 }, "unknown b"],
];

it("An issue of a schema has the same words, whatever language the library has", () => {
  onTestFinished(() => void z.config({ localeError: undefined }));
  for (const locale of [{ localeError: undefined }, z.locales.en()]) {
    z.config(locale);
    const texts = cases.map(([shape, value]) =>
      issueText(shape.safeParse(value).error!.issues[0]!),
    );
    expect(texts).toEqual(cases.map(([, , text]) => text));
  }
});
