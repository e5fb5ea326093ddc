import type { Command, Option } from "commander";
import { CliError, messageOf } from "../errors.ts";
import { allFormats } from "./formats.ts";
import { globalOptions, isRepeatable } from "./options.ts";
import { nearest } from "../nearest.ts";
import { namedVariables } from "./topics.ts";

/**
 * Flags of single commands that have a variable: defaults of a pipeline or a machine. A switch that
 * deletes, permits or spends never has one: a forgotten variable would answer for a person.
 */
const flagsWithVariable: readonly string[] = [
  "--cc-pair-id",
  "--connector",
  "--concurrency",
  "--rate",
  "--state",
  "--shared-state",
  "--state-project",
];

const withVariable: ReadonlySet<string> = new Set([
  ...globalOptions().flatMap(({ long }) => long ?? []),
  ...flagsWithVariable,
]);

const prefix = "KNOWCTL_";

/** Name of a flag as a variable: `KNOWCTL_BASE_URL` for `--base-url`. */
function variableName(long: string): string {
  return `${prefix}${long.slice(2).replaceAll("-", "_").toUpperCase()}`;
}

/** The flag that would have the variable: `--base-url` for `KNOWCTL_BASE_URL`. */
function flagName(variable: string): string {
  return `--${variable.slice(prefix.length).toLowerCase().replaceAll("_", "-")}`;
}

/** Environment variable of a flag: only of the global flags, and of the few named above. */
export function variableOf({ long }: Option): string | undefined {
  if (long === undefined) return undefined;
  return withVariable.has(long) ? variableName(long) : undefined;
}

const yes = new Set(["1", "true", "yes", "on"]);
const no = new Set(["0", "false", "no", "off"]);

function parseSwitch(variable: string, value: string): boolean {
  const word = value.toLowerCase();
  if (yes.has(word)) return true;
  if (no.has(word)) return false;
  throw new CliError("usage", `${variable}: expected true or false, found "${value}"`, {
    hints: ["correct the variable, or unset it"],
  });
}

function parseValue(option: Option, variable: string, value: string): unknown {
  if (option.isBoolean() || option.negate) {
    const on = parseSwitch(variable, value);
    return option.negate ? !on : on;
  }
  const parse = option.parseArg;
  if (!parse) return value;
  try {
    if (!isRepeatable(option)) return parse(value, undefined);
    // In a variable, commas separate the values of a repeatable flag.
    const values = value.split(",").filter((each) => each.trim() !== "");
    return values.reduce<unknown>((all, each) => parse(each.trim(), all), undefined);
  } catch (error) {
    throw new CliError("usage", `${variable}: '${value}' is invalid. ${messageOf(error)}`, {
      hints: ["correct the variable, or unset it"],
      cause: error,
    });
  }
}

/** The command and its parents, outermost first. */
function chainOf(command: Command): Command[] {
  return command.parent ? [...chainOf(command.parent), command] : [command];
}

/** The error for two values of a flag that accepts one. */
export function repeatedFlag(option: Option): CliError {
  const variable = variableOf(option);
  const instead = `for a default that a flag can override, set ${variable} instead`;
  return new CliError("usage", `${option.long ?? option.flags} is specified twice`, {
    hints: ["specify it once", ...(variable === undefined ? [] : [instead])],
  });
}

/** Adds the flags of one command of a chain to `options`, which holds the flags of its parents. */
function addFlags(command: Command, options: Record<string, unknown>): string[] {
  const present = command.options.filter(
    (option) => command.getOptionValueSource(option.attributeName()) === "cli",
  );
  return present.map((option) => {
    const name = option.attributeName();
    const value: unknown = command.getOptionValue(name);
    const inherited = options[name];
    if (isRepeatable(option) && Array.isArray(inherited) && Array.isArray(value)) {
      options[name] = [...(inherited as unknown[]), ...(value as unknown[])];
      return name;
    }
    // A switch may be repeated: `--json` before and after the subcommand means the same.
    if (option.required && inherited !== undefined) throw repeatedFlag(option);
    options[name] = value;
    return name;
  });
}

/** Whether a variable has a format of other commands only: `KNOWCTL_OUTPUT=csv` for `ingest`. */
function isOthersFormat(option: Option, value: string): boolean {
  const parse = option.parseArg as { choices?: readonly string[] } | undefined;
  if (option.long !== "--output" || !allFormats.includes(value)) return false;
  return parse?.choices?.includes(value) === false;
}

/** Source of an option's value. */
export type OptionSource = "flag" | "env";

/**
 * The options of a command line: flags at any position, then environment
 * variables for options without a flag; an empty variable counts as unset.
 * Throws CliError `usage` for a value that the flag would reject too.
 */
export function collectOptions(
  command: Command,
  env: Readonly<Record<string, string | undefined>>,
): { options: Record<string, unknown>; sources: Record<string, OptionSource> } {
  const options: Record<string, unknown> = {};
  const sources: Record<string, OptionSource> = {};
  const chain = chainOf(command);
  for (const each of chain) for (const name of addFlags(each, options)) sources[name] = "flag";
  for (const option of chain.flatMap((each) => each.options)) {
    const name = option.attributeName();
    const variable = variableOf(option);
    const value = variable === undefined ? undefined : env[variable];
    if (variable === undefined || !value?.trim() || sources[name] === "flag") continue;
    if (isOthersFormat(option, value)) {
      delete options[name];
      continue;
    }
    options[name] = parseValue(option, variable, value);
    sources[name] = "env";
  }
  return { options, sources };
}

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
  const flag = flagName(name);
  const advice = flags.includes(flag)
    ? `${flag} counts only as a flag`
    : near === undefined
      ? "see `knowctl help environment`"
      : `did you mean ${prefix}${near}?`;
  return `the variable ${name} has no effect: knowctl does not know it; ${advice}`;
}

const allVariables: ReadonlySet<string> = new Set([
  ...namedVariables,
  ...[...withVariable].map(variableName),
]);

/**
 * A warning for each variable that begins with `KNOWCTL_` and is none of any command, by its
 * name. Never quotes a value, which may be a key. `describe` makes the whole program: slow, so
 * only if the environment has such a variable.
 */
export function unknownVariables(
  env: Readonly<Record<string, string | undefined>>,
  describe: () => Command,
): Map<string, string> {
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith(prefix) && !allVariables.has(name) && env[name]?.trim(),
  );
  if (unknown.length === 0) return new Map();
  const program = describe();
  const known = [...new Set([...namedVariables, ...variablesOf(program)])];
  const flags = flagsOf(program);
  return new Map(unknown.toSorted().map((name) => [name, warningOf(name, known, flags)]));
}
