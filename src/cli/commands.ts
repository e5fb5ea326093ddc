import type { Command } from "commander";
import type { Context } from "../context.ts";

/** Path of a command without the program's name: `connectors list`. */
export function pathOf(command: Command): string {
  if (!command.parent) return "";
  return `${pathOf(command.parent)} ${command.name()}`.trim();
}

/** Whether the command only groups subcommands; without a subcommand it shows its help. */
export function isGroup(command: Command): boolean {
  return command.commands.length > 0 && command.registeredArguments.length === 0;
}

/** The first line of a description, for lists of commands. */
export function summaryOf(command: Command): string {
  return command.description().split("\n", 1)[0] ?? "";
}

/** A command. `args`: positional arguments as typed; `options`: flags and variables, merged. */
type CommandFunction<Options> = (
  context: Context,
  args: string[],
  options: Options,
) => Promise<void>;

/**
 * Turns a command function into a commander action. The command's module is loaded
 * when the command runs, so that help and version start fast.
 */
export type Run = <Options>(
  load: () => Promise<CommandFunction<Options>>,
) => (...commanderArguments: unknown[]) => Promise<void>;
