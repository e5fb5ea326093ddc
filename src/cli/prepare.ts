import type { Command, CommanderError, Help, Option } from "commander";
import { nearest } from "../nearest.ts";
import { CliError } from "../errors.ts";
import { isGroup, pathOf, summaryOf } from "./commands.ts";
import { globalOptions, choice, filled, isRepeatable } from "./options.ts";
import { formatHelp, type HelpKind } from "./help.ts";
import { topicNames, topicText } from "./topics.ts";
import { commandFor, insteadOfFlag, otherWords } from "./other-words.ts";
import type { EventEmitter } from "node:events";
import { repeatedFlag } from "./environment.ts";
import { allFormats, formatsOf } from "./formats.ts";

/** Flags that accept an empty value, which overrides the configured one. */
const mayBeEmpty = new Set(["--id-prefix"]);

// `--state --dry-run` is a forgotten folder name, not a folder named `--dry-run`.
function missingValue(option: Option, value: string): CliError {
  const name = option.long ?? option.flags;
  const isText = !option.parseArg || option.parseArg === filled;
  const [, word = "<value>"] = option.flags.split(/ (?=<)/);
  return new CliError("usage", `option '${option.flags}' argument missing`, {
    hints: [
      isText
        ? `${value} is a flag; to use it as the value, write ${name}=${value}`
        : `${value} is a flag; write the value before it: ${name} ${word} ${value}`,
    ],
  });
}

/** Throws for `--base-url connectors list`: the flag took the command, and no other one follows. */
function refuseCommand(option: Option, root: Command, argv: readonly string[]): void {
  const isCommand = (word: string): boolean => root.commands.some((each) => each.name() === word);
  const at = argv.findIndex((word) => word === option.long || word === option.short);
  const [word = "", ...rest] = argv.slice(at + 1);
  if (at < 0 || !isCommand(word) || rest.some(isCommand)) return;
  const name = option.long ?? option.flags;
  const [, value = "<value>"] = option.flags.split(/ (?=<)/);
  throw new CliError("usage", `option '${option.flags}' argument missing`, {
    hints: [`${word} is a command; write the value before it: ${name} ${value} ${word}`],
  });
}

function addParser(option: Option, command: Command, path: string): void {
  if (option.long === "--output") {
    // Before a subcommand, the value may be a format of that subcommand. A command without formats
    // rejects every format with a reason (check-flags.ts).
    const own = command.commands.length > 0 ? [] : formatsOf(path);
    option.argParser(choice(...(own.length > 0 ? own : allFormats)));
  } else if (!option.parseArg && !mayBeEmpty.has(option.long ?? "")) option.argParser(filled);
}

/** Rejects two flags of one option: of `--state DIR` and `--no-state`, commander keeps the last. */
function rejectOpposites(option: Option, command: Command, present: Map<string, Option>): void {
  const name = option.attributeName();
  (command as unknown as EventEmitter).prependListener(`option:${option.name()}`, () => {
    const other = present.get(name);
    present.set(name, option);
    if (other === undefined || other === option) return;
    throw new CliError("usage", `${other.long} and ${option.long} exclude each other`, {
      hints: ["use only one of them"],
    });
  });
}

/**
 * Makes the flags of a command reject what commander silently accepts: an empty
 * value, a flag in place of a value, a second value for a flag that keeps one, a
 * format that the command does not support. `argv` is the command line.
 */
