import { textOf, type Value, type ValueMap, valueAt } from "../../front-matter/values.ts";

/**
 * Finds the end of JavaScript and JSX constructs without parsing them: it matches brackets, and
 * skips strings, templates and comments. This is a guess by form. A construct that never closes
 * has no end.
 */

/** Remaining steps for constructs that turn out to be unclosed. */
export interface Fuel {
  left: number;
}

const pairs: Readonly<Record<string, string>> = { "{": "}", "(": ")", "[": "]" };

/** Offset after a quoted string; after the quote alone if the string does not close on its line. */
function skipString(text: string, at: number): number {
  const quote = text[at];
  for (let next = at + 1; next < text.length; next++) {
    const char = text[next];
    if (char === "\\") next++;
    else if (char === quote) return next + 1;
    // An apostrophe in the text of an element, as in `<p>don't</p>`.
    else if (char === "\n") break;
  }
  return at + 1;
}

/** Offset after a comment that begins here; `at` if no comment begins here. */
function skipComment(text: string, at: number): number {
  if (text[at + 1] === "*") {
    const end = text.indexOf("*/", at + 2);
    return end === -1 ? text.length : end + 2;
  }
  // `https://` in the text of an element is no comment.
  if (text[at + 1] === "/" && text[at - 1] !== ":") {
    const end = text.indexOf("\n", at);
    return end === -1 ? text.length : end;
  }
  return at;
}

/** Skips what begins here and returns the offset after it. Updates `open`, the expected closers. */
function step(text: string, at: number, open: string[]): number {
  const char = text[at] ?? "";
  const inTemplate = open.at(-1) === "`";
  if (char === "\\") return at + 2;
  if (char === "`") {
    if (inTemplate) open.pop();
    else open.push("`");
    return at + 1;
  }
  if (inTemplate) {
    if (char !== "$" || text[at + 1] !== "{") return at + 1;
    open.push("}");
    return at + 2;
  }
  if (char === '"' || char === "'") return skipString(text, at);
  if (char === "/") return Math.max(at + 1, skipComment(text, at));
  const closer = pairs[char];
  if (closer !== undefined) open.push(closer);
  else if (char === open.at(-1)) open.pop();
  return at + 1;
}

/**
 * Offset after the bracket that closes the one at `start`; -1 when none does, or when no fuel is
 * left.
 */
export function skipBraces(text: string, start: number, fuel: Fuel): number {
  if (fuel.left <= 0) return -1;
  const open: string[] = [];
  let at = start;
  do {
    at = step(text, at, open);
  } while (open.length > 0 && at < text.length);
  if (open.length === 0) return at;
  fuel.left -= text.length - start;
  return -1;
}

// A blank line, or the beginning of a construct that cannot continue a statement.
const afterStatement = /[ \t]*(?:\n|$)|#|```|(?:im|ex)port\b/y;

function isOver(text: string, at: number, last: string): boolean {
  if (/[=,(+.]/.test(last)) return false;
  afterStatement.lastIndex = at;
  return /[;}]/.test(last) || afterStatement.test(text);
}

/**
 * Offset after an `export` statement: the end of the line where no bracket is open and the
 * statement is complete; -1 when a bracket never closes.
 */
export function skipStatement(text: string, start: number, fuel: Fuel): number {
  if (fuel.left <= 0) return -1;
  const open: string[] = [];
  let last = "";
  for (let at = start; at < text.length;) {
    const char = text[at] ?? "";
    if (char === "\n" && open.length === 0 && isOver(text, at + 1, last)) return at + 1;
    if (char.trim() !== "") last = char;
    at = step(text, at, open);
  }
  if (open.length === 0) return text.length;
  fuel.left -= text.length - start;
  return -1;
}

