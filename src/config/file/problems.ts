import { CliError } from "../../errors.ts";

/** A key of an object in a file, or an index of a list. */
export type Path = readonly (string | number)[];

/** The plain value of a file, and the places of its values. */
export interface Tree {
  value: unknown;
  /** Offset, in UTF-16 units, of a value, or with `atKey` of its key; of the nearest that holds it, if it is not there. */
  offsetOf(path: Path, atKey: boolean): number;
}

/** A syntax error in JSON or YAML. Never quotes the text: it may hold a secret. */
export class SyntaxProblem extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.name = "SyntaxProblem";
    this.offset = offset;
  }
}

/** Line and column of an offset, from 1; the column in UTF-16 units. */
export function placeOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  const line = before.split("\n").length;
  return { line, column: before.length - (before.lastIndexOf("\n") + 1) + 1 };
}

/** The value at a path of a plain value, or undefined. */
export function valueAt(value: unknown, path: Path): unknown {
  let at = value;
  for (const step of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, step)) return undefined;
    at = (at as Record<string | number, unknown>)[step];
  }
  return at;
}

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
  file: { path: string; text: string; tree: Tree },
  path: Path,
  atKey = false,
): string {
  const { line, column } = placeOf(file.text, file.tree.offsetOf(path, atKey));
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
