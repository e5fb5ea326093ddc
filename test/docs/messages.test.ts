import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectFolder } from "../support.ts";
import { namesIn, rowsOf } from "./pages.ts";

// Users look for the words that they see: each message that the page quotes has to be one.

const source = join(projectFolder, "src");
// What is wrong with a command line is told by commander.
const commander = join(projectFolder, "node_modules", "commander", "lib", "command.js");
const files = readdirSync(source, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => join(source, name))
  .concat(commander)
  .map((path) => readFileSync(path, "utf8"));

const rows = rowsOf("docs/troubleshooting.md", "message");
const messages = rows.flatMap(([cell = ""]) => namesIn(cell));

/** What stands between the parts that differ, in order, near each other in one file. */
function patternOf(message: string): RegExp {
  const parts = message
    .split("…")
    .map((part) => part.trim())
    .filter((part) => /\w/.test(part))
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(parts.join("[\\s\\S]{1,300}?"));
}

describe("docs/troubleshooting.md", () => {
  it.each(messages)("%s", (message) => {
    expect(message.replaceAll("…", "").length, "too short to be found").toBeGreaterThan(10);
    expect(files.some((text) => patternOf(message).test(text))).toBe(true);
  });

  it("has a cause and a remedy for each, and no message twice", () => {
    expect(messages.length).toBeGreaterThan(25);
    expect(new Set(messages).size).toBe(messages.length);
    for (const row of rows) expect(row.filter((cell) => cell !== "")).toHaveLength(3);
  });

  it("would notice a message that is gone", () => {
    const gone = patternOf("there is no … called … in the moon");
    expect(files.some((text) => gone.test(text))).toBe(false);
  });
});

it("calls a pair a pair in every text, however the interface names it", () => {
  const other = /\bcc[-_]pair(?:_id)? (?:\$\{|\d|N\b)/g;
  expect("no cc-pair ${id}, cc_pair_id 2".match(other)).toHaveLength(2);
  expect(files.flatMap((text) => text.match(other) ?? [])).toEqual([]);
});
