import type { Command } from "commander";
import { examples } from "../../surface/options.ts";
import type { Run } from "../../surface/run.ts";

/** `tools list`. */
export function addTools(program: Command, run: Run): void {
  const tools = program.command("tools").description("Look up the tools that agents may use.");
  tools
    .command("list")
    .description("List the tools with the ids that chat --tool and --force-tool take.")
    .addHelpText(
      "after",
      examples([
        ["knowctl tools list", "a table, or tab-separated values in a pipe"],
        ["knowctl tools list --filter 'name~*search*' --fields id", "the ids of some"],
        ["knowctl tools list --json", "the whole records"],
      ]),
    )
    .action(run(async () => (await import("./tools.ts")).toolsList));
}
