import { expect, it } from "vitest";
import { expectCheap, expectConstant, expectLinear } from "./cost.ts";

let sum = 0;

function count(steps: number): void {
  for (let step = 0; step < steps; step++) sum = (sum + step) | 0;
}

it("tells what grows with the square from what grows with the size", () => {
  expectLinear(30_000_000, count);
  expect(() => expectLinear(12_000, (size) => count(size * size))).toThrow("times as expensive");
});

it("tells what grows from what does not", () => {
  expectConstant([1_000_000, 40_000_000], () => count(10_000_000));
  expect(() => expectConstant([1_000_000, 40_000_000], count)).toThrow("times as expensive");
});

it("tells what is done soon from what is not", () => {
  expectCheap(() => count(1_000_000), 3);
  expect(() => expectCheap(() => count(50_000_000), 3)).toThrow("times as expensive");
});
