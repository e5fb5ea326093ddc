import { expect, it } from "vitest";
import { createNumbersByHash, hashText } from "../../../../src/checks/lint/store.ts";

it("finds the numbers of each hash among many", () => {
  const numbers = createNumbersByHash();
  const hashes = Array.from({ length: 5000 }, (_, index) => hashText(`key ${index}`));
  for (const [index, hash] of hashes.entries()) numbers.add(hash, index);
  for (const [index, hash] of hashes.entries()) expect([...numbers.of(hash)]).toContain(index);
  expect([...numbers.of(hashText("other"))]).toEqual([]);
});

it("keeps the numbers of two keys with one hash", () => {
  const numbers = createNumbersByHash();
  for (const value of [0, 2 ** 40, 7]) numbers.add(-3, value);
  expect([...numbers.of(-3)].toSorted((a, b) => a - b)).toEqual([0, 7, 2 ** 40]);
});
