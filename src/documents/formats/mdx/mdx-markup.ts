import { componentText, destination } from "../markdown/blocks.ts";
import {
  endLine,
  strip,
  write,
  writeBlock,
  type Lines,
  type Import,
  type Scan,
} from "./mdx-scan.ts";
import { readTag, type Tag } from "./mdx-tags.ts";
import { isComment, valueOf } from "./mdx-js.ts";
import { hidesElement } from "../../text/hides.ts";
import type { HiddenKind } from "../../text/left-out.ts";

// These tags can be within words. All other tags separate words.
const inlineNames = new Set(
  "a abbr b bdi bdo cite code dfn em font i ins kbd mark q s samp small span strong sub sup u var".split(
    " ",
  ),
);

/** Whether a name is that of a component, not of an element of HTML. */
const isComponent = (name: string): boolean => /^[A-Z]|[.-]/.test(name);

const unseenNames: ReadonlySet<string> = new Set(["script", "style", "template", "svg"]);

/** `<template #name>`, `<template v-if>`: Vue shows what is in it (vuejs.org, "Slots"). */
const isShownTemplate = ({ page }: Scan, { name }: Tag): boolean =>
  name === "template" && page.isVue;

/** Why nobody sees an element; undefined for one that is seen. A component decides for itself. */
function unseenKind(scan: Scan, tag: Tag): HiddenKind | undefined {
  const { page } = scan;
  const { name, kind, attributes, codes } = tag;
  if (kind === "close" || isComponent(name)) return undefined;
  if (unseenNames.has(name) && !isShownTemplate(scan, tag)) return "script";
  // docusaurus.io, "Head metadata".
  if (name === "head") return "hidden";
  if (page.keepsHidden) return undefined;
  const all = new Map([...attributes].map(([key, value]) => [key.toLowerCase(), value]));
  const style = /\bdisplay["']?\s*:\s*(["'`])([a-z-]+)\1/i.exec(codes.get("style") ?? "")?.[2];
  if (style !== undefined) all.set("style", `display: ${style}`);
  if (tag.flags.has("hidden") || codes.get("hidden")?.trim() === "true") all.set("hidden", "");
  return hidesElement(all, page.isControlled) ? "hidden" : undefined;
}

/** Offset after the end tag of an element; -1 if it never closes. */
function endOfElement({ text, missing }: Scan, name: string, from: number): number {
  if (missing.has(`</${name}`)) return -1;
  const pattern = new RegExp(`<(/?)${name}(?=[\\s/>])(?:[^<>]{0,1000}(/)>)?`, "g");
  pattern.lastIndex = from;
  let depth = 1;
  for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
    const [, slash, single] = found;
    if (slash === "/") depth--;
    else if (single === undefined) depth++;
    const end = depth === 0 ? text.indexOf(">", found.index) : -1;
    if (end !== -1) return end + 1;
  }
  missing.add(`</${name}`);
  return -1;
}

/** Skips an element that nobody sees, with its content; false if it is seen. */
function skipUnseen(scan: Scan, tag: Tag): boolean {
  const kind = unseenKind(scan, tag);
  if (kind === undefined) return false;
  const { at, lines, page } = scan;
  const { name, end } = tag;
  const to = tag.kind === "single" ? end : endOfElement(scan, name, end);
  if (to === -1) return false;
  if (scan.ignored === 0) page.log.add(kind, `<${name}>`, at);
  strip(lines, !inlineNames.has(name));
  scan.at = to;
  return true;
}

// Attributes that no page shows, although their values have several words.
const hiddenKeys =
  /^(?:class|className|id|key|value|groupId|style|styles|sizes|src|srcSet|allow|rel|points|viewBox|transform|role|media|icon|width|height|color|size|variant|theme|align|target|data-.*|aria-.*|on[A-Z].*|client:.*)$/;
// A longer text is no text of a link.
const longestLink = 2000;

const lineRest = /[ \t]*(?:\n|$)/y;

/** Whether nothing else stands on the lines of a tag. */
function isAlone({ lines, text }: Scan, end: number): boolean {
  lineRest.lastIndex = end;
  return !lines.hasText && lineRest.test(text);
}

