import type { Command } from "commander";
import type { Run } from "../../cli/commands.ts";

/** `agents list`. */
export function addAgents(program: Command, run: Run): void {
  const agents = program.command("agents").description("Look up the agents that answer questions.");
  agents
    .command("list")
    .description(
      "List the agents; their ids are for chat --agent.\n" +
        "Only the onyx dialect lists agents; the standard dialect has no such list (exit 9).",
    )
    .configureHelp({
      examples: [
        ["knowctl agents list --dialect onyx", "a table, or tab-separated values in a pipe"],
        ["knowctl agents list --dialect onyx --fields id,name,tools", "the tools of each agent"],
      ],
    })
    .action(run(async () => (await import("./agents.ts")).agentsList));
}
