import { Command, CommanderError } from "commander";
import type { Context } from "../context.ts";
import { addAgents } from "../commands/agents/flags.ts";
import { addApi } from "../commands/api/flags.ts";
import { addChat } from "../commands/chat/flags.ts";
import { addCompletion } from "../commands/completion/flags.ts";
import { completionTable } from "./completion-table.ts";
import { checkExpression, checkFlags } from "./check-flags.ts";
import { addConvert, addExplain } from "../commands/convert/flags.ts";
import { addConfig } from "../commands/config/flags.ts";
import { addConnectors } from "../commands/connectors/flags.ts";
import { collectOptions, unknownVariables } from "./environment.ts";
import { addDoctor } from "../commands/doctor/flags.ts";
import { addEval } from "../commands/eval/flags.ts";

import { addFiles } from "../commands/files/flags.ts";
import { addIngest } from "../commands/ingest/flags.ts";
import { isGroup, pathOf, summaryOf, type Run } from "./commands.ts";
import { globalOptions } from "./options.ts";
import type { HelpKind } from "./help.ts";
import { helpWidth } from "./layout.ts";
import { topicNames, topicText } from "./topics.ts";
import { prepare, type HelpOutput } from "./prepare.ts";
import { addMcp, addSkill } from "../commands/mcp/flags.ts";
import { addLint } from "../commands/lint/flags.ts";
import { addPrune } from "../commands/prune/flags.ts";
import { addReport } from "../commands/report/flags.ts";
import { addRetry } from "../commands/retry/flags.ts";
import { addSandbox } from "../commands/sandbox/flags.ts";
import { addSearch } from "../commands/search/flags.ts";
import { addSessions } from "../commands/sessions/flags.ts";
import { addState } from "../commands/state/flags.ts";
import { addStatus } from "../commands/status/flags.ts";
import { addTry, offerTrial } from "../commands/try/flags.ts";
import { addTools } from "../commands/tools/flags.ts";
import { addVerify } from "../commands/verify/flags.ts";

function createRun(context: Context): Run {
  return (load) =>
    async (...all) => {
      const command = all.at(-1) as Command;
      const { options, sources } = collectOptions(command, context.env);
      checkFlags({ command, options, sources });
      await checkExpression(options["jq"], context.signal);
      const flags = {
        ...options,
        flagSources: sources,
        unknownVariables: unknownVariables(context.env, describeOnce),
      };
      const execute = await load();
      await execute(context, command.args, flags as never);
    };
}

let described: Command | undefined;

/** The whole program, for questions that change nothing of it. */
function describeOnce(): Command {
  described ??= describeProgram();
  return described;
}

type AddCommand = (program: Command, run: Run) => void;

/** One function for its three first words: it defines all of them. */
const addConfiguration: AddCommand = (program, run) => addConfig(program, run, runProgram);

/** Groups of the help, in its order: first word of the command line → function that defines its commands. */
const surfaces: Readonly<Record<string, Readonly<Record<string, AddCommand>>>> = {
  "Start:": {
    try: (program, run) => addTry(program, run, runProgram),
    sandbox: addSandbox,
  },
  "Upload:": {
    connectors: addConnectors,
    ingest: addIngest,
    status: addStatus,
    retry: addRetry,
    prune: addPrune,
    explain: addExplain,
    convert: addConvert,
    state: addState,
    report: addReport,
  },
  "Ask:": {
    chat: addChat,
    search: addSearch,
    sessions: addSessions,
    files: addFiles,
    agents: addAgents,
    tools: addTools,
  },
  "Check:": { lint: addLint, verify: addVerify, eval: addEval, doctor: addDoctor },
  "Administer:": { api: addApi },
  "For agents:": {
    mcp: (program, run) => addMcp(program, run, runProgram),
    skill: (program, run) => addSkill(program, run, commandSummaries),
  },
  "Set up:": {
    config: addConfiguration,
    login: addConfiguration,
    logout: addConfiguration,
    completion: addCompletion,
  },
};

