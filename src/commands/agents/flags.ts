import type { Command } from "commander";
import { examples } from "../../surface/options.ts";
import type { Run } from "../../surface/run.ts";

/** `agents list`. */
export function addAgents(program: Command, run: Run): void {
  const agents = program.command("agents").description("Look up the agents that answer.");
  agents
    .command("list")
    .description(
      "List the agents with the ids that chat --agent takes.\n" +
        "Needs the onyx dialect: the standard interface lists no agents (exit 9).",
    )
    .addHelpText(
      "after",
      examples([
        ["knowctl agents list --dialect onyx", "a table, or tab-separated values in a pipe"],
        ["knowctl agents list --dialect onyx --fields id,name,tools", "what each may use"],
      ]),
    )
    .action(run(async () => (await import("./agents.ts")).agentsList));
}
