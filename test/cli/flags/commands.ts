import type { Command } from "commander";
import { describeProgram } from "../../../src/cli/program.ts";

const program = describeProgram();

const longOf = (command: Command): string[] =>
  command.options.map(({ long, flags }) => long ?? flags);

/** The flags that every command takes. */
export const globalFlags: readonly string[] = longOf(program);

function below(command: Command, path: string): [string, string[]][] {
  const isGlobal = new Set(globalFlags);
  const flags = longOf(command).filter((flag) => command === program || !isGlobal.has(flag));
  return [
    [path, flags],
    ...command.commands.flatMap((each) => below(each, `${path} ${each.name()}`.trim())),
  ];
}

function ends(command: Command, path: string): string[] {
  const own = command.registeredArguments.length > 0 || command.commands.length === 0;
  const paths = command.commands.flatMap((each) => ends(each, `${path} ${each.name()}`.trim()));
  return own ? [path, ...paths] : paths;
}

/** Every command that does something. */
export function leaves(): string[] {
  return ends(program, "");
}

/** Every command with its own flags; the program itself, "", with the global ones. */
export function commandsOf(): [path: string, flags: string[]][] {
  return below(program, "").filter(([, flags]) => flags.length > 0);
}
