import { expect, it } from "vitest";
import { main } from "../main.ts";
import { commandSummaries } from "../../src/program.ts";
import { otherWords } from "../../src/surface/other-words.ts";
import { createTestContext } from "../support.ts";

it.each(["upload", "push", "sync", "ask", "ls", "version"])(
  "%s: names the command that is meant",
  async (word) => {
    const context = createTestContext();
    expect(await main([word, "docs"], context)).toBe(2);
    expect(context.stderrText()).toContain(`unknown command '${word}'`);
    expect(context.stderrText()).toContain(`use \`knowctl ${otherWords[word]}\``);
  },
);

it("stands for commands that exist, by words that are none", () => {
  const commands = commandSummaries().map(([name]) => name);
  const firstWords = new Set(commands.map((name) => name.split(" ")[0]));
  for (const [word, command] of Object.entries(otherWords)) {
    expect([...commands, "--version"]).toContain(command);
    expect(firstWords).not.toContain(word);
  }
});

it.each(["--watch", "--watch=5", "--watch 5"])(
  "`connectors list %s` names the command",
  async (flag) => {
    const context = createTestContext();
    expect(await main(["connectors", "list", ...flag.split(" ")], context)).toBe(2);
    expect(context.stderrText()).toBe(
      "error: unknown option '--watch'\n" +
        "  → use `knowctl connectors status --watch SECONDS`\n" +
        "  → see `knowctl connectors list --help`\n",
    );
  },
);
