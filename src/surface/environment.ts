import type { Command, Option } from "commander";
import { CliError, messageOf } from "../errors.ts";
import { allFormats } from "./formats.ts";
import { isRepeatable } from "./options.ts";

const flagsOnly = new WeakSet<Option>();

/** Marks a flag that says what one request does: a forgotten variable must not change it. */
export function flagOnly(option: Option): Option {
  flagsOnly.add(option);
  return option;
}

/** `--base-url` is `KNOWCTL_BASE_URL`. */
export function variableOf(option: Option): string | undefined {
  if (flagsOnly.has(option)) return undefined;
  if (!option.long || option.long === "--help" || option.long === "--version") return undefined;
  return `KNOWCTL_${option.long.slice(2).replaceAll("-", "_").toUpperCase()}`;
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
    // A repeatable flag takes its values separated by commas.
    const values = value.split(",").filter((each) => each.trim() !== "");
    return values.reduce<unknown>((all, each) => parse(each.trim(), all), undefined);
  } catch (error) {
    throw new CliError("usage", `${variable}: '${value}' is invalid. ${messageOf(error)}`, {
      hints: ["correct the variable, or unset it"],
      cause: error,
    });
  }
}

/** The command and those above it, outermost first. */
function chainOf(command: Command): Command[] {
  return command.parent ? [...chainOf(command.parent), command] : [command];
}

/** The error for a flag that takes one value and got two. */
export function givenTwice(option: Option): CliError {
  const variable = variableOf(option);
  const instead = `for a default that a flag overrules, set ${variable} instead`;
  return new CliError("usage", `${option.long ?? option.flags} is given twice`, {
    hints: ["give it once", ...(variable === undefined ? [] : [instead])],
  });
}

/** The flags of one command of a chain, added to those of the commands above it. */
function addFlags(command: Command, options: Record<string, unknown>): string[] {
  const given = command.options.filter(
    (option) => command.getOptionValueSource(option.attributeName()) === "cli",
  );
  return given.map((option) => {
    const name = option.attributeName();
    const value: unknown = command.getOptionValue(name);
    const before = options[name];
    if (isRepeatable(option) && Array.isArray(before) && Array.isArray(value)) {
      options[name] = [...(before as unknown[]), ...(value as unknown[])];
      return name;
    }
    // `--json` before and behind the subcommand says the same twice.
    if (option.required && before !== undefined) throw givenTwice(option);
    options[name] = value;
    return name;
  });
}

/** `KNOWCTL_OUTPUT=csv` is meant for the commands that have this format. */
function isForOthers(option: Option, value: string): boolean {
  const parse = option.parseArg as { choices?: readonly string[] } | undefined;
  if (option.long !== "--output" || !allFormats.includes(value)) return false;
  return parse?.choices?.includes(value) === false;
}

/** Where the value of an option in effect came from. */
export type OptionSource = "flag" | "env";

/**
 * The options of a command line: flags wherever they stand, then environment
 * variables for what no flag gave; an empty variable counts as unset. Throws
 * CliError `usage` for a value that the flag would refuse as well.
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
    if (isForOthers(option, value)) {
      delete options[name];
      continue;
    }
    options[name] = parseValue(option, variable, value);
    sources[name] = "env";
  }
  return { options, sources };
}
