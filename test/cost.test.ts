import { expect, it } from "vitest";
import { expectCheap, expectConstant, expectLinear } from "./cost.ts";

let sum = 0;

function count(steps: number): void {
  for (let step = 0; step < steps; step++) sum = (sum + step) | 0;
}

it("tells what grows with the square from what grows with the size", () => {
  expectLinear(10_000_000, count);
  expect(() => expectLinear(8000, (size) => count(size * size))).toThrow("times as expensive");
});

it("tells what grows from what does not", () => {
  expectConstant([1_000_000, 20_000_000], () => count(5_000_000));
  expect(() => expectConstant([1_000_000, 20_000_000], count)).toThrow("times as expensive");
});

it("tells what is done soon from what is not", () => {
  expectCheap(() => count(1_000_000), 3);
  expect(() => expectCheap(() => count(20_000_000), 3)).toThrow("times as expensive");
});
