/**
 * The values that a program in Python assigns as literals, at the start of a line: texts, numbers,
 * lists, tuples, dicts, and names of earlier ones. All others are unknown: it is never run.
 * docs.python.org, "Lexical analysis", Literals.
 */

/** A program while it is read. */
interface Scan {
  text: string;
  at: number;
  names: Record<string, unknown>;
}

/** Something that is no literal. */
const unknown = Symbol("unknown");

const deepest = 20;
const blanks = /(?:[ \t\r\f]|\\\r?\n)*/y;
const lines = /(?:\s|\\\r?\n|#[^\n]*)*/y;
const quote = /([rRuU]?)("""|'''|"|')/y;
const word = /[A-Za-z_]\w*|[-+]?\d[\d_]*(?:\.\d+)?(?![\w.])/y;
const escape = /\\(?:(\r?\n)|x([\da-fA-F]{2})|u([\da-fA-F]{4})|([^]))/g;
const controls: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };
const constants: Readonly<Record<string, unknown>> = { True: true, False: false, None: null };
const closing: Readonly<Record<string, string>> = { "[": "]", "(": ")", "{": "}" };

function take(scan: Scan, pattern: RegExp): RegExpExecArray | undefined {
  pattern.lastIndex = scan.at;
  const found = pattern.exec(scan.text);
  if (found) scan.at = pattern.lastIndex;
  return found ?? undefined;
}

const unescape = (text: string): string =>
  text.replace(escape, (whole, line?: string, hex?: string, unicode?: string, char = "") => {
    if (line !== undefined) return "";
    const code = hex ?? unicode;
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
    return controls[char] ?? (/["'\\]/.test(char) ? char : whole);
  });

/** The text between quotes; undefined if it is not closed. */
function readText(scan: Scan, prefix: string, marks: string): string | undefined {
  const start = scan.at;
  for (let at = start; at < scan.text.length; at++) {
    const char = scan.text[at];
    if (char === "\\") at++;
    else if (char === "\n" && marks.length === 1) return undefined;
    else if (scan.text.startsWith(marks, at)) {
      scan.at = at + marks.length;
      const text = scan.text.slice(start, at);
      return /r/i.test(prefix) ? text : unescape(text);
    }
  }
  return undefined;
}

/** Texts beside each other, or with "+" between them, are one. */
function readTexts(scan: Scan, between: RegExp): unknown {
  let text: string | undefined;
  for (;;) {
    const { at } = scan;
    const [, prefix = "", marks] = take(scan, quote) ?? [];
    const more = marks === undefined ? undefined : readText(scan, prefix, marks);
    if (more === undefined) {
      if (marks !== undefined) return unknown;
      scan.at = at;
      return text;
    }
    text = (text ?? "") + more;
    take(scan, between);
    if (scan.text[scan.at] !== "+") continue;
    scan.at++;
    take(scan, between);
  }
}

/** The members of a list, a tuple or a dict. A tuple of one member needs a comma. */
function readMembers(scan: Scan, open: string, depth: number): unknown {
  const end = closing[open] ?? "";
  const values: unknown[] = [];
  const map: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  let hasComma = false;
  for (;;) {
    take(scan, lines);
    if (scan.text[scan.at] === end) break;
    const value = readValue(scan, lines, depth);
    if (value === unknown) return unknown;
    take(scan, lines);
    if (open === "{") {
      if (scan.text[scan.at++] !== ":" || typeof value !== "string") return unknown;
      take(scan, lines);
      if ((map[value] = readValue(scan, lines, depth)) === unknown) return unknown;
      take(scan, lines);
    } else values.push(value);
    if (scan.text[scan.at] !== ",") break;
    hasComma = true;
    scan.at++;
  }
  if (scan.text[scan.at++] !== end) return unknown;
  if (open === "{") return map;
  return open === "(" && values.length === 1 && !hasComma ? values[0] : values;
}

function readValue(scan: Scan, between: RegExp, depth: number): unknown {
  const texts = readTexts(scan, between);
  if (texts !== undefined) return texts;
  const open = scan.text[scan.at] ?? "";
  if (Object.hasOwn(closing, open)) {
    scan.at++;
    return depth > deepest ? unknown : readMembers(scan, open, depth + 1);
  }
  const [name = ""] = take(scan, word) ?? [];
  if (/^[-+\d]/.test(name)) return Number(name.replaceAll("_", ""));
  if (Object.hasOwn(constants, name)) return constants[name];
  return Object.hasOwn(scan.names, name) ? scan.names[name] : unknown;
}

const assignment = /([A-Za-z_]\w*)[ \t]*(\+?=)(?!=)[ \t]*/y;
const docstring = /[rRuU]?("""|''')/y;

/** The values of the names of a program, those that are literals. The time is linear. */
export function readPython(text: string): Record<string, unknown> {
  const names = Object.create(null) as Record<string, unknown>;
  const scan: Scan = { text, at: 0, names };
  while (scan.at < text.length) {
    const start = scan.at;
    const marks = take(scan, docstring)?.[1];
    if (marks !== undefined && readText(scan, "r", marks) === undefined) return names;
    const [, name, operator] = take(scan, assignment) ?? [];
    if (name !== undefined) {
      const value = readValue(scan, blanks, 0);
      take(scan, blanks);
      const isWhole = value !== unknown && /^(?:#|\r?\n|$)/.test(text.slice(scan.at, scan.at + 2));
      const known = names[name];
      if (!isWhole) delete names[name];
      else if (operator === "=") names[name] = value;
      else if (typeof known === "string" && typeof value === "string") names[name] = known + value;
      else delete names[name];
      // A value that is none may have gone far: what begins a line in it is looked at again.
      if (!isWhole) scan.at = start;
    }
    const end = text.indexOf("\n", scan.at);
    scan.at = end === -1 ? text.length : end + 1;
  }
  return names;
}