const importForm =
  /import(?:\s+type)?(?:\s*["'][^"'\n]*["']|(?:\s+[\w$]|\s*[*{])[\w$\s{},*]{0,10000}["'][^"'\n]*["'])[^\n]*(?:\n|$)/y;

/** Offset after an `import` statement at `start`; -1 for any other form. */
export function skipImport(text: string, start: number, fuel: Fuel): number {
  if (fuel.left <= 0) return -1;
  importForm.lastIndex = start;
  const found = importForm.exec(text)?.[0];
  const isImport = found !== undefined && /^import(?:\s+type)?\s*["']|[\s}]from\s*["']/.test(found);
  if (isImport && !/\n[ \t]*\n/.test(found.trimEnd())) return start + found.length;
  fuel.left -= Math.min(10_000, text.length - start);
  return -1;
}

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
  /** Constants with plain values: `export const version = "1.2"`; data of JSON files that it imports. */
  constants: Map<string, Value>;
  frontMatter: ValueMap | undefined;
  /** Attributes of the tag that includes this file. */
  props: ReadonlyMap<string, string>;
}

const constantForm = /^(?:export\s+)?(?:const|let|var)\s+([\w$]+)\s*=([^]*?);?\s*$/;
const plainMember =
  /([\w$]+|"[^"\\\n]*"|'[^'\\\n]*')\s*:\s*("[^"\\\n]*"|'[^'\\\n]*'|-?[\d.]+)\s*(?:,|$)/g;

/** An object of plain values: `{ name: "x", size: 2 }`. Undefined for other code. */
function plainObject(code: string): ValueMap | undefined {
  const [, inner] = /^\{([^{}`]*)\}$/.exec(code.trim()) ?? [];
  if (inner === undefined || inner.replace(plainMember, "").trim() !== "") return undefined;
  const members = [...inner.matchAll(plainMember)].map(
    ([, key = "", value = ""]) =>
      [key.replace(/^["']|["']$/g, ""), plainValue(value) ?? value] as const,
  );
  return Object.assign(Object.create(null) as ValueMap, Object.fromEntries(members));
}

/** Adds the constant that a statement defines, if its value is plain or an object of plain values. */
export function addConstant(statement: string, scope: Scope): void {
  if (statement.length > 1000) return;
  const [, name, code = ""] = constantForm.exec(statement) ?? [];
  const value = valueOf(code, scope) ?? plainObject(code);
  if (name !== undefined && value !== undefined) scope.constants.set(name, value);
}

// vitepress.dev, "Using Vue in Markdown", and v1.vuepress.vuejs.org, "Global computed".
const frontMatterPath = /^(?:props\.|\$page\.)?\$?front[mM]atter\.([\w$.]+)$/;

/** The text that an expression shows; undefined for what only running the code can tell. */
export function valueOf(code: string, scope: Scope): string | undefined {
  const plain = plainValue(code) ?? templateValue(code, scope);
  const name = code.trim();
  if (plain !== undefined || !/^[\w$.]{1,200}$/.test(name)) return plain;
  const [, key] = /^props\.([\w$]+)$/.exec(name) ?? [];
  if (key !== undefined) return scope.props.get(key);
  const [, path] = frontMatterPath.exec(name) ?? [];
  const [first = "", ...rest] = (path ?? name).split(".");
  const from = path === undefined ? scope.constants.get(first) : scope.frontMatter?.[first];
  return textOf(from === undefined || rest.length === 0 ? from : valueAt(from, rest.join(".")));
}

/** The text of a template whose code names known values only: `` `v${version}` ``. */
function templateValue(code: string, scope: Scope): string | undefined {
  if (!code.includes("${") || !template.test(code.trim())) return undefined;
  let isKnown = true;
  const text = code.trim().replace(/\\[^]|\$\{([^{}`]*)\}/g, (whole, inner: string | undefined) => {
    if (inner === undefined) return whole;
    const value = valueOf(inner, scope);
    isKnown &&= value !== undefined;
    return (value ?? "").replace(/[\\`$]/g, "\\$&");
  });
  return isKnown ? plainValue(text) : undefined;
}

/** Whether code consists of comments: it shows nothing. */
export const isComment = (code: string): boolean =>
  code.trim() === "" || /^\s*(?:\/\*|\/\/)/.test(code);
