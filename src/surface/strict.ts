import type { EventEmitter } from "node:events";
import type { Command, Option } from "commander";
import { CliError } from "../errors.ts";
import { givenTwice } from "./environment.ts";
import { allFormats, formatsOf } from "./formats.ts";
import { choice, filled, isRepeatable } from "./options.ts";

/** Flags whose empty value says something: it overrules what is configured. */
const mayBeEmpty = new Set(["--id-prefix"]);

// `--state --dry-run` means a forgotten folder, not one of that name.
function swallowed(option: Option, value: string): CliError {
  const name = option.long ?? option.flags;
  return new CliError("usage", `option '${option.flags}' argument missing`, {
    hints: [`${value} is a flag; to give it as the value all the same: ${name}=${value}`],
  });
}

function addParser(option: Option, command: Command, path: string): void {
  if (option.long === "--output") {
    // Before a subcommand the format of that is meant; a command without formats refuses all of them
    // with its reason (check-flags.ts).
    const own = command.commands.length > 0 ? [] : formatsOf(path);
    option.argParser(choice(...(own.length > 0 ? own : allFormats)));
  } else if (!option.parseArg && !mayBeEmpty.has(option.long ?? "")) option.argParser(filled);
}

/** Two flags of one option, as `--state DIR` and `--no-state`: commander keeps the last one. */
function refuseOpposites(option: Option, command: Command, given: Map<string, Option>): void {
  const name = option.attributeName();
  (command as unknown as EventEmitter).prependListener(`option:${option.name()}`, () => {
    const other = given.get(name);
    given.set(name, option);
    if (other === undefined || other === option) return;
    throw new CliError("usage", `${other.long} and ${option.long} exclude each other`, {
      hints: ["give one of them"],
    });
  });
}

/**
 * Makes the flags of a command refuse what commander takes without a word: an
 * empty value, a flag in the place of a value, a second value for a flag that
 * keeps one, a format that the command does not have. `argv` is the command line.
 */
export function makeStrict(command: Command, path: string, argv: readonly string[]): void {
  const flags = new Set(command.options.flatMap(({ short, long }) => [short, long]));
  const given = new Map<string, Option>();
  for (const option of command.options) {
    if (!option.required) continue;
    addParser(option, command, path);
    const name = option.attributeName();
    // Before commander takes the value: then it is still known whether there was one.
    (command as unknown as EventEmitter).prependListener(
      `option:${option.name()}`,
      (value: string) => {
        if (flags.has(value) && !argv.includes(`${option.long}=${value}`))
          throw swallowed(option, value);
        if (isRepeatable(option) || command.getOptionValueSource(name) !== "cli") return;
        throw givenTwice(option);
      },
    );
  }
  // Last: what is put in front last is asked first.
  for (const option of command.options) refuseOpposites(option, command, given);
}
