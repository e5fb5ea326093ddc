import type { Command } from "commander";

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
