import { describe, expect, it } from "vitest";
import {
  type Case,
  type FlagCases,
  commandsOf,
  globalFlags,
  expectCase,
  useSandboxes,
} from "./flags/play.ts";
import { coverage } from "./flags/coverage.ts";

// Every flag of every command has its effect, or is refused: the pairs come from the program itself,
// so that a new flag fails here until it has a case.
useSandboxes();

const listOf = (cases: Case | readonly Case[]): readonly Case[] =>
  Array.isArray(cases) ? (cases as readonly Case[]) : [cases as Case];

describe.each(commandsOf())("%s", (path, flags) => {
  const cases: FlagCases = coverage[path] ?? {};

  it("has a case for each flag, and none for a flag that it lacks", () => {
    const missing = flags.filter((flag) => cases[flag] === undefined);
    const what =
      `add a case for each, an effect or a refusal, to "${path}" in test/cli/flags/, ` +
      "or to mapping.ts if it shapes documents; coverage.ts lists the files";
    expect(missing, what).toEqual([]);
    const known = new Set([...flags, ...globalFlags]);
    expect(Object.keys(cases).filter((flag) => !known.has(flag))).toEqual([]);
  });

  const all = Object.entries(cases).flatMap(([flag, some]) =>
    listOf(some).map(
      (each, index) => [`${flag}${index > 0 ? ` (${index + 1})` : ""}`, flag, each] as const,
    ),
  );
  it.each(all)("%s", async (_name, flag, each) => {
    await expectCase(path, flag, each);
  });
});
