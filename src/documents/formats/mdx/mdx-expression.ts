import { isMap, textOf, type Value, type ValueMap } from "../../front-matter/values.ts";

// A longer literal is data.
const mostChars = 100_000;
// The parts of each literal match different characters: otherwise a missing end takes quadratic time.
const literal =
  /^(?:"([^"\\\n]*(?:\\.[^"\\\n]*)*)"|'([^'\\\n]*(?:\\.[^'\\\n]*)*)'|`([^`\\$]*(?:(?:\\[^]|\$(?!\{))[^`\\$]*)*)`|(-?\d[\d_]*(?:\.\d+)?|Infinity))$/;
const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t" };

/** The text of a string, a number or a template without `${}`; undefined for other code. */
export function plainValue(code: string): string | undefined {
  if (code.length > mostChars) return undefined;
  const found = literal.exec(code.trim());
  const [, double, single, template, number] = found ?? [];
  const text = double ?? single ?? template;
  return text?.replace(/\\([^])/g, (_, char: string) => escapes[char] ?? char) ?? number;
}

// `a ${f({ b })} c`
const template =
  /^`([^`\\$]*(?:(?:\\[^]|\$(?!\{)|\$\{[^{}`]*(?:\{[^{}`]*\}[^{}`]*)*\})[^`\\$]*)*)`$/;

/** The text of a template with its code as written; undefined for other code. */
export function writtenTemplate(code: string): string | undefined {
  if (code.length > mostChars) return undefined;
  return template
    .exec(code.trim())?.[1]
    ?.replace(/\\([^])/g, (_, char: string) => escapes[char] ?? char);
}

/** Values that the expressions of a file can name. */
export interface Scope {
  /** Constants with plain values: `export const version = "1.2"`. */
  constants: Map<string, string>;
  frontMatter: ValueMap | undefined;
  /** Attributes of the tag that includes this file. */
  props: ReadonlyMap<string, string>;
}

const constantForm = /^export\s+(?:const|let|var)\s+([\w$]+)\s*=([^]*?);?\s*$/;

/** Adds the constant that an `export` statement defines, if its value is plain. */
export function addConstant(statement: string, { constants }: Scope): void {
  if (statement.length > 1000) return;
  const [, name, code = ""] = constantForm.exec(statement) ?? [];
  const value = plainValue(code);
  if (name !== undefined && value !== undefined) constants.set(name, value);
}

/** The text that an expression shows; undefined for what only running the code can tell. */
export function valueOf(code: string, scope: Scope): string | undefined {
  const plain = plainValue(code);
  const name = code.trim();
  if (plain !== undefined || !/^[\w$.]{1,200}$/.test(name)) return plain;
  const [, key] = /^props\.([\w$]+)$/.exec(name) ?? [];
  if (key !== undefined) return scope.props.get(key);
  const [, path] = /^(?:props\.)?front[mM]atter\.([\w$.]+)$/.exec(name) ?? [];
  if (path === undefined) return scope.constants.get(name);
  let value: Value | undefined = scope.frontMatter;
  for (const part of path.split(".")) {
    value = value !== undefined && isMap(value) ? value[part] : undefined;
  }
  return textOf(value);
}

/** Whether code consists of comments: it shows nothing. */
export const isComment = (code: string): boolean =>
  code.trim() === "" || /^\s*(?:\/\*|\/\/)/.test(code);
