import { Command, CommanderError } from "commander";
import type { Context } from "./context.ts";
import { exitCodes } from "./errors.ts";
import { addAgents } from "./commands/agents/flags.ts";
import { addApi } from "./commands/api/flags.ts";
import { addChat } from "./commands/chat/flags.ts";
import { addCompletion } from "./commands/completion/flags.ts";
import { completionTable } from "./surface/completion-table.ts";
import { checkExpression, checkFlags } from "./surface/check-flags.ts";
import { addConfig } from "./commands/config/flags.ts";
import { addConnectors } from "./commands/connectors/flags.ts";
import { collectOptions } from "./surface/environment.ts";
import { addDoctor } from "./commands/doctor/flags.ts";
import { addFiles } from "./commands/files/flags.ts";
import { addIngest } from "./commands/ingest/flags.ts";
import { examples } from "./surface/options.ts";
import { globalOptions, isGroup, prepare, summaryOf } from "./surface/prepare.ts";
import { addReport } from "./commands/report/flags.ts";
import type { Run } from "./surface/run.ts";
import { addSandbox } from "./commands/sandbox/flags.ts";
import { addSessions } from "./commands/sessions/flags.ts";
import { addState } from "./commands/state/flags.ts";
import { addTry, offerTrial } from "./commands/try/flags.ts";
import { addTools } from "./commands/tools/flags.ts";

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
      const { options, sources } = collectOptions(command, context.env);
      checkFlags({ command, options, sources });
      await checkExpression(options["jq"], context.signal);
      const execute = await load();
      await execute(context, command.args, { ...options, flagSources: sources } as never);
    };
}

/** First word of the command line → function that defines its commands; in the order of the help. */
const surfaces: Readonly<Record<string, (program: Command, run: Run) => void>> = {
  try: (program, run) => addTry(program, run, runProgram),
  connectors: addConnectors,
  ingest: addIngest,
  report: addReport,
  state: addState,
  chat: addChat,
  sessions: addSessions,
  files: addFiles,
  tools: addTools,
  agents: addAgents,
  doctor: addDoctor,
  api: addApi,
  sandbox: addSandbox,
  config: addConfig,
  login: addConfig,
  logout: addConfig,
  completion: addCompletion,
};

/**
 * Every command with its flags and help. If the first word of `argv` names a
 * command, only that command: defining the others costs time at each start.
 * Help texts go to `write`.
 */
export function createProgram(
  run: Run,
  write: (text: string) => void,
  argv?: readonly string[],
): Command {
  const firstWord = argv?.[0];
  const program = new Command("knowctl")
    .description(
      "Look up connectors, upload documents and chat with a knowledge-assistant service.",
    )
    .usage("<command> [options]");
  program.enablePositionalOptions();
  for (const option of globalOptions()) program.addOption(option);
  const only = firstWord !== undefined && Object.hasOwn(surfaces, firstWord);
  const selected = only ? [surfaces[firstWord]] : Object.values(surfaces);
  for (const add of new Set(selected)) add?.(program, run);
  program.option("-V, --version", "show the version");
  // A function, so that the text is built only when it is shown.
  program.addHelpText(
    "after",
    () =>
      examples([
        ["knowctl try docs", "ask about a folder of yours, without an account"],
        ["knowctl config init", "connect to a service"],
        ["knowctl connectors list", "see the connectors and their cc_pair_id"],
        ["knowctl ingest docs --cc-pair-id 2", "upload a folder of documents"],
        ['knowctl chat "How do I request leave?"', "ask a question"],
      ]) + `\n${exitCodeHelp()}`,
  );
  prepare(program, write, argv ?? []);
  return program;
}

/**
 * Parses `argv` (without node and script) and runs the command. Returns the
 * help text if `argv` asks for it, else "". Throws CliError `usage` for an
 * invalid command line, and any error of the command.
 */
export async function runProgram(argv: readonly string[], context: Context): Promise<string> {
  let help = "";
  const collect = (text: string): void => {
    help += text;
  };
  const program = createProgram(createRun(context), collect, argv);
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
    for (const each of command.commands)
      visit(each, path === "" ? each.name() : `${path} ${each.name()}`);
  };
  visit(program, "");
  return texts;
}

/** Table of commands and flags for shell completion; `keys` are the configuration keys. */
export function surfaceTable(keys: string[]): ReturnType<typeof completionTable> {
  const program = createProgram(
    () => () => Promise.resolve(),
    () => {},
  );
  return completionTable(program, keys);
}

/** Every command except groups, with its one-line description, for the README. */
export function commandSummaries(): [name: string, summary: string][] {
  const program = createProgram(
    () => () => Promise.resolve(),
    () => {},
  );
  const visit = (command: Command, path: string): [string, string][] =>
    command.commands.flatMap((each) => {
      const name = `${path}${each.name()}`;
      const own: [string, string][] = isGroup(each) ? [] : [[name, summaryOf(each)]];
      return [...own, ...visit(each, `${name} `)];
    });
  return visit(program, "");
}

/** Rows of the exit-code table, for the README. */
export function exitCodeRows(): [code: string, name: string, when: string][] {
  return Object.entries(exitCodes).map(([name, { code, when }]) => [String(code), name, when]);
}