/** A fence around code that is longer than each run of its marks in the code. */
function fenced(code: string, language: string): string {
  const longest = Math.max(2, ...[...code.matchAll(/`{3,}/g)].map(([run]) => run.length));
  const marks = "`".repeat(Math.min(longest, 100) + 1);
  return `${marks}${language}\n${code.replace(/\n+$/, "")}\n${marks}`;
}

/** Plain values of a tag, with those that only its file knows. Counts values that are text and code. */
function valuesOf(scan: Scan, { attributes, codes, name }: Tag, at: number): Map<string, string> {
  const { page } = scan;
  const values = new Map(attributes);
  for (const [key, code] of codes) {
    const isJsx = /^\s*</.test(code);
    const value = isJsx ? page.inner(code, at) : valueOf(code, page.scope);
    const isKept = page.componentAttributes.includes(key) && isComponent(name);
    if (value !== undefined) values.set(key, value);
    else if (isKept && scan.ignored === 0 && !isComment(code)) {
      page.log.add("expression", `${key}={${code}}`, at);
    }
  }
  return values;
}

/** Begins the text of a link if the element closes in the same paragraph. */
function openLink(scan: Scan, { name, end }: Tag, href: string): boolean {
  const rest = scan.text.slice(end, end + longestLink);
  const close = rest.indexOf(`</${name}`);
  const inner = close === -1 ? "" : rest.slice(0, close);
  // A link in a link is none.
  if (inner.trim() === "" || /\n[ \t]*\n|\]\(/.test(inner)) return false;
  strip(scan.lines, name !== "a");
  write(scan.lines, "[");
  scan.at += /^\s*/.exec(inner)?.[0].length ?? 0;
  scan.links.push({ name, href });
  return true;
}

function closeLink({ links, lines }: Scan, name: string): boolean {
  const link = links.at(-1);
  if (link?.name !== name) return false;
  links.pop();
  write(lines, `](${destination(link.href)})`);
  return true;
}

function writeTexts(scan: Scan, texts: readonly string[], end: number): void {
  const { lines, text } = scan;
  if (texts.length === 0) return strip(lines, true);
  if (isAlone(scan, end)) return writeBlock(lines, texts.join("\n"));
  strip(lines, true);
  write(lines, texts.join(" "));
  lines.fromAttributes.push(texts.join(" "));
  if (/[\p{L}\p{N}]/u.test(text[end] ?? "")) write(lines, " ");
}

/** Writes an imported file in place of its tag or of the expression that names it. */
export function writeImport(
  scan: Scan,
  imported: Import,
  values: ReadonlyMap<string, string>,
  [at, end]: readonly [number, number],
): void {
  const { lines, page } = scan;
  const text = page.include(imported, values, at).trim();
  const shown = imported.kind === "code" && text !== "" ? fenced(text, "") : text;
  if (shown === "") strip(lines, true);
  else if (isAlone(scan, end)) writeBlock(lines, shown);
  else write(lines, shown.includes("\n") ? `\n\n${shown}\n\n` : shown);
}

/** Docusaurus takes the label of a tab from its own attributes, or from those of all tabs. */
function labelTab({ tabs }: Scan, { name, codes }: Tag, values: Map<string, string>): void {
  if (name === "Tabs") {
    for (const [tab] of codes.get("values")?.matchAll(/\{[^{}]*\}/g) ?? []) {
      const [, , value] = /\bvalue\s*:\s*(["'`])(.*?)\1/.exec(tab) ?? [];
      const [, , label] = /\blabel\s*:\s*(["'`])(.*?)\1/.exec(tab) ?? [];
      if (value !== undefined && label !== undefined) tabs.set(value, label);
    }
  }
  const value = values.get("value");
  if (name !== "TabItem" || value === undefined || values.has("label")) return;
  values.set("label", tabs.get(value) ?? value);
}

const fieldNames = ["path", "query", "body", "header", "name"];

/** mintlify.com, "Fields": the name of a field and its type stand in its attributes. */
function labelField({ name, flags }: Tag, values: Map<string, string>): void {
  if (!/^(?:Param|Response)Field$/.test(name)) return;
  const key = fieldNames.find((each) => values.has(each));
  if (key === undefined) return;
  const words = [values.get(key), values.get("type"), flags.has("required") && "required"];
  values.set("title", words.filter(Boolean).join(" "));
  for (const each of [...fieldNames, "type"]) values.delete(each);
}

/**
 * Counts values that are no text of the document: those of several words, and all of a component that
 * shows nothing else.
 */
function countTexts(
  { page, ignored }: Scan,
  values: ReadonlyMap<string, string>,
  tag: Tag,
  at: number,
): void {
  if (ignored > 0) return;
  const isShown = page.componentAttributes.some((key) => values.has(key));
  const text = tag.kind === "single" && !isShown ? /[\p{L}\p{N}]/u : /\p{L}\S*\s+\S*\p{L}/u;
  for (const [key, value] of values) {
    const isKept = page.componentAttributes.includes(key) || hiddenKeys.test(key);
    if (isKept || !text.test(value)) continue;
    page.log.add("attribute", `${key} of ${tag.name}`, at);
  }
}

function scanComponent(scan: Scan, tag: Tag, at: number): void {
  const { page, lines } = scan;
  const { name, kind } = tag;
  const values = valuesOf(scan, tag, at);
  labelTab(scan, tag, values);
  labelField(tag, values);
  const imported = page.imports.get(name);
  if (imported?.kind === "text") return writeImport(scan, imported, values, [at, tag.end]);
  const code = /^Code(?:Block)?$/.test(name) ? tag.codes.get("code") : undefined;
  const shown = page.imports.get(code?.trim() ?? "");
  if (shown) return writeImport(scan, shown, values, [at, tag.end]);
  const literal = /^Code(?:Block)?$/.test(name) ? values.get("code") : undefined;
  if (literal !== undefined && isAlone(scan, tag.end)) {
    return writeBlock(lines, fenced(literal, values.get("lang") ?? values.get("language") ?? ""));
  }
  countTexts(scan, values, tag, at);
  const hasContent = kind === "open";
  const found = componentText(name, values, page.componentAttributes, hasContent);
  const { label, rest, href } = found;
  if (hasContent && href !== undefined && openLink(scan, tag, href)) return;
  const head = label === undefined || !hasContent ? label : `**${label}**`;
  const link = href === undefined ? undefined : `<${href}>`;
  const texts = [head, ...rest, link].filter((each) => each !== undefined);
  writeTexts(scan, texts, tag.end);
}

function writeHeading({ lines, text, at }: Scan, level: string): number {
  lines.line = [];
  write(lines, `${"#".repeat(Number(level))} `);
  return /^\s*/.exec(text.slice(at, at + 200))?.[0].length ?? 0;
}

function writeImage(lines: Lines, values: ReadonlyMap<string, string>): void {
  const alt = (values.get("alt") ?? "").replace(/[[\]\n]/g, " ");
  const source = values.get("src");
  const isTarget = source !== undefined && !/[\s()]/.test(source);
  if (!isTarget) strip(lines, true);
  write(lines, isTarget ? `![${alt}](${source})` : alt);
}

/** Keeps the numbers of a list, and the cells of a row on one line apart. */
function markItem(scan: Scan, tag: Tag, at: number): void {
  const { lines, lists, text } = scan;
  const { name, kind, end } = tag;
  if (name === "ol" || name === "ul") {
    if (kind === "close") lists.pop();
    else if (kind === "open") {
      const start = Number(valuesOf(scan, tag, at).get("start") ?? 1) || 1;
      lists.push(name === "ol" ? start - 1 : undefined);
    }
  } else if ((name === "td" || name === "th") && kind === "open" && lines.hasText) {
    write(lines, "| ");
  } else if (name === "li" && kind === "open" && lists.length > 0) {
    const last = lists.at(-1);
    if (last !== undefined) lists[lists.length - 1] = last + 1;
    // An item of blocks begins below its tag.
    lineRest.lastIndex = end;
    if (lineRest.test(text)) return;
    if (lines.hasText) endLine(lines);
    write(lines, last === undefined ? "- " : `${last + 1}. `);
  }
}

function scanTag(scan: Scan, tag: Tag): void {
  const { lines, at } = scan;
  const { name, kind } = tag;
  scan.at = tag.end;
  // `v-pre` of Vue: expressions in it are text.
  if (tag.flags.has("v-pre") && kind === "open" && at >= scan.rawUntil) {
    scan.rawUntil = Math.max(scan.rawUntil, endOfElement(scan, name, tag.end));
  }
  const level = /^h([1-6])$/.exec(name)?.[1];
  const href = tag.attributes.get("href");
  if (kind === "close") {
    if (!closeLink(scan, name)) strip(lines, !inlineNames.has(name) && name !== "");
    markItem(scan, tag, at);
  } else if (isComponent(name)) scanComponent(scan, tag, at);
  else if (level !== undefined && kind === "open" && !lines.hasText) {
    scan.at += writeHeading(scan, level);
  } else if (name === "img") writeImage(lines, valuesOf(scan, tag, at));
  else if (!(name === "a" && href !== undefined && kind === "open" && openLink(scan, tag, href))) {
    strip(lines, !inlineNames.has(name) && name !== "");
    markItem(scan, tag, at);
  }
}

/** Handles a comment or a tag at a "<"; false if there is none. */
export function scanMarkup(scan: Scan): boolean {
  const { text, at, lines, missing } = scan;
  if (text.startsWith("<!--", at)) {
    const end = missing.has("-->") ? -1 : text.indexOf("-->", at + 4);
    if (end === -1) {
      missing.add("-->");
      return false;
    }
    const comment = text.slice(at, end + 3);
    const [, slash] = /^<!--[ \t]*(\/?)knowctl:ignore[ \t]*-->$/.exec(comment) ?? [];
    if (slash === undefined) {
      strip(lines, false);
      if (scan.ignored === 0) scan.page.log.add("comment", "", at);
    } else {
      write(lines, comment);
      scan.ignored = Math.max(0, scan.ignored + (slash === "" ? 1 : -1));
    }
    scan.at = end + 3;
    return true;
  }
  const tag = readTag(text, at, scan.fuel, scan.page.isVue);
  if (tag && !skipUnseen(scan, tag)) scanTag(scan, tag);
  return tag !== undefined;
}
