import { expect, it } from "vitest";
import { asStrict, expectCheap, expectConstant, expectLinear } from "./cost.ts";

const text = JSON.stringify(Array.from({ length: 30 }, (_, id) => ({ id, name: `n${id}` })));

// A loop of plain arithmetic takes ten times as long on one version of Node as on the next.
function work(steps: number): void {
  for (let step = 0; step < steps; step++) JSON.parse(text);
}

it("tells what grows with the square from what grows with the size", () => {
  expectLinear(4000, work);
  expect(() => expectLinear(160, (size) => work(size * size))).toThrow("times as expensive");
});

it("tells what grows from what does not", () => {
  expectConstant([1000, 20_000], () => work(5000));
  expect(() => expectConstant([1000, 10_000], work)).toThrow("times as expensive");
});

it("tells what is done soon from what is not", () => {
  expectCheap(() => work(200), 3);
  expect(() => expectCheap(() => work(8_000), 3)).toThrow("times as expensive");
});

it("asks more of a part of the size, where the square weighs less", () => {
  // A square part that is 0.4 times the rest at the whole size is 0.2 times at half, 0.1 times at a quarter.
  expect(asStrict(24, 1)).toBeCloseTo(24);
  expect(asStrict(24, 2)).toBeCloseTo((8 + 64 * 0.2) / 1.2);
  expect(asStrict(24, 4)).toBeCloseTo((8 + 64 * 0.1) / 1.1);
});
