import type { Command } from "commander";
import { nearest } from "../nearest.ts";
import { variableName, variableOf } from "./environment.ts";
import { namedVariables } from "./help/topics.ts";

const prefix = "KNOWCTL_";

function variablesOf(command: Command): string[] {
  const own = command.options.flatMap((option) => variableOf(option) ?? []);
  return [...own, ...command.commands.flatMap(variablesOf)];
}

function flagsOf(command: Command): string[] {
  const own = command.options.flatMap(({ long }) => long ?? []);
  return [...own, ...command.commands.flatMap(flagsOf)];
}

function warningOf(name: string, known: readonly string[], flags: readonly string[]): string {
  // Without the prefix, which would make any two names similar.
  const words = known.map((each) => each.slice(prefix.length));
  const near = nearest(name.slice(prefix.length), words);
  const flag = flags.find((each) => variableName(each) === name);
  const advice =
    flag !== undefined
      ? `${flag} counts only as a flag`
      : near === undefined
        ? "see `knowctl help environment`"
        : `did you mean ${prefix}${near}?`;
  return `the variable ${name} has no effect: knowctl does not know it; ${advice}`;
}

/**
 * A warning for each variable that begins with `KNOWCTL_` and is none of any command, by its
 * name. Never quotes a value, which may be a key. `describe` makes the whole program: slow, so
 * only if the environment has a variable that `command` does not know.
 */
export function unknownVariables(
  env: Readonly<Record<string, string | undefined>>,
  command: Command,
  describe: () => Command,
): Map<string, string> {
  const cheap = new Set([...namedVariables, ...variablesOf(command)]);
  const names = Object.keys(env).filter(
    (name) => name.startsWith(prefix) && !cheap.has(name) && env[name]?.trim(),
  );
  if (names.length === 0) return new Map();
  const program = describe();
  const known = [...new Set([...namedVariables, ...variablesOf(program)])];
  const flags = flagsOf(program);
  const unknown = names.filter((name) => !known.includes(name)).toSorted();
  return new Map(unknown.map((name) => [name, warningOf(name, known, flags)]));
}
