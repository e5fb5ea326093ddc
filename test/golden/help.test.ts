import type { Command } from "commander";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { main, runHere } from "../main.ts";
import { describeProgram, helpTexts, topicTexts } from "../../src/cli/program.ts";
import { pathOf } from "../../src/cli/commands.ts";
import { cleanEnvironment, createTestContext, projectFolder, runCli, temporaryFolder } from "../support.ts";

const texts = Object.entries(helpTexts());
const shortTexts = Object.entries(helpTexts("short"));

/** Every text at two widths: one where lines must be broken, and one where none has to. */
const widths = [60, 10_000].map((width) => ({
  "-h": helpTexts("short", width),
  "--help": helpTexts("full", width),
  topic: topicTexts(width),
}));
const allTexts = (["-h", "--help", "topic"] as const).flatMap((kind) =>
  Object.keys(widths[0]![kind]).map((name) => [
    `${name} ${kind}`,
    ...widths.map((each) => each[kind][name]!),
  ]),
) as [name: string, narrow: string, wide: string][];

const withSubcommands = (command: Command): Command[] => [
  command,
  ...command.commands.flatMap(withSubcommands),
];
const commands = withSubcommands(describeProgram());

describe("help", () => {
  // The reference is the golden file of each text: a change of any help text shows in its diff.
  it.each(texts)("of `knowctl %s` stands in the command reference", (path, text) => {
    const page = `${path.split(" ")[0] || "knowctl"}.md`;
    const reference = readFileSync(join(projectFolder, "docs", "commands", page), "utf8");
    expect(reference).toContain(`\`\`\`text\n${text.trimEnd()}\n\`\`\``);
  });

  it.each(texts)("of `knowctl %s` begins with examples", (_path, text) => {
    expect(text).toMatch(/\n\nUsage: [^\n]+\n\nExamples:\n {2}# .+\n {2}\$ /);
  });

  it.each(shortTexts)("of `knowctl %s -h` fits 24 lines of 80 columns", (_path, text) => {
    const lines = text.trimEnd().split("\n");
    expect(lines.length).toBeLessThanOrEqual(24);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(text).toMatch(/\n\nExamples:\n {2}# .+\n {2}\$ .+/);
    expect(text).toMatch(/\n(?:More|All options): knowctl /);
  });

  it.each(allTexts)("breaks no line in a word at 60 columns: %s", (_name, narrow, wide) => {
    // A broken command has a backslash, a broken comment another #.
    const words = (text: string) => text.split(/\s+/).filter((word) => !/^[\\#]$/.test(word));
    expect(narrow.split("\n").filter((line) => line.length > 60)).toEqual([]);
    expect(words(narrow)).toEqual(words(wide));
  });

  it("shows in -h the flags that matter, which exist, and never more than eight", () => {
    for (const [path, text] of shortTexts) {
      const shown = [...text.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, flag]) => flag!);
      const command = commands.find((each) => pathOf(each) === path)!;
      const { essentials } = command.configureHelp();
      const known = [
        ...command.options.map(({ long }) => long),
        ...command.commands.map((each) => each.name()),
      ];
      expect(essentials?.filter((name) => !known.includes(name)) ?? []).toEqual([]);
      expect(shown.length, path).toBeLessThanOrEqual(8);
    }
  });

  it("puts the flags of a command with many into named groups", () => {
    for (const [path, text] of texts.filter(([name]) => name !== "")) {
      const count = text.match(/^ {2}(?:-\w, )?--[\w-]+/gm)?.length ?? 0;
      expect(count > 10 && text.includes("\nOptions:\n"), path).toBe(false);
    }
  });

  it("lists each command with one sentence, however much its own help says", () => {
    const text = helpTexts()[""];
    expect(text).toMatch(/\nStart:\n {2}try .*\n {2}sandbox .*Run a local service/);
    expect(text).not.toContain("listens on this machine only");
    expect(helpTexts()["sandbox"]).toContain("listens on this machine only");
  });

  it("is the same from the entry, with a flag before or after, and from the program", async () => {
    const home = temporaryFolder();
    const options = { cwd: home, env: cleanEnvironment(home) };
    const full = helpTexts()["connectors list"];
    const short = helpTexts("short")["connectors list"];
    const topic = topicTexts()["filters"];
    for (const [start, args, expected] of [
      [runCli, "connectors list --help", full],
      [runCli, "connectors list --json --help", full],
      [runCli, "connectors list -h", short],
      [runHere, "connectors list --json -h", short],
      [runCli, "help filters", topic],
      [runHere, "--json help filters", topic],
    ] as const) {
      const result = await start(args.split(" "), options);
      expect(result, args).toMatchObject({ code: 0, stdout: expected, stderr: "" });
    }
  });
});

describe("knowctl help", () => {
  const run = async (line: string) => {
    const context = createTestContext();
    const code = await main(line.split(" "), context);
    return { code, out: context.stdoutText(), err: context.stderrText() };
  };

  it.each([
    ["help", ""],
    ["help help", ""],
    ["help ingest", "ingest"],
    ["help retry", "retry"],
    ["help connectors list", "connectors list"],
    ["connectors help list", "connectors list"],
    ["help --no-color login", "login"],
    ["--profile x help login", "login"],
  ])("shows the help of a command: %s", async (line, path) => {
    expect(await run(line)).toEqual({ code: 0, out: helpTexts()[path], err: "" });
  });

  it.each([
    ["help nosuch", /unknown command 'nosuch'/],
    ["help ingst", /unknown command 'ingst'\n.*Did you mean ingest\?\n.*`knowctl --help`/],
    ["help ingest nosuch", /unknown command 'nosuch'\n.*`knowctl ingest --help`/],
    ["help login x", /unknown command 'x'\n.*`knowctl login --help`/],
    ["connectors help lst", /unknown command 'lst'\n.*Did you mean list\?/],
    ["help exit-code", /unknown command 'exit-code'\n.*topic: exit-codes, environment,/],
    ["help exit-codes nosuch", /unknown command 'nosuch'/],
    ["help --nosuch", /unknown option '--nosuch'/],
    ["config help --nosuch set", /unknown option '--nosuch'/],
    ["nosuch -h", /unknown command 'nosuch'/],
    ["connectors lst --help", /unknown command 'lst'\n.*Did you mean list\?/],
  ])("refuses a word that is none: %s", async (line, message) => {
    expect(await run(line)).toEqual({ code: 2, out: "", err: expect.stringMatching(message) });
  });
});
