import { codeSpan } from "../../../../markdown/code-span.ts";
import { raised } from "../../../../page/raised.ts";
import { decodeHTMLStrict } from "entities/decode";
import { substitute, substituteCharacters } from "../source/attributes.ts";
import { createFinder } from "./finder.ts";
import { addLabel } from "./ids.ts";
import type { InlineContext, Scan } from "./inline-context.ts";
import * as macros from "./macros.ts";

const mostDepth = 4;

const next =
  /[\\`*_#+^~]|&(?:#\d{2,7}|#x[\dA-Fa-f]{2,6}|[A-Za-z][A-Za-z\d]{1,31});|\$\$|"`|'`|<<|\[\[|\(\(|\b(?:https?|ftps?|irc):\/\/|\b(?:link|xref|mailto|image|icon|kbd|btn|menu|pass|stem|latexmath|asciimath|anchor|indexterm|indexterm2):(?=[^\s:])|footnote(?:ref)?:(?=[^\s:])/g;
const anchor = /[\p{L}_:][\p{L}\p{N}_:.-]{0,200}(?:,[^\]]{0,500})?\]\]/uy;
const anyMarkup = /[\\`*_#+^~$"'<[(:{&]/;
const isWord = (char: string | undefined): boolean =>
  char !== undefined && /[\p{L}\p{N}_]/u.test(char);
const isBlank = (char: string | undefined): boolean => char === undefined || /\s/.test(char);

function pushText({ parts }: Scan, text: string): void {
  if (text !== "") parts.push(text);
}

function opensAt(text: string, at: number, length: number): boolean {
  const before = text[at - 1];
  return !isWord(before) && !/[;:}]/.test(before ?? "") && !isBlank(text[at + length]);
}

const closesAt = (text: string, at: number, length: number): boolean =>
  !isBlank(text[at - 1]) && !isWord(text[at + length]);

const marksOf: Readonly<Record<string, string>> = { "*": "**", _: "*", "#": "" };

/** Removes the role `[.path]` before a mark. Sites draw texts with roles apart, for example as badges. */
function takeRole({ parts, markEnd }: Scan, open: number, before: string): void {
  const text = before.replace(/\[[^[\]\s]{0,100}\]$/, "");
  const isAdjacent = text === "" && before !== "" && markEnd === open - 2;
  parts[open - 1] = isAdjacent ? " " : text;
}

/** `*bold*`, `**b**old`, `_italic_`, `#marked#`: an end without a start stays as written. */
function takeMark(scan: Scan, char: string): void {
  const { text, at, opens, parts, context } = scan;
  const isDouble = text[at + 1] === char;
  const mark = isDouble ? char + char : char;
  scan.at += mark.length;
  const open = opens.get(mark);
  const written = context.isPlain ? "" : (marksOf[char] ?? "");
  if (open !== undefined && open < parts.length - 1 && (isDouble || closesAt(text, at, 1))) {
    parts[open] = written;
    parts.push(written);
    opens.delete(mark);
    // The role of a marked text: `[.path]#text#`.
    const role = parts[open - 1];
    if (role?.endsWith("]")) takeRole(scan, open, role);
    scan.markEnd = parts.length - 1;
    return;
  }
  if (open === undefined && (isDouble || opensAt(text, at, 1))) opens.set(mark, parts.length);
  parts.push(mark);
}

// The role of code: `[.path]`.
const codeRole = /(?<![\]\p{L}\p{N}_])\[\.[^[\]\s]{1,100}\]$/u;

