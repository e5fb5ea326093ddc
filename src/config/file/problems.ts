import { CliError } from "../../errors.ts";
import { offsetOf, placeOf, type Node, type Path } from "./nodes.ts";

/** One problem in a configuration file. */
export interface Problem {
  /** `file:line:column` */
  where: string;
  message: string;
  /** What to do, where it is not the same for all problems. */
  advice?: string;
}

/** `ingest.rules[0].match` */
export function dotted(path: Path): string {
  return path
    .map((step, index) => (typeof step === "number" ? `[${step}]` : index > 0 ? `.${step}` : step))
    .join("");
}

/** `file:line:column` of a value, or with `atKey` of its key. */
export function whereIs(
  file: { path: string; text: string; tree: Node },
  path: Path,
  atKey = false,
): string {
  const { line, column } = placeOf(file.text, offsetOf(file.tree, path, atKey));
  return `${file.path}:${line}:${column}`;
}

/** Advice for values that the schema refuses. */
export const schemaAdvice =
  "check it with `knowctl config validate`; `knowctl config schema` shows what is allowed";

/** All problems of one file as one error: the first is the message, the others are details. */
export function brokenConfig(problems: readonly Problem[], advice = schemaAdvice): CliError {
  const [first, ...rest] = problems.map((problem) => `${problem.where}: ${problem.message}`);
  return new CliError("not-configured", first ?? "the configuration is broken", {
    details: rest,
    hints: [...new Set(problems.map((problem) => problem.advice ?? advice))],
  });
}
