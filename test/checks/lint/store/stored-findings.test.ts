import { expect, it } from "vitest";
import type { LintFinding } from "../../../../src/checks/lint/place.ts";
import {
  createPageFindings,
  createStoredFindings,
  mergeFindings,
} from "../../../../src/checks/lint/store.ts";
import { findingWith } from "../finding.ts";

const at = (path: string, line: number, rule = "r", column = 1): LintFinding =>
  findingWith({ path, line, rule, column });
const placesOf = (findings: Iterable<LintFinding>): string[] =>
  Array.from(findings, ({ path, line, column, rule }) => `${path}:${line}:${column} ${rule}`);

it("stored findings are the same each time", () => {
  const store = createStoredFindings();
  const findings = [at("a.md", 1), at("b.md", 2)];
  for (const each of findings) store.add(each);
  expect(store).toHaveLength(2);
  for (let time = 0; time < 2; time++) expect([...store]).toEqual(findings);
  store.clear();
  expect([...store]).toEqual([]);
});

it("findings of pages are ordered by path, place and rule", () => {
  const store = createPageFindings();
  store.add({ path: "b.md", part: 0 }, [at("b.md", 9), at("b.md", 3, "s"), at("b.md", 3)]);
  store.add({ path: "c.md", part: 0 }, []);
  // Only symbolic links lead to it.
  store.add({ path: "a.md", part: 0 }, [at("a.md", 1, "r", 5), at("a.md", 1, "r", 2)]);
  expect(placesOf(store)).toEqual([
    "a.md:1:2 r",
    "a.md:1:5 r",
    "b.md:3:1 r",
    "b.md:3:1 s",
    "b.md:9:1 r",
  ]);
});

it("findings of rows in one line are ordered by rule", () => {
  const store = createPageFindings();
  const row = { line: 1, id: "x" };
  store.add({ path: "a.json", part: 1, row }, [at("a.json", 1, "s")]);
  store.add({ path: "a.json", part: 2, row }, [at("a.json", 1, "r")]);
  store.add({ path: "a.json", part: 3, row: { line: 2, id: "y" } }, [at("a.json", 2, "q")]);
  expect(placesOf(store)).toEqual(["a.json:1:1 r", "a.json:1:1 s", "a.json:2:1 q"]);
});

it("merging keeps the order of places, and of equal ones the first", () => {
  const second = [at("a.md", 1, "s"), at("a.md", 3, "r"), at("c.md", 1)];
  const first = [at("a.md", 2), at("a.md", 3, "r"), at("b.md", 1)];
  const merged = [...mergeFindings(first, second)];
  expect(placesOf(merged)).toEqual([
    "a.md:1:1 s",
    "a.md:2:1 r",
    "a.md:3:1 r",
    "a.md:3:1 r",
    "b.md:1:1 r",
    "c.md:1:1 r",
  ]);
  expect(merged[2]).toBe(first[1]);
});
