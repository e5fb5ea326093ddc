import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
// @ts-expect-error A script without types.
import { unlisted } from "../../scripts/prove/hostile.js";
// @ts-expect-error A script without types.
import { pageText } from "../../scripts/prove/page.js";
// @ts-expect-error A script without types.
import { parts } from "../../scripts/prove/parts.js";
import { projectFolder } from "../support.ts";

const known = parts as Record<string, { about: string; minutes: number }>;

test("all parts together take at most half an hour", () => {
  const minutes = Object.values(known).reduce((sum, part) => sum + part.minutes, 0);
  expect(minutes).toBeLessThanOrEqual(30);
});

test("each command of the help is tried in the hostile folder", () => {
  expect((unlisted as () => string[])()).toEqual([]);
});

test("SECURITY.md names parts and tests that exist", () => {
  const text = readFileSync(join(projectFolder, "SECURITY.md"), "utf8");
  const rows = [...text.matchAll(/^\|[^|]*\|([^|]*)\|$/gm)].map(([, cell]) => cell!);
  const named = rows.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!));
  const paths = named.filter((name) => name.startsWith("test/"));
  const names = named.filter((name) => !name.startsWith("test/"));
  expect(Math.min(paths.length, names.length)).toBeGreaterThan(8);
  expect(paths.filter((path) => !existsSync(join(projectFolder, path)))).toEqual([]);
  expect(names.filter((name) => !(name in known))).toEqual([]);
});

test("the page says what was tried and held, what was not run, and what was violated instead of what held", () => {
  const run = (result: object): object => ({
    about: "things",
    result,
    seconds: 60,
    again: "npm run prove -- x --seed 1",
  });
  const ran = [
    ["good", run({ tried: ["9 of 9"], held: ["all"], violated: [] })],
    ["absent", run({ skipped: "strace is not installed" })],
    [
      "bad",
      run({ tried: ["1 of 9"], held: ["all"], violated: [{ what: "a <b>\nmore", replay: "r" }] }),
    ],
  ];
  const text = pageText(ran, { command: "npm run prove", date: "2026-01-01" }) as string;
  expect(text).toContain("- command: `npm run prove`, 3 minutes, on 2026-01-01\n");
  expect(text).toContain("## good\n\nTries things.\n\n- tried: 9 of 9\n- held: all\n");
  expect(text).toContain("Not run on this machine: strace is not installed");
  expect(text).toContain("- tried: 1 of 9\n- **violated**: a \\<b\\>; `r`\n");
});
