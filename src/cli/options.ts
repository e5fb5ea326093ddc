import { InvalidArgumentError, Option, type Command } from "commander";
import { listFormats } from "./formats.ts";

/** Parser for a whole number within bounds; its error names the bounds. */
export function integer(min: number, max: number): (value: string) => number {
  return (value) => {
    const number = /^[+-]?\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= min && number <= max)) {
      throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
    }
    return number;
  };
}

/** Parser for an id of the service, a row number or a limit: a whole number from 1. */
export const positive = integer(1, 2 ** 31 - 1);

/** Parser for a decimal number within bounds. */
export function decimal(min: number, max: number): (value: string) => number {
  return (value) => {
    const number = /^[+-]?(\d+\.?\d*|\.\d+)$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= min && number <= max)) {
      throw new InvalidArgumentError(`Expected a number from ${min} to ${max}.`);
    }
    return number;
  };
}

const durationMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Parser for a duration up to a day, in milliseconds: `30s`, `2m`, `0`; a bare number is seconds. */
export function duration(value: string): number {
  const [, digits = "", unit = "s"] =
    /^(\d{1,7}(?:\.\d{0,3})?|\.\d{1,3})\s?(ms|s|m|h)?$/.exec(value) ?? [];
  const ms = digits === "" ? Number.NaN : Number(digits) * (durationMs[unit] ?? Number.NaN);
  if (ms <= 86_400_000) return ms;
  throw new InvalidArgumentError("Expected a duration up to 24h, for example 30s or 2m.");
}

/** Same as duration(), but at least so many seconds. */
export function durationFrom(min: number): (value: string) => number {
  return (value) => {
    const ms = duration(value);
    if (ms >= min * 1000) return ms;
    const least = min === 1 ? "1 second" : `${min} seconds`;
    throw new InvalidArgumentError(`Expected at least ${least}, for example 30s or 2m.`);
  };
}

/** Same as durationFrom(), but in seconds. */
export function seconds(min: number): (value: string) => number {
  const parse = durationFrom(min);
  return (value) => parse(value) / 1000;
}

/** Same as decimal(), but accepts a rate too: `5/s`. */
export function perSecond(min: number, max: number): (value: string) => number {
  const parse = decimal(min, max);
  return (value) => parse(value.replace(/\/s$/, ""));
}

const maxShards = 10_000;

/** Parser for `I/N`: part I of N equal parts, from 1. */
export function shard(value: string): { index: number; count: number } {
  const [, index = 0, count = 0] = (/^(\d{1,9})\/(\d{1,9})$/.exec(value) ?? []).map(Number);
  if (count < 1 || count > maxShards) {
    throw new InvalidArgumentError(`Expected I/N with N from 1 to ${maxShards}, for example 2/8.`);
  }
  if (index < 1 || index > count) {
    throw new InvalidArgumentError(
      `Expected a shard from 1/${count} to ${count}/${count}; the first is 1, not 0.`,
    );
  }
  return { index, count };
}

/** Parser that accepts only these words; its `choices` lists them. */
export function choice<const Value extends string>(
  ...values: readonly Value[]
): ((value: string) => Value) & { choices: readonly Value[] } {
  const parse = (value: string): Value => {
    const found = values.find((each) => each === value);
    if (found === undefined)
      throw new InvalidArgumentError(`Expected one of ${values.join(", ")}.`);
    return found;
  };
  return Object.assign(parse, { choices: values });
}

/** Parser for non-empty text: rejects an empty variable of a script. */
export function filled(value: string): string {
  if (value.trim() === "")
    throw new InvalidArgumentError("Expected a value; remove the flag if there is none.");
  return value;
}

/** Parser for a repeatable flag: each occurrence adds to a list. */
export function collect(value: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), filled(value)];
}

/** Whether a flag is repeatable: only a parser that adds to a list has a second parameter. */
export function isRepeatable(option: Option): boolean {
  return (option.parseArg?.length ?? 0) > 1;
}

/** Parser for the address of a web page. */
export function webAddress(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url && /^https?:\/\/[^/]/i.test(value) && !/[\s\\]/.test(value)) return value;
  throw new InvalidArgumentError("Expected a web address, for example https://docs.example.com/.");
}

/** Same as collect(), but parses each occurrence with `parse`. */
export function collectParsed<Value>(
  parse: (value: string) => Value,
): (value: string, previous: Value[] | undefined) => Value[] {
  return (value, previous) => [...(previous ?? []), parse(value)];
}

