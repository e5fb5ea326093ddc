import { expect, it } from "vitest";
import * as z from "zod/mini";
import { checkShape } from "../../../src/output/report/stored/read.ts";

let looked = 0;
const shape = z.object({
  version: z.literal(1),
  list: z.array(
    z.custom<string>((value) => {
      looked += 1;
      return typeof value === "string";
    }),
  ),
  deep: z.optional(z.object({ list: z.array(z.object({ text: z.string() })) })),
});
const check = (value: object) => checkShape("r.json", shape, { version: 1, ...value });

it("stops at the first invalid element of a long list, and names its place", () => {
  looked = 0;
  const list = [...Array<string>(2500).fill("a"), ...Array<number>(100_000).fill(1)];
  expect(() => check({ list })).toThrow("r.json: not a valid report: list.2500: Invalid input");
  expect(looked).toBe(2501);
});

it("looks into members, and reads long lists that are right", () => {
  const texts = Array.from({ length: 2500 }, () => ({ text: "a" }));
  const wrong = { list: [], deep: { list: [...texts, { text: 1 }] } };
  expect(() => check(wrong)).toThrow("deep.list.2500.text: Invalid input");
  const right = { list: ["a"], deep: { list: texts } };
  expect(check(right)).toEqual({ version: 1, ...right });
});

it("refuses an object of many members, and another version", () => {
  const members = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`k${at}`, 1]));
  expect(() => check(members)).toThrow("too many members");
  expect(() => check({ version: 2 })).toThrow("r.json: a report of version 2");
});
