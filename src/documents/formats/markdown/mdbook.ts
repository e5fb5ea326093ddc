import { posix } from "node:path";
import { textOf } from "../../front-matter/values.ts";
import { includedText, indented, type Expansion, type Replacement } from "./included.ts";

const include = /^\{\{#(?:include|rustdoc_include|playground)[ \t]+([^\s{}]+)[^\n{}]{0,200}\}\}/;
const title = /^\{\{#title[ \t][^\n{}]{0,200}\}\}/;

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
  if (whole === undefined) return undefined;
  const [, target = name, first, colon, last, section] =
    /^(.*?)(?::(?:(\d*)(?:(:)(\d*))?|([^:]+)))?$/.exec(name) ?? [];
  const from = first === undefined || first === "" ? 1 : Number(first);
  const end = colon === undefined ? from : last === "" ? Number.MAX_SAFE_INTEGER : Number(last);
  const lines = first === undefined ? undefined : [{ from, to: end }];
  const body = includedText(expansion, { target, lines, section, folders: [""] }, at, isCode(at));
  return { end: at + whole.length, text: indented(body, text, at) };
}
