import type { Command } from "commander";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Run } from "../../cli/commands.ts";
import { choice, integer, positive } from "../../cli/options.ts";
import type { ClientName } from "./clients.ts";
import type { McpFlags } from "./mcp.ts";
import type { RunLine } from "../try/try.ts";

// clients.ts describes them; a start loads only names.
const clientNames = [
  "claude",
  "codex",
  "cursor",
  "vscode",
  "gemini",
] as const satisfies readonly ClientName[];

const pairId = integer(0, 2 ** 31 - 1);
const clientHelp = `client: ${clientNames.join(", ")}`;

function addServerOptions(command: Command): Command {
  return command
    .optionsGroup("What agents may do:")
    .option("--allow-tokens <calls>", "model calls that questions and searches may cost", positive)
    .option("--allow-ingest <folder>", "folder that agents may upload; without it, none")
    .option("--cc-pair-id <id>", "the connector/credential pair of these uploads", pairId);
}

/** `mcp`, `mcp install` and `mcp uninstall`. `runLine` runs a whole command line, as if it were typed. */
export function addMcp(program: Command, run: Run, runLine: RunLine): void {
  const mcp = program
    .command("mcp")
    .description(
      "Serve search, questions, checks and uploads to a coding agent (Model Context Protocol, stdio).\n" +
        "Agents see the files of one project that an upload would find. They can upload only with " +
        "--allow-ingest, and never delete, log in or change the configuration.",
    );
  addServerOptions(mcp)
    .optionsGroup("Set up:")
    .option(
      "--print-config <client>",
      `print the entry for this ${clientHelp}`,
      choice(...clientNames),
    )
    .configureHelp({
      examples: [
        ["knowctl mcp install claude --root docs", "let Claude Code use this project"],
        ["knowctl mcp --print-config codex", "the entry, to paste yourself"],
        ["knowctl mcp --allow-ingest docs --cc-pair-id 2", "agents may upload docs to pair 2"],
      ],
    })
    .action(
      run(async () => {
        const { serveMcp } = await import("./mcp.ts");
        return (context, _args, flags: McpFlags) => serveMcp(context, flags, runLine);
      }),
    );
  addServerOptions(
    mcp
      .command("install")
      .description(
        "Add the server to the configuration of a client; running it again changes nothing.",
      )
      .argument("<client>", clientHelp, choice(...clientNames)),
  )
    .configureHelp({
      examples: [
        ["knowctl mcp install cursor", "then restart Cursor"],
        ["knowctl mcp install claude --allow-tokens 20", "agents may ask twenty questions"],
      ],
    })
    .action(run(async () => (await import("./install.ts")).mcpInstall));
  mcp
    .command("uninstall")
    .description("Remove the server from the configuration of a client.")
    .argument("<client>", clientHelp, choice(...clientNames))
    .configureHelp({ examples: [["knowctl mcp uninstall cursor", "takes out only its own entry"]] })
    .action(run(async () => (await import("./install.ts")).mcpUninstall));
}

/** `skill`. `summaries` gives all commands with their descriptions. */
export function addSkill(
  program: Command,
  run: Run,
  summaries: () => readonly (readonly [name: string, summary: string])[],
): void {
  program
    .command("skill")
    .description(
      "Print a SKILL.md: how an agent with a shell uses this program.\n" +
        "It names the command for each wish, the machine formats, the exit codes, what costs tokens, and what " +
        "must not run without a person.",
    )
    .configureHelp({
      examples: [
        ["knowctl skill > .claude/skills/knowctl/SKILL.md", "for Claude Code, in this project"],
        ["knowctl skill > AGENTS-knowctl.md", "to name in the instructions of any agent"],
      ],
    })
    .action(
      run(async () => {
        const { printSkill } = await import("./skill.ts");
        return (context, _args, flags: GlobalFlags) => printSkill(context, flags, summaries());
      }),
    );
}
