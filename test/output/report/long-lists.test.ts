import { expect, it } from "vitest";
import * as z from "zod/mini";
import { checkShape } from "../../../src/output/report/stored/read.ts";

let looked = 0;
const shape = z.object({
  list: z.array(
    z.custom<string>((value) => {
      looked += 1;
      return typeof value === "string";
    }),
  ),
  deep: z.optional(z.object({ list: z.array(z.string()) })),
});

it("stops at the first invalid element of a long list, and names its place", () => {
  looked = 0;
  const list = [...Array<string>(2500).fill("a"), ...Array<number>(100_000).fill(1)];
  expect(() => checkShape("r.json", shape, { list })).toThrow(
    "r.json: not a valid report: list.2500: Invalid input",
  );
  expect(looked).toBe(3000);
});

it("looks into members, and reads long lists that are right", () => {
  const list = Array<string>(2500).fill("a");
  const wrong = { list: [], deep: { list: [...list, 1] } };
  expect(() => checkShape("r.json", shape, wrong)).toThrow("deep.list.2500: Invalid input");
  const right = { list, deep: { list } };
  expect(checkShape("r.json", shape, right)).toEqual(right);
});

it("refuses an object of many members, and a list", () => {
  const members = Object.fromEntries(list(20_000).map((at) => [`k${at}`, 1]));
  expect(() => checkShape("r.json", shape, members)).toThrow("too many members");
  expect(() => checkShape("r.json", shape, [])).toThrow("not a valid report");
});

const list = (length: number): number[] => Array.from({ length }, (_, at) => at);