/** Parser for a whole number, or a percentage from 0 to 100: `20`, `5%`. */
export function share(value: string): { count: number } | { percent: number } {
  const [, digits = "", percent] = /^(\d{1,9}(?:\.\d{1,6})?)\s?(%)?$/.exec(value) ?? [];
  const number = Number(digits);
  if (digits !== "" && percent && number <= 100) return { percent: number };
  if (digits !== "" && !percent && Number.isInteger(number)) return { count: number };
  throw new InvalidArgumentError("Expected a whole number, or a percentage, for example 5%.");
}

const unitBytes: Readonly<Record<string, number>> = { "": 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 };

/** Parser for a number of bytes within bounds: `1048576`, `512k`, `64MiB`, `1.5g`. */
export function size(min: number, max: number): (value: string) => number {
  return (value) => {
    const [, digits = "", unit = ""] =
      /^(\d{1,12}(?:\.\d{1,6})?)\s?(?:([kmg])(?:i?b)?|b)?$/i.exec(value) ?? [];
    const bytes = Math.round(Number(digits) * (unitBytes[unit.toLowerCase()] ?? Number.NaN));
    if (digits === "" || !(bytes >= min && bytes <= max)) {
      throw new InvalidArgumentError(
        `Expected a size from ${min} bytes to ${max / 2 ** 20}MiB, for example 64MiB.`,
      );
    }
    return bytes;
  };
}

/** Where a command reads or writes the record of uploads: see StateFlag in commands. */
export function addStateOption(command: Command): Command {
  return command.option(
    "--state <dir>",
    "folder of the state (default: .knowctl in the project root)",
    filled,
  );
}

/** The shared record of many machines. */
export function addSharedOptions(command: Command): Command {
  return command
    .option("--shared-state <url>", "database of the shared record: postgres://…", filled)
    .option("--state-project <name>", "name of this project in the shared record", filled);
}

/** The same, for commands that can do with the local state. */
export function addRecordOptions(command: Command): Command {
  return addSharedOptions(command).option(
    "--offline-state",
    "use the local state alone; push to the shared record later",
  );
}

function inGroup(heading: string, options: readonly Option[]): Option[] {
  return options.map((option) => option.helpGroup(heading));
}

/** The global flags. Each call creates new ones, because an option belongs to one command. */
export function globalOptions(): Option[] {
  return [
    ...inGroup("Connection:", [
      new Option("--profile <name>", "profile of the configuration to use"),
      new Option("--config <file>", "configuration file to use instead of searching for one"),
      new Option("--base-url <url>", "address of the service"),
      new Option("--dialect <name>", "standard or onyx").argParser(choice("standard", "onyx")),
      new Option("--timeout <seconds>", "longest wait for a response").argParser(seconds(0.001)),
      new Option("--ca-file <file>", "PEM file with additional certificate authorities"),
      new Option("--client-cert <file>", "PEM file with a client certificate"),
      new Option(
        "--client-key <file>",
        "PEM file with the key of the client certificate (default: the same file)",
      ),
      new Option("--proxy <url>", "proxy (default: HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY)"),
    ]),
    ...inGroup("Output:", [
      new Option("-o, --output <format>", `output format: ${listFormats.join(", ")}`),
      new Option("--json", "same as --output json"),
      new Option("--fields <list>", "columns or members to show, in order: a,b.c"),
      new Option(
        "--filter <expr>",
        "keep rows where key=value, key!=value, key~glob or key!~glob (repeatable)",
      ).argParser(collect),
      new Option("--jq <expr>", "print the result of a jq expression on the JSON output"),
      new Option("-q, --quiet", "no progress and no notes"),
      new Option("-v, --verbose", "show each request with its status and time"),
      new Option("--debug", "as --verbose, with redacted headers and stack traces"),
      new Option("--no-color", "no colour"),
    ]),
    ...inGroup("Behaviour:", [
      new Option(
        "--root <dir>",
        "project root (default: searched from the working directory up)",
      ).argParser(filled),
      new Option("--no-input", "never ask a question; a missing answer is an error"),
    ]),
  ];
}

/** Help of `--report`, with the forms of output/report/forms.ts. */
export const reportText = "report as .json, .sarif, .xml, .html, .prom (repeatable)";

/** Help of `--tombstone`. */
export const tombstoneText =
  "replace their text by a removal notice, where the service cannot delete";
export const viaOption = [
  "--via <way>",
  "use only this way: indexed, keyword, assisted or chat",
  choice("indexed", "keyword", "assisted", "chat"),
] as const;
export const renderOption = [
  "--render <mode>",
  "draw answers as markdown, plain, or auto (markdown on a terminal)",
  choice("auto", "markdown", "plain"),
] as const;
export const showOption = [
  "--show <list>",
  "on stderr: reasoning,tools,documents (default; on a terminal of up to 24 lines: none), " +
    "or none, or all (untruncated)",
] as const;
