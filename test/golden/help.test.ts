import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { helpTexts } from "../../src/program.ts";
import { cleanEnvironment, projectFolder, runCli, temporaryFolder } from "../support.ts";

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
