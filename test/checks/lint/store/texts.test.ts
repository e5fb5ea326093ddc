import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createStoredTexts } from "../../../../src/checks/lint/store.ts";
import { temporaryFolder } from "../../../support.ts";

const texts = ["a", "", "länger 文", "x".repeat(700), "{}\n", "e".repeat(90), "last"];

it.each([
  ["in memory", 4096, ""],
  ["on disk", 8, ""],
  ["in both", 400, ""],
  ["in memory where nothing can be written", 8, "none"],
])("gives back texts that are %s", (_name, blockBytes, folder) => {
  const root = temporaryFolder();
  const store = createStoredTexts({ blockBytes, folder: join(root, folder) });
  onTestFinished(() => store.clear());
  const positions = texts.map((text) => store.add(text));
  // The file has no name: nothing remains, however the process ends.
  expect(readdirSync(root)).toEqual([]);
  expect(positions).toEqual([...new Set(positions)].toSorted((a, b) => a - b));
  for (let time = 0; time < 2; time++) {
    expect([...store.entries()]).toEqual(texts.map((text, index) => [positions[index], text]));
  }
  expect(positions.map((position) => store.at(position))).toEqual(texts);
  store.clear();
  expect([...store.entries()]).toEqual([]);
  expect(store.at(store.add("again"))).toBe("again");
});
