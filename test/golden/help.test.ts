import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { main } from "../main.ts";
import { helpTexts } from "../../src/program.ts";
import { cleanEnvironment, createTestContext, projectFolder, runCli, temporaryFolder } from "../support.ts";

const texts = Object.entries(helpTexts());

describe("help", () => {
  // The reference is the golden file: a change of any help text shows in its diff.
  const reference = readFileSync(join(projectFolder, "docs", "commands.md"), "utf8");

  it.each(texts)("of `knowctl %s` stands in the command reference", (_path, text) => {
    expect(reference).toContain(`\`\`\`text\n${text.trimEnd()}\n\`\`\``);
  });

  it.each(texts)("of `knowctl %s` shows an example, or its subcommands", (_path, text) => {
    expect(text).toMatch(/\nExamples:\n {2}# .+\n {2}\$ |\nCommands:\n/);
  });

  it.each(texts)("of `knowctl %s` fits 100 columns", (_path, text) => {
    // Examples are commands to copy: they are not wrapped.
    const lines = text.split("\n").filter((line) => !line.startsWith("  $ "));
    expect(lines.filter((line) => line.length > 100)).toEqual([]);
  });

  it("lists each command with one sentence, however much its own help says", () => {
    const [, commands = ""] = texts[0]![1].split(/\nCommands:\n|\n\nExamples:\n/);
    expect(commands).toMatch(/^ {2}sandbox .*Run a local service/m);
    expect(commands).not.toContain("listens on this machine only");
    expect(helpTexts()["sandbox"]).toContain("listens on this machine only");
  });

  it("is the same from the entry, with a flag before or after, and from the program", async () => {
    const home = temporaryFolder();
    const options = { cwd: home, env: cleanEnvironment(home) };
    const expected = helpTexts()["connectors list"];
    for (const args of [
      ["connectors", "list", "--help"],
      ["connectors", "list", "-h"],
      ["connectors", "list", "--json", "--help"],
      ["help", "connectors", "list"].slice(1).concat("--help"),
    ]) {
      expect(await runCli(args, options)).toMatchObject({ code: 0, stdout: expected, stderr: "" });
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
    ["help ingest retry", "ingest retry"],
    ["help connectors list", "connectors list"],
    ["connectors help list", "connectors list"],
    ["--profile x help login", "login"],
  ])("shows the help of a command: %s", async (line, path) => {
    expect(await run(line)).toEqual({ code: 0, out: helpTexts()[path], err: "" });
  });

  it.each([
    ["help nosuch", /unknown command 'nosuch'/],
    ["help ingst", /unknown command 'ingst'\n.*Did you mean ingest\?\n.*`knowctl --help`/],
    ["help ingest nosuch", /unknown command 'nosuch'\n.*`knowctl ingest --help`/],
    ["help ingest retyr", /unknown command 'retyr'\n.*Did you mean retry\?/],
    ["help login x", /unknown command 'x'\n.*`knowctl login --help`/],
    ["connectors help lst", /unknown command 'lst'\n.*Did you mean list\?/],
    ["help exit-codes", /unknown command 'exit-codes'/],
  ])("refuses a word that is none: %s", async (line, message) => {
    expect(await run(line)).toEqual({ code: 2, out: "", err: expect.stringMatching(message) });
  });
});
