import { posix } from "node:path";
import { isOtherComponent, relativeResource } from "./antora.ts";
import { parseList } from "../source/attribute-list.ts";
import { destination } from "../../../../page/pieces.ts";
import * as ids from "./ids.ts";
import type { InlineContext, Scan } from "./inline-context.ts";

const inner = (context: InlineContext, text: string): string =>
  context.convert(text.replace(/\\\]/g, "]"), { ...context, depth: context.depth + 1 });

/** The text of a link without its options: `[text,window=_blank]`, `[text^]`. */
function linkText(written: string): string {
  const hasOptions = written.includes("=") && !/^(?:image|icon):/.test(written);
  const text = hasOptions ? (parseList(written).positional[0] ?? "") : written;
  return text
    .replace(/\^$/, "")
    .trim()
    .replace(/^"(.*)"$/s, "$1");
}

function link(context: InlineContext, target: string, written: string): string {
  const text = inner(context, linkText(written));
  const to = destination(target);
  if (context.isPlain || to === undefined) return text === "" ? target : text;
  if (text === "" || text === target) return target;
  return `[${text}](${to})`;
}

/** A reference: to a place on the page, or to another page of the site. */
export function reference(context: InlineContext, target: string, written: string): string {
  const text = linkText(written);
  const isOther = /\.(?:adoc|asciidoc|asc|html?)(?:#|$)|[:$]/.test(target);
  if (isOther) {
    const [file = "", fragment] = target.split("#", 2);
    const path = relativeResource(file, context.path, "page") ?? file;
    const page = posix.join(posix.dirname(context.path), path);
    if (page === context.path && fragment) return reference(context, `#${fragment}`, written);
    const start = Math.max(file.lastIndexOf(":"), file.lastIndexOf("$")) + 1;
    const name = posix.basename(file.slice(start)).replace(/\.\w+$/, "");
    const anchor = fragment === undefined || fragment === "" ? "" : `#${fragment}`;
    if (isOtherComponent(file)) return text === "" ? name : inner(context, text);
    const title = text === "" ? context.titleOf(page)?.replaceAll("]", "\\]") : text;
    return link(context, path + anchor, title ?? name);
  }
  const id = target.replace(/^#/, "");
  const shown = text === "" ? ids.reference("t", id) : inner(context, text);
  return context.isPlain ? shown : `[${shown}](#${ids.reference("l", id)})`;
}

/** An image; in plain text its alternative text. */
export function image(context: InlineContext, target: string, written: string): string {
  const { positional, named } = parseList(written);
  const name = posix
    .basename(target)
    .replace(/\.\w+$/, "")
    .replace(/[-_]/g, " ");
  const alt = (named.get("alt") || positional[0] || name).replace(/[[\]\s]+/g, " ").trim();
  if (context.isPlain) return alt;
  const folder = context.attributes.values.get("imagesdir") ?? "";
  const isAlone = /^(?:[a-z][a-z\d+.-]*:\/\/|\/|data:)/i.test(target);
  const joined = isAlone || folder === "" ? target : posix.join(folder, target);
  const source = relativeResource(target, context.path, "image") ?? joined;
  const isNameable = /^(?!data:)[^\s()<>]{1,2000}$/i.test(source);
  const text = isNameable ? `![${alt}](${source})` : alt;
  const to = named.get("link");
  const address = to === undefined ? undefined : destination(to);
  return address === undefined ? text : `[${text}](${address})`;
}

function footnote(context: InlineContext, id: string, text: string): string {
  const { footnotes } = context;
  if (context.isPlain) return "";
  let number = id === "" ? undefined : footnotes.byId.get(id);
  if (number === undefined) {
    if (text === "") return "";
    footnotes.texts.push("");
    number = footnotes.texts.length;
    if (id !== "") footnotes.byId.set(id, number);
    footnotes.texts[number - 1] = inner(context, text.replace(/\s+/g, " "));
  }
  return `[^${number}]`;
}

function macroText(context: InlineContext, name: string, target: string, text: string): string {
  switch (name) {
    case "link":
      return link(context, target, text);
    case "mailto":
      return link(context, `mailto:${target}`, text === "" ? target : text);
    case "xref":
      return reference(context, target, text);
    case "image":
      return image(context, target, text);
    case "icon":
      return parseList(text).named.get("title") ?? target;
    case "menu":
      return [target, text].filter((each) => each !== "").join(" > ");
    case "footnote":
      return footnote(context, target, text);
    case "footnoteref": {
      const comma = text.indexOf(",");
      return comma === -1
        ? footnote(context, text, "")
        : footnote(context, text.slice(0, comma), text.slice(comma + 1).trim());
    }
    case "pass":
      return target.includes("q") ? inner(context, text) : text;
    case "anchor":
      ids.addLabel(context.ids, target, text);
      return "";
    case "indexterm":
      return "";
    default:
      return text;
  }
}

/** Reads an address or a macro at the place of the scan. Returns whether it is one. */
export function takeMacro(scan: Scan, token: string): boolean {
  const { text, at, finder, context } = scan;
  const isAddress = token.endsWith("//");
  const name = token.slice(0, -1);
  const from = isAddress ? at : at + token.length;
  // `link:++any text++[…]`
  const literalEnd = text.startsWith("++", from) ? finder.text("++[", from + 2) : -1;
  const end = literalEnd === -1 ? finder.addressEnd(from) : literalEnd + 2;
  const target = literalEnd === -1 ? text.slice(from, end) : text.slice(from + 2, literalEnd);
  if (text[end] !== "[") {
    if (!isAddress) return false;
    scan.parts.push(target);
    scan.at = end;
    return true;
  }
  const isNested = name === "footnote" || /^\[(?:image|icon):/.test(text.slice(end, end + 7));
  const nested = isNested ? finder.bracket(end, true) : -1;
  const close = nested === -1 ? finder.bracket(end, false) : nested;
  if (close === -1) return false;
  const content = text.slice(end + 1, close).replaceAll("\\]", "]");
  scan.at = close + 1;
  scan.parts.push(
    isAddress ? link(context, target, content) : macroText(context, name, target, content),
  );
  return true;
}
