import type { EventEmitter } from "node:events";
import type { Command, Option } from "commander";
import { CliError } from "../errors.ts";
import { repeatedFlag } from "./environment.ts";
import { allFormats, formatsOf } from "./formats.ts";
import { choice, filled, isRepeatable } from "./options.ts";

/** Flags that accept an empty value, which overrides the configured one. */
const mayBeEmpty = new Set(["--id-prefix"]);

// `--state --dry-run` is a forgotten folder name, not a folder named `--dry-run`.
function missingValue(option: Option, value: string): CliError {
  const name = option.long ?? option.flags;
  return new CliError("usage", `option '${option.flags}' argument missing`, {
    hints: [`${value} is a flag; to use it as the value, write ${name}=${value}`],
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
export function makeStrict(command: Command, path: string, argv: readonly string[]): void {
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
        if (isRepeatable(option) || command.getOptionValueSource(name) !== "cli") return;
        throw repeatedFlag(option);
      },
    );
  }
  // Last, because the listener that is prepended last runs first.
  for (const option of command.options) rejectOpposites(option, command, present);
}
