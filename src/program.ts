import { Command, CommanderError } from "commander";
import type { Context } from "./context.ts";
import { CliError, exitCodes } from "./errors.ts";
import { addChat } from "./surface/chat.ts";
import { addConfig } from "./surface/config.ts";
import { addConnectors } from "./surface/connectors.ts";
import { applyEnvironment } from "./surface/environment.ts";
import { addIngest } from "./surface/ingest.ts";
import { choice, collect, decimal, examples } from "./surface/options.ts";
import type { Run } from "./surface/run.ts";
import { addSandbox } from "./surface/sandbox.ts";

/** Width of every help text: the same on each terminal and in the documentation. */
const helpWidth = 100;

function addGlobalOptions(program: Command): void {
  program
    .option("--profile <name>", "profile of the configuration to use")
    .option("--config <file>", "configuration file to use instead of searching for one")
    .option("--base-url <url>", "address of the service")
    .option("--dialect <name>", "standard or onyx", choice("standard", "onyx"))
    .option("--timeout <seconds>", "how long to wait for an answer", decimal(0.001, 86_400))
    .option("--ca-file <file>", "PEM file with additional certificate authorities")
    .option("--proxy <url>", "proxy (default: HTTPS_PROXY, HTTP_PROXY, NO_PROXY)")
    .option("-o, --output <format>", "output format: table, json, ndjson, yaml, csv, tsv")
    .option("--json", "same as --output json")
    .option("--fields <list>", "columns or members to show, in order: a,b.c")
    .option("--filter <expr>", "keep rows where key=value or key~glob (repeatable)", collect)
    .option("--jq <expr>", "print what this jq expression makes of the JSON")
    .option("-q, --quiet", "no progress and no notes")
    .option("-v, --verbose", "show each request with status and time")
    .option("--debug", "as --verbose, with redacted headers and stacks")
    .option("--root <dir>", "project root (default: found upward)")
    .option("--no-color", "no colour")
    .option("--no-input", "never ask; a missing answer is an error");
}

function exitCodeHelp(): string {
  const rows = Object.entries(exitCodes).map(
    ([name, { code, when }]) => `  ${String(code).padEnd(4)} ${name.padEnd(15)} ${when}`,
  );
  return `\nExit codes:\n${rows.join("\n")}`;
}

function createRun(context: Context): Run {
  return (load) =>
    async (...all) => {
      const command = all.at(-1) as Command;
      applyEnvironment(command, context.env);
      const options = command.optsWithGlobals();
      const flagSources = Object.fromEntries(
        Object.keys(options).flatMap((name) => {
          const source = command.getOptionValueSourceWithGlobals(name);
          return source === "cli" ? [[name, "flag"]] : source === "env" ? [[name, "env"]] : [];
        }),
      );
      const execute = await load();
      await execute(context, command.args, { ...options, flagSources } as never);
    };
}

// Settings of commander are inherited by subcommands only at their creation, so all get them here.
function prepare(command: Command, write: (text: string) => void): void {
  command
    .exitOverride()
    .configureOutput({ writeOut: write, writeErr: () => {}, getOutHelpWidth: () => helpWidth })
    .configureHelp({ helpWidth, showGlobalOptions: false })
    .helpOption("-h, --help", "show help");
  for (const subcommand of command.commands) prepare(subcommand, write);
}

/** The whole surface: every command with its flags and help. Help texts go to `write`. */
export function createProgram(run: Run, write: (text: string) => void): Command {
  const program = new Command("knowctl")
    .description(
      "Look up connectors, upload documents and chat with a knowledge-assistant service.",
    )
    .usage("<command> [options]");
  addGlobalOptions(program);
  addConnectors(program, run);
  addIngest(program, run);
  addChat(program, run);
  addSandbox(program, run);
  addConfig(program, run);
  program.helpCommand("help [command]", "show help for a command");
  program.option("-V, --version", "show the version");
  program.addHelpText(
    "after",
    examples([
      ["knowctl sandbox", "try everything without an account: a local service"],
      ["knowctl config init", "connect to a service"],
      ["knowctl connectors list", "see the connectors and their cc_pair_id"],
      ["knowctl ingest docs --cc-pair-id 2", "upload a folder of Markdown"],
      ['knowctl chat "How do I request leave?"', "ask a question"],
    ]) + `\n${exitCodeHelp()}`,
  );
  prepare(program, write);
  return program;
}

// commander repeats what was typed; a value after `=` may be a secret.
function withoutValue(message: string): string {
  return message.replace(/^error: /, "").replace(/'(--?[\w-]+)=[^']*'/g, "'$1'");
}

function usageError(error: CommanderError): CliError {
  const [message = "", ...rest] = withoutValue(error.message).split("\n");
  return new CliError("usage", message, {
    hints: [...rest.map((line) => line.replace(/^\((.*)\)$/, "$1")), "see `knowctl --help`"],
    cause: error,
  });
}

/**
 * Parses `argv` (without node and script) and runs the command. Returns the
 * help text when that was asked for. Throws CliError `usage` for a command line
 * that cannot be understood, and whatever the command throws.
 */
export async function runProgram(argv: readonly string[], context: Context): Promise<string> {
  let help = "";
  const program = createProgram(createRun(context), (text) => {
    help += text;
  });
  try {
    await program.parseAsync(argv, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === "commander.help" && help === "") return program.helpInformation();
    const shown = ["commander.helpDisplayed", "commander.help", "commander.version"];
    if (!shown.includes(error.code)) throw usageError(error);
  }
  return help;
}

/** Help text of every command by its path (`""`, `connectors`, `connectors list`, …). */
export function helpTexts(): Record<string, string> {
  let text = "";
  const run: Run = () => () => Promise.resolve();
  const program = createProgram(run, (part) => {
    text += part;
  });
  const texts: Record<string, string> = {};
  const visit = (command: Command, path: string): void => {
    text = "";
    command.outputHelp();
    texts[path] = text;
    for (const each of command.commands) visit(each, path === "" ? each.name() : `${path} ${each.name()}`);
  };
  visit(program, "");
  return texts;
}

/** Every command that does something, with its one-line description, for the README. */
export function commandSummaries(): [name: string, summary: string][] {
  const program = createProgram(() => () => Promise.resolve(), () => {});
  const visit = (command: Command, path: string): [string, string][] =>
    command.commands.flatMap((each) => {
      const name = `${path}${each.name()}`;
      const own: [string, string][] = isGroup(each) ? [] : [[name, each.description()]];
      return [...own, ...visit(each, `${name} `)];
    });
  return visit(program, "");
}

// A command that only holds others shows its help when it is called alone.
function isGroup(command: Command): boolean {
  return command.commands.length > 0 && command.registeredArguments.length === 0;
}

/** Rows of the exit-code table, for the README. */
export function exitCodeRows(): [code: string, name: string, when: string][] {
  return Object.entries(exitCodes).map(([name, { code, when }]) => [String(code), name, when]);
}