/** Adds the commands that begin with `firstWord`; all where no command does. */
function addCommands(program: Command, run: Run, firstWord: string | undefined): void {
  const only = Object.values(surfaces).some((group) => Object.hasOwn(group, firstWord ?? ""));
  for (const [heading, group] of Object.entries(surfaces)) {
    program.commandsGroup(heading);
    const selected = only ? [group[firstWord ?? ""]] : Object.values(group);
    for (const add of new Set(selected)) add?.(program, run);
  }
}

/**
 * Every command with its flags and help. If the first word of `argv` names a
 * command, only that command: defining the others costs time at each start.
 */
export function createProgram(run: Run, output: HelpOutput, argv: readonly string[] = []): Command {
  const program = new Command("knowctl")
    .description("Upload documents to a knowledge assistant, and ask questions about them.")
    .usage("COMMAND [options]");
  program.enablePositionalOptions();
  for (const option of globalOptions()) program.addOption(option);
  addCommands(program, run, argv[0]);
  program
    .optionsGroup("Behaviour:")
    .option("-V, --version", "show the version")
    .configureHelp({
      examples: [
        ["knowctl try docs", "ask about a folder of yours, without an account"],
        ["knowctl config init", "connect to a service"],
        ["knowctl connectors list", "see the connectors and their cc_pair_id"],
        ["knowctl ingest docs --cc-pair-id 2", "upload a folder of documents"],
        ['knowctl chat "How do I request leave?"', "ask a question"],
      ],
      essentials: ["try", "connectors", "ingest", "chat", "lint", "verify", "doctor"],
    });
  prepare(program, output, argv);
  return program;
}

/** The program without effects, for its texts and its flags. */
export function describeProgram(output: Partial<HelpOutput> = {}): Command {
  const silent: HelpOutput = { write: () => {}, width: helpWidth, kind: "full" };
  return createProgram(() => () => Promise.resolve(), { ...silent, ...output });
}

/**
 * Parses `argv` (without node and script) and runs the command. Returns the
 * help text if `argv` asks for it, else "". Throws CliError `usage` for an
 * invalid command line, and any error of the command.
 */
export async function runProgram(argv: readonly string[], context: Context): Promise<string> {
  let help = "";
  const output: HelpOutput = {
    write: (text) => {
      help += text;
    },
    width: Math.min(helpWidth, context.stdout.columns()),
    kind: argv.includes("--help") ? "full" : "short",
  };
  const program = createProgram(createRun(context), output, argv);
  try {
    await program.parseAsync(argv, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
  }
  if (argv.length > 0) return help;
  await context.stdout.write(help);
  await offerTrial(context, runProgram);
  return "";
}

/** The subcommands of a command, with theirs, by path (`connectors`, `connectors list`, …). */
function descendants(command: Command): [path: string, command: Command][] {
  return command.commands.flatMap((each) => [[pathOf(each), each], ...descendants(each)]);
}

/** Help text of every command by its path (`""`, `connectors`, `connectors list`, …). */
export function helpTexts(kind: HelpKind = "full", width = helpWidth): Record<string, string> {
  let text = "";
  const write = (part: string): void => {
    text += part;
  };
  const program = describeProgram({ kind, width, write });
  const all: [string, Command][] = [["", program], ...descendants(program)];
  return Object.fromEntries(
    all.map(([path, command]) => {
      text = "";
      command.outputHelp();
      return [path, text];
    }),
  );
}

/** Texts of `knowctl help TOPIC` by topic. */
export function topicTexts(width = helpWidth): Record<string, string> {
  return Object.fromEntries(topicNames.map((name) => [name, topicText(name, width) ?? ""]));
}

/** Table of commands and flags for shell completion, with words that other folders know. */
export function surfaceTable(
  words: Parameters<typeof completionTable>[1],
): ReturnType<typeof completionTable> {
  return completionTable(describeProgram(), words);
}

/** Every command that does something itself, with its one-line description, for docs/commands.md. */
export function commandSummaries(): [name: string, summary: string][] {
  const own = descendants(describeProgram()).filter(
    // `mcp` has subcommands, and flags of its own.
    ([, each]) => !isGroup(each) || each.options.length > 0,
  );
  return own.map(([path, each]) => [path, summaryOf(each)]);
}
