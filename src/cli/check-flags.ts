import type { Command, Option } from "commander";
import { type CliError, usageError } from "../errors.ts";
import { pathOf } from "./commands.ts";
import type { OptionSource } from "./environment.ts";
import { type FlagRule, flagRules, oneTarget } from "./flag-rules.ts";
import { formOf, type SelectionFlag } from "./formats.ts";

/** A parsed command line: the options in effect and the source of each. */
export interface ParsedLine {
  command: Command;
  options: Record<string, unknown>;
  sources: Record<string, OptionSource>;
}

/** Throws `refusal` for a flag; drops a variable, which may be meant for other commands. */
function dropOrRefuse(line: ParsedLine, name: string, refusal: CliError): void {
  if (line.sources[name] === "flag") throw refusal;
  delete line.options[name];
  delete line.sources[name];
}

function checkFormat(line: ParsedLine, path: string): void {
  const { options, sources } = line;
  const { formats, hint } = formOf(path);
  const has = (format: unknown): boolean => formats.includes(String(format));
  const known =
    formats.length === 0
      ? hint
      : `use ${formats.length === 1 ? "" : "one of "}${formats.join(", ")}`;
  const reason =
    formats.length === 0
      ? `${path} has only one output format`
      : `${path} does not support this format`;
  if (options["json"] === true && !has("json")) {
    dropOrRefuse(line, "json", usageError(`--json: ${reason}`, known));
  }
  const { output } = options;
  if (output !== undefined && !has(output)) {
    dropOrRefuse(line, "output", usageError(`--output ${String(output)}: ${reason}`, known));
  }
  if (options["json"] !== true || options["output"] === undefined) return;
  if (options["output"] === "json") return;
  // A flag overrides a variable; two conflicting flags are an error.
  const [json, format] = [sources["json"], sources["output"]];
  if (json !== format) delete options[json === "env" ? "json" : "output"];
  else {
    const message = `--json and --output ${String(options["output"])} exclude each other`;
    throw usageError(message, "use only one of them");
  }
}

function checkSelection(line: ParsedLine, path: string): void {
  const { selection, hint } = formOf(path);
  for (const name of ["fields", "filter", "jq"] satisfies SelectionFlag[]) {
    if (line.options[name] === undefined || selection.includes(name)) continue;
    dropOrRefuse(line, name, usageError(`--${name} has no effect on \`${path}\``, hint));
  }
}

function optionOf({ command }: ParsedLine, flag: string): Option | undefined {
  for (let each: Command | null = command; each; each = each.parent) {
    const option = each.options.find(({ long }) => long === flag);
    if (option) return option;
  }
  return undefined;
}

function nameOf(line: ParsedLine, flag: string): string | undefined {
  return optionOf(line, flag)?.attributeName();
}

function isSet(line: ParsedLine, flag: string): boolean {
  if (flag === "argument") return line.command.args.length > 0;
  const option = optionOf(line, flag);
  if (!option) return false;
  const value = line.options[option.attributeName()];
  return option.negate ? value === false : value !== undefined && value !== false;
}

function isVariable(line: ParsedLine, flag: string): boolean {
  return line.sources[nameOf(line, flag) ?? ""] === "env";
}

/** A flag with the name of its value: `--batch FILE`. */
function written(line: ParsedLine, flag: string): string {
  const value = /<(.*)>/.exec(optionOf(line, flag)?.flags ?? "")?.[1];
  return value === undefined ? flag : `${flag} ${value.toUpperCase()}`;
}

function refusalOf(
  { without: [needed] = [], why, hint }: FlagRule,
  flag: string,
  other: string | undefined,
  line: ParsedLine,
): CliError {
  if (other !== undefined && other !== "argument") {
    const instead = hint ?? "use only one of them";
    return usageError(`${flag} and ${other} exclude each other: ${why}`, instead);
  }
  if (needed === undefined) {
    return usageError(`${flag} has no effect: ${why}`, hint ?? "use only one of them");
  }
  const remedy = hint ?? `add ${written(line, needed)}, or remove this flag`;
  return usageError(`${flag} has no effect without ${needed}: ${why}`, remedy);
}

function applyRule(rule: FlagRule, flag: string, line: ParsedLine): void {
  const { without, beside } = rule;
  if (!isSet(line, flag) || without?.some((each) => isSet(line, each))) return;
  const others = beside?.filter((each) => each !== flag && isSet(line, each));
  const flagged = others?.filter((each) => !isVariable(line, each));
  // A flag of the command line wins over a variable.
  const refusal = refusalOf(rule, flag, (flagged ?? [])[0], line);
  if (flagged === undefined || flagged.length > 0) {
    return dropOrRefuse(line, nameOf(line, flag) ?? flag, refusal);
  }
  if (isVariable(line, flag)) return;
  for (const other of others ?? []) dropOrRefuse(line, nameOf(line, other) ?? other, refusal);
}

/**
 * Rejects flags that the command would ignore; drops variables that are meant for other commands.
 * Runs before anything is read or sent. Throws CliError `usage` that names the flag.
 */
export function checkFlags(line: ParsedLine): void {
  const path = pathOf(line.command);
  checkFormat(line, path);
  checkSelection(line, path);
  for (const rule of [oneTarget, ...(flagRules[path] ?? [])]) {
    for (const flag of rule.flags) applyRule(rule, flag, line);
  }
}

/** Compiles the expression of --jq. Throws CliError `usage` for an invalid expression. */
export async function checkExpression(jq: unknown, signal: AbortSignal): Promise<void> {
  if (typeof jq !== "string") return;
  const { checkJq } = await import("../commands/check-jq.ts");
  await checkJq(jq, signal);
}
