import { posix } from "node:path";
import { isMap, textOf, type Value } from "../../front-matter/values.ts";
import { includedText, indented, type Expansion, type Replacement } from "./included.ts";

const include = /^\{\{#(?:include|rustdoc_include|playground)[ \t]+([^\s{}]+)[^\n{}]{0,200}\}\}/;
const title = /^\{\{#title[ \t][^\n{}]{0,200}\}\}/;

// These programs replace nothing in braces, and write no links and ids.
const known =
  /^(?:links|index|gettext|svgbob2?|mermaid|toc|katex|admonish|alerts|emojicodes|pagetoc|footnote|d2|graphviz|plantuml|yml-header|cmdrun|embedify|image-size)$/;
const expression = /^\{\{[^\n{}]{1,300}\}\}/;

/**
 * rust-lang.github.io/mdBook, "Preprocessors": whether a program of the book, of which only its name is
 * known, may replace what stands in braces, and write links and ids. `programs` is the configured table.
 */
export function hasProgram(programs: Value | undefined): boolean {
  if (programs === undefined || !isMap(programs)) return false;
  return Object.keys(programs).some((each) => !known.test(each));
}

/** `{{ summary }}`, which a program of the book replaces by a text that it alone knows. */
function replaceExpression(expansion: Expansion, at: number): Replacement | undefined {
  const { text, log, around, isCode } = expansion;
  const [whole] = expression.exec(text.slice(at, at + 400)) ?? [];
  if (whole === undefined || !hasProgram(around.site?.value("preprocessor")) || isCode(at))
    return undefined;
  log.add("expression", whole, at);
  return { end: at + whole.length, text: "" };
}

/**
 * rust-lang.github.io/mdBook, "MdBook-specific features": `{{#include file:2:5}}` and `{{#include file:name}}`,
 * also in code. A backslash shows them as they are.
 */
export function replaceMdbook(expansion: Expansion, at: number): Replacement | undefined {
  const { text, isCode, chain, around } = expansion;
  const source = textOf(around.site?.value("book.src") ?? null) ?? "src";
  const folder = posix.join(around.site?.prefix ?? "", source, "/").replace(/^\.\//, "");
  // What lies beside the book is read as it is.
  if (chain[0]?.startsWith(folder) !== true) return undefined;
  const rest = text.slice(at, at + 1000);
  if (text[at - 1] === "\\") return undefined;
  const [ofPage] = title.exec(rest) ?? [];
  if (ofPage !== undefined) return { end: at + ofPage.length, text: "" };
  const [whole, name = ""] = include.exec(rest) ?? [];
  if (whole === undefined) return replaceExpression(expansion, at);
  const [, target = name, first, colon, last, section] =
    /^(.*?)(?::(?:(\d*)(?:(:)(\d*))?|([^:]+)))?$/.exec(name) ?? [];
  const from = first === undefined || first === "" ? 1 : Number(first);
  const end = colon === undefined ? from : last === "" ? Number.MAX_SAFE_INTEGER : Number(last);
  const lines = first === undefined ? undefined : [{ from, to: end }];
  const body = includedText(expansion, { target, lines, section, folders: [""] }, at, isCode(at));
  return { end: at + whole.length, text: indented(body, text, at) };
}
