import type { Command } from "commander";
import type { Run } from "../../cli/commands.ts";

/** `tools list`. */
export function addTools(program: Command, run: Run): void {
  const tools = program.command("tools").description("Look up the tools that agents may use.");
  tools
    .command("list")
    .description("List the tools; their ids are for chat --tool and --force-tool.")
    .configureHelp({
      examples: [
        ["knowctl tools list", "a table, or tab-separated values in a pipe"],
        ["knowctl tools list --filter 'name~*search*' --fields id", "ids of the matching tools"],
        ["knowctl tools list --json", "the complete records"],
      ],
    })
    .action(run(async () => (await import("./tools.ts")).toolsList));
}
