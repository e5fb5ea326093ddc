import type { Command, Option } from "commander";
import { CliError } from "../errors.ts";
import type { OptionSource } from "./environment.ts";
import { flagRules, type FlagRule } from "./flag-rules.ts";
import { formOf, type Picking } from "./formats.ts";

/** A command line as it was understood: the flags and variables in effect, and where each came from. */
export interface Understood {
  command: Command;
  options: Record<string, unknown>;
  sources: Record<string, OptionSource>;
}

/** Words that name the command below the program: `connectors list`. */
export function pathOf(command: Command): string {
  if (!command.parent) return "";
  return `${pathOf(command.parent)} ${command.name()}`.trim();
}

function usage(message: string, hint: string | undefined): CliError {
  return new CliError("usage", message, { hints: hint === undefined ? [] : [hint] });
}

/** A variable for other commands is dropped, a flag is refused. */
function dropOrRefuse(understood: Understood, name: string, refusal: CliError): void {
  if (understood.sources[name] === "flag") throw refusal;
  delete understood.options[name];
  delete understood.sources[name];
}

function checkFormat(understood: Understood, path: string): void {
  const { options, sources } = understood;
  const { formats, hint } = formOf(path);
  const has = (format: unknown): boolean => formats.includes(String(format));
  const known =
    formats.length === 0
      ? hint
      : `use ${formats.length === 1 ? "" : "one of "}${formats.join(", ")}`;
  const none = formats.length === 0 ? `${path} has no other form of output` : undefined;
  if (options["json"] === true && !has("json")) {
    const message = `--json: ${none ?? `${path} has no such format`}`;
    dropOrRefuse(understood, "json", usage(message, known));
  }
  const { output } = options;
  if (output !== undefined && !has(output)) {
    const message = `--output ${String(output)}: ${none ?? `${path} has no such format`}`;
    dropOrRefuse(understood, "output", usage(message, known));
  }
  if (options["json"] !== true || options["output"] === undefined) return;
  if (options["output"] === "json") return;
  // A flag wins over a variable; two flags that disagree are a mistake.
  const [json, format] = [sources["json"], sources["output"]];
  if (json !== format) delete options[json === "env" ? "json" : "output"];
  else {
    const message = `--json and --output ${String(options["output"])} exclude each other`;
    throw usage(message, "give one of them");
  }
}

function checkPicking(understood: Understood, path: string): void {
  const { picks, hint } = formOf(path);
  for (const name of ["fields", "filter", "jq"] satisfies Picking[]) {
    if (understood.options[name] === undefined || picks.includes(name)) continue;
    dropOrRefuse(understood, name, usage(`--${name} has no effect on \`${path}\``, hint));
  }
}

function optionOf({ command }: Understood, flag: string): Option | undefined {
  for (let each: Command | null = command; each; each = each.parent) {
    const option = each.options.find(({ long }) => long === flag);
    if (option) return option;
  }
  return undefined;
}

function isSet(understood: Understood, flag: string, from?: OptionSource): boolean {
  if (flag === "argument") return understood.command.args.length > 0;
  const option = optionOf(understood, flag);
  if (!option) return false;
  const name = option.attributeName();
  if (from !== undefined && understood.sources[name] !== from) return false;
  const value = understood.options[name];
  return option.negate ? value === false : value !== undefined && value !== false;
}

function refusalOf(rule: FlagRule, flag: string, understood: Understood): CliError | undefined {
  const { without, beside, why, hint } = rule;
  if (!isSet(understood, flag, "flag")) return undefined;
  if (without?.some((each) => isSet(understood, each))) return undefined;
  const other = beside?.find((each) => each !== flag && isSet(understood, each));
  if (beside && other === undefined) return undefined;
  if (other !== undefined && other !== "argument") {
    return usage(`${flag} and ${other} exclude each other: ${why}`, hint);
  }
  const missing = without === undefined ? "" : ` without ${without.join(" or ")}`;
  return usage(`${flag} has no effect${missing}: ${why}`, hint);
}

/**
 * Refuses flags that the command would accept and not use; drops variables that are meant for other
 * commands. Nothing has been read or sent then. Throws CliError `usage` that names the flag.
 */
export function checkFlags(understood: Understood): void {
  const path = pathOf(understood.command);
  checkFormat(understood, path);
  checkPicking(understood, path);
  for (const rule of flagRules[path] ?? []) {
    for (const flag of rule.flags) {
      const refusal = refusalOf(rule, flag, understood);
      if (refusal) throw refusal;
    }
  }
}

/** Compiles the expression of --jq. Throws CliError `usage` for one that does not parse. */
export async function checkExpression(jq: unknown, signal: AbortSignal): Promise<void> {
  if (typeof jq !== "string") return;
  const { checkJq } = await import("../commands/check-jq.ts");
  await checkJq(jq, signal);
}
