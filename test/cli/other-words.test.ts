import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { main } from "../main.ts";
import { commandSummaries } from "../../src/cli/program.ts";
import { addMappingOptions } from "../../src/commands/ingest/flags-shared.ts";
import { otherWords, shapingFlags } from "../../src/cli/other-words.ts";
import { createTestContext } from "../support.ts";

const words = "upload push sync ask ls plan diff drift orphans whoami version";

it.each(words.split(" "))("%s: names the command that is meant", async (word) => {
  const context = createTestContext();
  expect(await main([word, "docs"], context)).toBe(2);
  expect(context.stderrText()).toContain(`unknown command '${word}'`);
  expect(context.stderrText()).toContain(`use \`knowctl ${otherWords[word]}\``);
});

it("stands for commands that exist, by words that are none", () => {
  const commands = commandSummaries().map(([name]) => name);
  const firstWords = new Set(commands.map((name) => name.split(" ")[0]));
  for (const [word, command] of Object.entries(otherWords)) {
    expect([...commands, "--version"]).toContain(command.replace(/ --.*/, ""));
    expect(firstWords).not.toContain(word);
  }
});

it.each([
  ["validate", "use `knowctl config validate`"],
  ["show", "use `knowctl sessions show` or `knowctl config show`"],
  ["update", "use `knowctl ingest`"],
  ["delete", "use `knowctl prune`"],
  ["uplaod", "use `knowctl ingest`"],
])("%s: names the subcommand that is meant", async (word, hint) => {
  const context = createTestContext();
  expect(await main([word], context)).toBe(2);
  expect(context.stderrText()).toBe(
    `error: unknown command '${word}'\n  → ${hint}\n  → see \`knowctl --help\`\n`,
  );
});

it.each([
  ["ingest docs --pair 2", "use --cc-pair-id"],
  ["ingest docs --ccpair=2", "use --cc-pair-id"],
  ["connectors list --url http://127.0.0.1:8787", "use --base-url"],
  ["ingest docs --workers 4", "use --concurrency"],
  ["doctor --silent", "use --quiet"],
  ["chat --token SECRET-VALUE hello", "no flag takes a key: set KNOWCTL_API_KEY"],
  ["connectors list --api-key=SECRET-VALUE", "or store it: knowctl login"],
])("%s: names what is meant", async (line, hint) => {
  const context = createTestContext();
  expect(await main(line.split(" "), context)).toBe(2);
  expect(context.stderrText()).toMatch(
    /^error: unknown option '--[a-z-]+'\n {2}→ (use --|no flag)/,
  );
  expect(context.stderrText()).toContain(hint);
  expect(context.stderrText()).not.toContain("SECRET-VALUE");
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

describe("flags of other commands", () => {
  it("knows each flag that shapes documents", () => {
    const names = addMappingOptions(new Command()).options.map(({ long }) => long);
    // A permission, which retry takes as well.
    expect(shapingFlags).toEqual(new Set(names.filter((name) => name !== "--drop-access")));
  });

  it.each([
    ["ingest --prune docs", "use `knowctl prune`"],
    ["ingest --tombstone docs", "use `knowctl prune --tombstone`"],
    ["ingest retry --missing", "use `knowctl retry --missing`"],
    ["prune --remote", "use `knowctl prune --extra`"],
    ["status --sections headings", "status uses the flags of the upload"],
    ["prune docs --id-prefix kb/", "knowctl ingest PATH --id-prefix"],
    ["retry --tag a", "retry uses the flags of the upload"],
    ["verify docs --map id=sku", "verify uses the flags of the upload"],
  ])("%s: names what is meant", async (line, hint) => {
    const context = createTestContext();
    expect(await main(line.split(" "), context)).toBe(2);
    expect(context.stderrText()).toContain(hint);
  });
});