function takeCode(scan: Scan): void {
  const { text, at, finder, context, parts } = scan;
  const isDouble = text[at + 1] === "`";
  const isOpen = isDouble || opensAt(text, at, 1);
  const end = !isOpen ? -1 : isDouble ? finder.text("``", at + 2) : finder.closer("`", at + 2);
  const from = at + (isDouble ? 2 : 1);
  if (end <= from) {
    scan.at = from;
    // The end of printed quotation marks, or a printed apostrophe.
    if (!isDouble && /["']/.test(text[from] ?? "") && !isBlank(text[at - 1])) return;
    return void parts.push(text.slice(at, from));
  }
  scan.at = end + (isDouble ? 2 : 1);
  const before = parts.at(-1);
  if (before?.endsWith("]")) parts[parts.length - 1] = before.replace(codeRole, "");
  const code = text.slice(from, end);
  const literal = /^(\+{1,3})(.+)\1$/s.exec(code)?.[2];
  if (literal !== undefined) return void parts.push(codeSpan(literal, context.isPlain));
  const hasLink = /(?:xref|link|https?|image|pass):|<<[^<>]/.test(code);
  const isPlain = context.isPlain || !hasLink;
  // A link within code is worth more than the marks of the code.
  const inner = inlineText(code, { ...context, isPlain, depth: context.depth + 1 });
  parts.push(hasLink ? inner : codeSpan(inner, context.isPlain));
}

/** `+literal+`, `++literal++`, `+++literal+++`. */
function takeLiteral(scan: Scan): void {
  const { text, at, finder, parts } = scan;
  const marks = text.startsWith("+++", at) ? "+++" : text.startsWith("++", at) ? "++" : "+";
  const from = at + marks.length;
  const isOpen = marks !== "+" || opensAt(text, at, 1);
  const end = !isOpen ? -1 : marks === "+" ? finder.closer("+", at + 2) : finder.text(marks, from);
  scan.at = end === -1 ? from : end + marks.length;
  parts.push(end === -1 ? marks : text.slice(from, end));
}

function takeEscape(scan: Scan): void {
  const { text, at, parts } = scan;
  next.lastIndex = at + 1;
  const found = next.exec(text);
  const isMarkup = (found?.index === at + 1 && !isBlank(text[at + 2])) || text[at + 1] === "{";
  const literal = isMarkup && found?.index === at + 1 ? found[0] : "";
  scan.at = at + 1 + literal.length;
  parts.push(isMarkup ? literal : "\\");
}

/** Reads a construct that ends with `close`; returns whether it is one. */
function takeBetween(scan: Scan, open: string, close: string): string | undefined {
  const from = scan.at + open.length;
  const end = scan.finder.text(close, from);
  if (end === -1 || end === from || end - from > 2000) return undefined;
  scan.at = end + close.length;
  return scan.text.slice(from, end);
}

function takeBrackets(scan: Scan, token: string): boolean {
  if (token === "<<") {
    const content = takeBetween(scan, "<<", ">>");
    if (content === undefined) return false;
    const comma = content.indexOf(",");
    const target = comma === -1 ? content : content.slice(0, comma);
    const text = comma === -1 ? "" : content.slice(comma + 1).trim();
    scan.parts.push(macros.reference(scan.context, target.trim(), text));
    return true;
  }
  if (token === "[[") {
    anchor.lastIndex = scan.at + 2;
    const content = anchor.exec(scan.text)?.[0];
    if (content === undefined) return false;
    scan.at += 2 + content.length;
    const [id = "", label = ""] = content.slice(0, -2).split(",", 2);
    addLabel(scan.context.ids, id, label.trim());
    return true;
  }
  const isHidden = scan.text.startsWith("(((", scan.at);
  const term = isHidden ? takeBetween(scan, "(((", ")))") : takeBetween(scan, "((", "))");
  if (term === undefined) return false;
  if (!isHidden)
    scan.parts.push(inlineText(term, { ...scan.context, depth: scan.context.depth + 1 }));
  return true;
}

function take(scan: Scan, token: string): void {
  const { text, at, parts } = scan;
  if (token === "\\") return takeEscape(scan);
  if (token === "`") return takeCode(scan);
  if (token === "+") return takeLiteral(scan);
  if (token.startsWith("&")) {
    scan.at += token.length;
    return void parts.push(decodeHTMLStrict(token));
  }
  if (token === "*" || token === "_" || token === "#") return takeMark(scan, token);
  if (token === "^" || token === "~") {
    // Raised and lowered text has no blanks.
    const content = /^([\^~])([^\s^~]{1,200})\1/.exec(text.slice(at, at + 203))?.[2];
    scan.at += content === undefined ? 1 : content.length + 2;
    if (content === undefined) return void parts.push(token);
    return void parts.push(token === "^" ? raised(content) : content);
  }
  if (token === '"`' || token === "'`") {
    // Quotation marks that are printed curved.
    scan.at += scan.finder.text(`\`${token.charAt(0)}`, at + 2) !== -1 ? 2 : 1;
    return void parts.push(token.charAt(0));
  }
  if (token === "$$") {
    const literal = takeBetween(scan, "$$", "$$");
    if (literal === undefined) scan.at += 2;
    return void parts.push(literal ?? token);
  }
  const isTaken = /^[<[(]/.test(token) ? takeBrackets(scan, token) : macros.takeMacro(scan, token);
  if (isTaken) return;
  scan.at = at + token.length;
  parts.push(token);
}

// Text that stays as written, with its `{`. Longer texts are rare.
const literals =
  /(\+{2,3}).{1,300}?\1|(?<![\p{L}\p{N}_+])\+(?=\S).{0,300}?\S\+(?![\p{L}\p{N}_+])|\bpass:[b-z]?\[[^\]]{0,300}\]/gsu;
const kept = "\u0001";

/** Hides the `{` of literal text from the attributes. */
function hideLiterals(text: string): string {
  const mayHave = text.includes("{") && (text.includes("+") || text.includes("pass:"));
  return mayHave ? text.replace(literals, (each) => each.replaceAll("{", kept)) : text;
}

/** Running text of AsciiDoc as Markdown. The time is linear for any text. */
export function inlineText(written: string, context: InlineContext): string {
  if (context.depth > mostDepth || !anyMarkup.test(written)) return written;
  const text =
    context.depth === 0 ? substitute(context.attributes, hideLiterals(written)) : written;
  const scan: Scan = {
    context,
    text,
    at: 0,
    parts: [],
    opens: new Map(),
    markEnd: -1,
    finder: createFinder(text),
  };
  while (scan.at < text.length) {
    next.lastIndex = scan.at;
    const found = next.exec(text);
    pushText(scan, text.slice(scan.at, found?.index ?? text.length));
    if (!found) break;
    scan.at = found.index;
    take(scan, found[0]);
  }
  const joined = scan.parts.join("");
  return context.depth === 0 ? substituteCharacters(joined).replaceAll(kept, "{") : joined;
}
