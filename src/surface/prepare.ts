import { Help, Option, type Command, type CommanderError } from "commander";
import { CliError } from "../errors.ts";
import { pathOf } from "./check-flags.ts";
import { commandFor } from "./other-words.ts";
import { listFormats } from "./formats.ts";
import { choice, collect, filled, decimal } from "./options.ts";
import { makeStrict } from "./strict.ts";

/** Width of every help text, on any terminal and in the documentation. */
const helpWidth = 100;

/** The global flags. Each call creates new ones, because an option belongs to one command. */
export function globalOptions(): Option[] {
  return [
    new Option("--profile <name>", "profile of the configuration to use"),
    new Option("--config <file>", "configuration file to use instead of searching for one"),
    new Option("--base-url <url>", "address of the service"),
    new Option("--dialect <name>", "standard or onyx").argParser(choice("standard", "onyx")),
    new Option("--timeout <seconds>", "how long to wait for an answer").argParser(
      decimal(0.001, 86_400),
    ),
    new Option("--ca-file <file>", "PEM file with additional certificate authorities"),
    new Option("--client-cert <file>", "PEM file with a client certificate to show"),
    new Option("--client-key <file>", "PEM file with its key (default: the certificate's file)"),
    new Option("--proxy <url>", "proxy (default: HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY)"),
    new Option("-o, --output <format>", `output format: ${listFormats.join(", ")}`),
    new Option("--json", "same as --output json"),
    new Option("--fields <list>", "columns or members to show, in order: a,b.c"),
    new Option(
      "--filter <expr>",
      "keep rows where key=value, key!=value, key~glob or key!~glob (repeatable)",
    ).argParser(collect),
    new Option("--jq <expr>", "print what this jq expression makes of the JSON"),
    new Option("-q, --quiet", "no progress and no notes"),
    new Option("-v, --verbose", "show each request with status and time"),
    new Option("--debug", "as --verbose, with redacted headers and stacks"),
    new Option("--root <dir>", "project root (default: found upward)").argParser(filled),
    new Option("--no-color", "no colour"),
    new Option("--no-input", "never ask; a missing answer is an error"),
  ];
}

const shownCodes = new Set(["commander.helpDisplayed", "commander.help", "commander.version"]);

// commander's messages repeat the typed value, which may be a secret: `--key=VALUE`, `-tVALUE`. A
// value may contain quotes and newlines, so a pattern matches from both ends of the message.
const echoedValues: readonly [pattern: RegExp, shown: string][] = [
  [/^(unknown option '(?:--[\w-]+|-\w)?)[^]*?('(?:\n\(Did you mean [^\n]*\))?)$/, "$1$2"],
  [/^(option '[^']*' argument) '[^]*' (is invalid\.[^]*?)$/, "$1 $2"],
  [/^(command-argument value) '[^]*' (is invalid for argument '[^']*'\.[^]*?)$/, "$1 $2"],
];

function withoutValue(message: string): string {
  return echoedValues.reduce(
    (text, [pattern, shown]) => text.replace(pattern, shown),
    message.replace(/^error: /, ""),
  );
}

function usageError(error: CommanderError, command: Command): CliError {
  const [message = "", ...rest] = withoutValue(error.message).split("\n");
  const suggestions = rest.map((line) => line.replace(/^\((.*)\)$/, "$1"));
  const meant = commandFor(/^unknown command '(.*)'$/.exec(message)?.[1] ?? "");
  // Of the root alone: `config list` is no other word.
  if (meant !== undefined && !command.parent) suggestions.splice(0, 1, `use \`knowctl ${meant}\``);
  const isMessage = command.name() === "chat" && error.code === "commander.unknownOption";
  if (isMessage) suggestions.push('put a message that starts with a dash after --: chat -- "…"');
  return new CliError("usage", message, {
    hints: [...suggestions, `see \`${`knowctl ${pathOf(command)}`.trim()} --help\``],
    cause: error,
  });
}

/** Whether the command only groups subcommands; without a subcommand it shows its help. */
export function isGroup(command: Command): boolean {
  return command.commands.length > 0 && command.registeredArguments.length === 0;
}

/** The first line of a description, for lists of commands. */
export function summaryOf(command: Command): string {
  return command.description().split("\n", 1)[0] ?? "";
}

const globalCopies = new WeakSet<Option>();

/** Help without the copies of the global options. */
function formatHelp(command: Command, helper: Help): string {
  const own = Object.assign(Object.create(helper) as Help, {
    visibleOptions: (each: Command) =>
      helper.visibleOptions(each).filter((option) => !globalCopies.has(option)),
    subcommandTerm: (each: Command) => helper.subcommandTerm(each).replace(" [options]", ""),
  });
  return Help.prototype.formatHelp.call(own, command, own);
}

/** What commander 14 does for `help WORD…` and for a word that is no command; not in its types. */
interface HelpDispatch {
  _dispatchHelpCommand(): void;
  unknownCommand(): void;
}

/** Makes `help WORD…` follow all its words; commander follows one, and ignores a word that is no command. */
function followHelp(command: Command): void {
  (command as unknown as HelpDispatch)._dispatchHelpCommand = () => {
    let found = command;
    for (const word of command.args.slice(1).filter((each) => !each.startsWith("-"))) {
      const next = found.commands.find((each) => each.name() === word);
      if (!next && word === "help" && isGroup(found)) break;
      if (!next) {
        found.args = [word];
        (found as unknown as HelpDispatch).unknownCommand();
        return;
      }
      found = next;
    }
    found.help();
  };
}

/**
 * Adds the global flags, the help format and the error type of this tool to a
 * command and its subcommands. commander copies settings only when a subcommand
 * is created, so this sets them on each one. Help texts go to `write`; `argv` is
 * the command line to parse.
 */
export function prepare(
  command: Command,
  write: (text: string) => void,
  argv: readonly string[],
): void {
  makeStrict(command, pathOf(command), argv);
  command
    .exitOverride((error) => {
      throw shownCodes.has(error.code) ? error : usageError(error, command);
    })
    .configureOutput({
      writeOut: write,
      writeErr: write,
      outputError: () => {},
      getOutHelpWidth: () => helpWidth,
      getErrHelpWidth: () => helpWidth,
    })
    .configureHelp({ helpWidth, formatHelp })
    .helpOption("-h, --help", "show help");
  // A group has a `help` subcommand; `ingest`, which also runs alone, has none.
  if (isGroup(command)) {
    command.helpCommand("help [command]", "show help for a command");
    followHelp(command);
  }
  for (const subcommand of command.commands) {
    subcommand.summary(summaryOf(subcommand));
    // Global flags may also follow the subcommand. Each command parses them itself: otherwise
    // the program would parse `-owner` in `--sort -owner` as its own `-o`.
    const own = new Set(subcommand.options.map((option) => option.attributeName()));
    for (const option of globalOptions()) {
      if (own.has(option.attributeName())) continue;
      globalCopies.add(option);
      subcommand.addOption(option);
    }
    subcommand.addHelpText(
      "after",
      "\nGlobal options such as --profile or --output: knowctl --help",
    );
    prepare(subcommand, write, argv);
  }
}
