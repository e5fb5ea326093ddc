import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  ChatSettings,
  ConfigContent,
  IngestRule,
  IngestSettings,
  Profile,
  LintSettings,
} from "../../src/config/values/schema.ts";
import { projectFolder } from "../support.ts";
import { configCases, type KeyCase } from "./flags/config-keys.ts";
import { expectDifference, play, useSandboxes } from "./flags/play.ts";

// Every key of a configuration has its effect: the keys come from the schema itself, so that a new
// one fails here until it has a case.
useSandboxes();

const frontMatter = IngestSettings.shape.frontMatter._zod.def.innerType;
const groups = {
  "": ConfigContent,
  "profile.": Profile,
  "ingest.": IngestSettings,
  "ingest.rules.": IngestRule,
  "ingest.frontMatter.": frontMatter,
  "chat.": ChatSettings,
  "lint.": LintSettings,
};
/** Groups of others, whose members are listed themselves. */
const isGroup = new Set([
  "profiles",
  "ingest",
  "chat",
  "lint",
  "profile.ingest",
  "profile.chat",
  "ingest.frontMatter",
  "ingest.rules",
]);
const keys = Object.entries(groups)
  .flatMap(([prefix, group]) => Object.keys(group.shape).map((key) => `${prefix}${key}`))
  .filter((key) => !isGroup.has(key));

it("has a case for each key, and none for a key that does not exist", () => {
  const missing = keys.filter((key) => configCases[key] === undefined);
  expect(missing, "add a case for each to test/cli/flags/config-keys.ts").toEqual([]);
  expect(Object.keys(configCases).filter((key) => !keys.includes(key))).toEqual([]);
});

describe("has its effect:", () => {
  it.each(Object.entries(configCases))("%s", async (key, given: KeyCase) => {
    if ("tested" in given) {
      const text = readFileSync(join(projectFolder, given.tested), "utf8");
      return expect(text).toContain(key.split(".").at(-1));
    }
    const { command, config, base = {}, codes = [0, 0], ...setting } = given;
    const without = await play(command, "", { ...setting, config: base });
    const with_ = await play(command, "", { ...setting, config });
    const told = `${key}\nwithout: ${without.stderr}\nwith: ${with_.stderr}`;
    expect([without.code, with_.code], told).toEqual(codes);
    for (const kind of ["stdout", "stderr", "requests", "waits", "left"] as const) {
      expectDifference(without, with_, kind, given[kind] ?? {});
    }
  });
});