function makeStrict(command: Command, path: string, argv: readonly string[]): void {
  const flags = new Set(command.options.flatMap(({ short, long }) => [short, long]));
  const present = new Map<string, Option>();
  for (const option of command.options) {
    if (!option.required) continue;
    addParser(option, command, path);
    const name = option.attributeName();
    // Before commander's listener, which overwrites an earlier value.
    (command as unknown as EventEmitter).prependListener(
      `option:${option.name()}`,
      (value: string) => {
        if (flags.has(value) && !argv.includes(`${option.long}=${value}`))
          throw missingValue(option, value);
        if (!command.parent) refuseCommand(option, command, argv);
        if (isRepeatable(option) || command.getOptionValueSource(name) !== "cli") return;
        throw repeatedFlag(option);
      },
    );
  }
  const negated = new Set(command.options.flatMap(({ negate, long }) => (negate ? [long] : [])));
  // Last, because the listener that is prepended last runs first.
  for (const option of command.options) {
    const hasOpposite = option.negate || negated.has(option.long?.replace("--", "--no-"));
    if (hasOpposite) rejectOpposites(option, command, present);
  }
}

const shownCodes = new Set(["commander.helpDisplayed", "commander.help", "commander.version"]);

// commander's messages repeat the typed value, which may be a secret: `--key=VALUE`, `-tVALUE`. A
// value may contain quotes and newlines, so a pattern matches from both ends of the message.
const echoedValues: readonly [pattern: RegExp, shown: string][] = [
  [/^(unknown option '(?:--[\w-]+|-\w)?)[^]*?('(?:\n\(Did you mean [^\n]*\))?)$/, "$1$2"],
  [/^(option '[^']*' argument) '[^]*' (is invalid\.[^]*?)$/, "$1 $2"],
  [/^command-argument value '[^]*' is invalid for (argument '[^']*')(\.[^]*?)$/, "$1 is invalid$2"],
];

function withoutValue(message: string): string {
  return echoedValues.reduce(
    (text, [pattern, shown]) => text.replace(pattern, shown),
    message.replace(/^error: /, ""),
  );
}

/** Commands whose `help WORD` names neither a command nor a topic. */
const helpWords = new WeakSet<Command>();

/** The subcommands of all groups that are called `word`, such as `config validate`. */
function subcommandsOf(program: Command, word: string): string[] {
  const all = program.commands.flatMap((group) => group.commands);
  return all.filter((each) => each.name() === word).map(pathOf);
}

/** The commands that an unknown word may stand for, also with a typing error if nothing else is near. */
function commandsFor(program: Command, word: string, hasSuggestion: boolean): string[] {
  const other = commandFor(word);
  if (other !== undefined) return [other];
  const subcommands = subcommandsOf(program, word);
  if (subcommands.length > 0 || hasSuggestion) return subcommands;
  // One letter of a shorter word is chance.
  const long = Object.keys(otherWords).filter((each) => each.length > 3);
  const spelled = commandFor(nearest(word, long) ?? "");
  return spelled === undefined ? [] : [spelled];
}

const pairPage = /^(?:--cc-pair-id=)?https?:\/\/[^\s?#]*\/(\d{1,10})\/?(?:[?#]\S*)?$/;

/** What a person meant who typed words in the wrong order, one dash too few, or a name as an id. */
function slipOf(message: string, command: Command): string | undefined {
  const isName = (word: string): boolean => command.commands.some((each) => each.name() === word);
  const later = command.parent ? undefined : command.args.slice(1).find(isName);
  if (later !== undefined && message.startsWith("unknown command")) {
    return `the command comes first: knowctl ${later} …`;
  }
  if (/^unknown command 'https?:\/\//.test(message))
    return "the address of a service goes after a command: --base-url ADDRESS";
  const isAddress = command.args.some((word) => /^https?:\/\//.test(word));
  if (isAddress && message.startsWith("too many arguments"))
    return "the address of a service goes with a flag: --base-url ADDRESS";
  const [, path] = /^unknown command '(\.{0,2}[/\\].*|~.*)'$/.exec(message) ?? [];
  if (path !== undefined) return `a path goes after a command: knowctl ingest ${path}`;
  const [, line, first = ""] = /^unknown command '((\S+) .*)'$/.exec(message) ?? [];
  if (isName(first)) return `without these quotes: knowctl ${line}`;
  const has = (flag: string): boolean => command.options.some(({ long }) => long === flag);
  let root: Command & { rawArgs?: readonly string[] } = command;
  while (root.parent) root = root.parent;
  if (message.startsWith("option '--cc-pair-id ") && has("--connector")) {
    // The page of a connector has its id at the end of its address.
    const page = root.rawArgs?.find((word) => pairPage.test(word));
    const id = page && pairPage.exec(page)?.[1];
    return id ? `of an address, its number: --cc-pair-id ${id}` : "a name goes with --connector";
  }
  if (command.name() === "login" && message.startsWith("too many arguments")) {
    return "a key is not an argument, and your shell keeps this one in its history: type it when asked, or pipe it to --with-token";
  }
  const suite =
    command.name() === "eval" && /^unknown command '(.*\.(?:ya?ml|json))'$/.exec(message)?.[1];
  if (suite)
    return `name what to test: knowctl eval retrieval ${suite}, or knowctl eval answers ${suite}`;
  if (message.startsWith("option '--agent ")) return "ids of agents: knowctl agents list";
  // A shell divides words in the quotes of a text program.
  const isQuoted =
    root.rawArgs?.some((word) => /^[\u201c-\u201f\u2018-\u201b]/.test(word)) === true;
  if (isQuoted && message.startsWith("too many arguments")) {
    return `a typographic quote is no quote for a shell: type "…"`;
  }
  const short = root.rawArgs?.find((word) => /^-[a-z]/.test(word) && has(`-${word}`));
  return short !== undefined && message.startsWith("unknown option")
    ? `use -${short}, with two dashes`
    : undefined;
}

function usageError(error: CommanderError, command: Command): CliError {
  const [message = "", ...rest] = withoutValue(error.message).split("\n");
  const suggestions = rest.map((line) => line.replace(/^\((.*)\)$/, "$1"));
  const word = /^unknown command '(.*)'$/.exec(message)?.[1] ?? "";
  // Of the root alone: `config list` is no other word.
  const meant = command.parent ? [] : commandsFor(command, word, suggestions.length > 0);
  if (meant.length > 0) {
    suggestions.splice(0, 1, `use ${meant.map((path) => `\`knowctl ${path}\``).join(" or ")}`);
  }
  const flag = /^unknown option '(.*)'$/.exec(message)?.[1] ?? "";
  const known = command.options.map(({ long }) => long);
  const instead = insteadOfFlag(pathOf(command), flag, known);
  if (instead !== undefined) suggestions.splice(0, 1, instead);
  const slip = slipOf(message, command);
  if (slip !== undefined) suggestions.splice(0, 1, slip);
  if (error.code === "commander.missingArgument") {
    const words = command.registeredArguments.map((each) => `<${each.name()}>`);
    suggestions.push(`write: knowctl ${[pathOf(command), ...words].join(" ")}`);
  }
  const isMessage = command.name() === "chat" && error.code === "commander.unknownOption";
  if (isMessage) suggestions.push('put a message that starts with a dash after --: chat -- "…"');
  if (helpWords.has(command) && suggestions.length === 0) {
    suggestions.push(`name a command or a topic: ${topicNames.join(", ")}`);
  }
  return new CliError("usage", message, {
    hints: [...suggestions, `see \`${`knowctl ${pathOf(command)}`.trim()} --help\``],
    cause: error,
  });
}

const globalCopies = new WeakSet<Option>();

/** What commander 14 does for help and for a word that is no command; not in its types. */
interface HelpDispatch {
  _dispatchHelpCommand(): void;
  _outputHelpIfRequested(args: string[]): void;
  unknownCommand(): void;
  unknownOption(flag: string): void;
}

/** How help is shown. */
export interface HelpOutput {
  write(text: string): void;
  /** Columns of a line. */
  width: number;
  /** Becomes `full` when `help WORD…` is parsed. */
  kind: HelpKind;
}

function refuseWord(command: Command, word: string): void {
  if (!command.parent) helpWords.add(command);
  command.args = [word];
  (command as unknown as HelpDispatch).unknownCommand();
}

/**
 * Makes `help WORD…` follow all its words, and know the topics; commander follows one word, and
 * ignores a word that is no command, and any flag.
 */
function followHelp(command: Command, output: HelpOutput): void {
  const dispatch = command as unknown as HelpDispatch;
  dispatch._dispatchHelpCommand = () => {
    const [, ...all] = command.args;
    const flags = all.filter((each) => each.startsWith("-"));
    const known = [...globalOptions(), ...command.options];
    const isKnown = (flag: string): boolean =>
      ["-h", "--help"].includes(flag) ||
      known.some(({ long, short }) => flag === long || flag === short);
    for (const flag of flags) if (!isKnown(flag.replace(/=.*$/s, ""))) dispatch.unknownOption(flag);
    let found = command;
    const words = all.filter((each) => !each.startsWith("-"));
    for (const [index, word] of words.entries()) {
      const next = found.commands.find((each) => each.name() === word);
      if (!next && word === "help" && isGroup(found)) break;
      if (!next) {
        const topic = found.parent ? undefined : topicText(word, output.width);
        if (topic === undefined) return refuseWord(found, word);
        const more = words[index + 1];
        return more === undefined ? output.write(topic) : refuseWord(found, more);
      }
      found = next;
    }
    output.kind = "full";
    found.help();
  };
}

/** Refuses `WORD -h` where WORD is no command; commander shows the help of the group. */
function refuseHelpOfNothing(command: Command): void {
  const dispatch = command as unknown as HelpDispatch;
  const show = dispatch._outputHelpIfRequested.bind(command);
  dispatch._outputHelpIfRequested = (args) => {
    const asksHelp = args.includes("-h") || args.includes("--help");
    const [word] = command.args;
    if (asksHelp && word !== undefined && !word.startsWith("-")) dispatch.unknownCommand();
    show(args);
  };
}

/**
 * Adds the global flags, the help format and the error type of this tool to a
 * command and its subcommands. commander copies settings only when a subcommand
 * is created, so this sets them on each one. `argv` is the command line to parse. A subcommand that
 * its word at `depth` names is prepared alone: to prepare its siblings costs time at each start.
 */
export function prepare(
  command: Command,
  output: HelpOutput,
  argv: readonly string[],
  depth = 0,
): void {
  makeStrict(command, pathOf(command), argv);
  const { write, width } = output;
  command
    .exitOverride((error) => {
      throw shownCodes.has(error.code) ? error : usageError(error, command);
    })
    .configureOutput({ writeOut: write, writeErr: write, outputError: () => {} })
    .configureHelp({
      ...command.configureHelp(),
      formatHelp(_command: Command, helper: Help): string {
        const options = helper.visibleOptions(command).filter((each) => !globalCopies.has(each));
        const own = options.filter(({ long }) => long !== "--help");
        return formatHelp(output.kind, { command, helper, options: own, width });
      },
    })
    .helpOption("-h, --help", "show help");
  // Other commands have no `help` subcommand: its name may be a path.
  if (isGroup(command)) {
    command.helpCommand("help [command]", "Show help for a command.");
    followHelp(command, output);
    refuseHelpOfNothing(command);
  }
  const named = command.commands.filter((each) => each.name() === argv[depth]);
  const nextDepth = named.length > 0 ? depth + 1 : Infinity;
  for (const subcommand of named.length > 0 ? named : command.commands) {
    subcommand.summary(summaryOf(subcommand));
    // Global flags may also follow the subcommand. Each command parses them itself: otherwise
    // the program would parse `-owner` in `--sort -owner` as its own `-o`.
    for (const option of globalOptions()) {
      globalCopies.add(option);
      subcommand.addOption(option);
    }
    prepare(subcommand, output, argv, nextDepth);
  }
}
