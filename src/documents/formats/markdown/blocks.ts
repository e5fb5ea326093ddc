import { withLoneBlanks } from "../../text/blanks.ts";
import type { GeneratorName } from "../../site/generators.ts";
import { createCodeTest } from "../../text/structure.ts";
import { openedFence, shownCode } from "./fences.ts";

/**
 * The text in the attributes of MDX components and in the parameters of shortcodes: what they
 * show is not known, but the words in a title or a description are shown somewhere.
 */
interface ComponentText {
  /** What heads the content: a title or label, linked if there is a link. */
  label: string | undefined;
  /** Everything else, in order. */
  rest: readonly string[];
  /** A link without words of its own. */
  href: string | undefined;
}

const labelKeys = ["title", "label", "text"];
const calloutNames = new Set(["aside", "admonition", "callout", "alert", "hint"]);
/** Names of boxes whose name is shown as their title. */
const admonitions: ReadonlySet<string> = new Set(
  "abstract attention bug caution check danger error example failure hint important info note question quote seealso success summary tip todo warning".split(
    " ",
  ),
);

/** `FeatureState` and `feature-state` as words: `Feature state`. */
function wordsOf(name: string): string {
  const words = name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim()
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The title that a box shows, for example `Tip: Save often`; undefined for other names. */
export function admonitionLabel(type: string, title = ""): string | undefined {
  const name = type.toLowerCase();
  if (!admonitions.has(name)) return title === "" ? undefined : title;
  const word = wordsOf(name);
  return title === "" || title.toLowerCase().startsWith(name) ? title || word : `${word}: ${title}`;
}

function calloutLabel(name: string, values: ReadonlyMap<string, string>): string | undefined {
  const plain = name.toLowerCase();
  if (admonitions.has(plain) && plain !== "hint") return plain;
  const type = values.get("type");
  // docsy.dev, "alert": its color is not shown as a word.
  return calloutNames.has(plain)
    ? (type ?? (plain === "alert" ? undefined : values.get("color")))
    : undefined;
}

/** A link target as Markdown writes it. */
export const destination = (target: string): string =>
  /[\s()<>]/.test(target) ? `<${target.replace(/[<>\s]+/g, "%20")}>` : target;

const oneLine = (text: string): string => withLoneBlanks(text).trim();

function imageText(values: ReadonlyMap<string, string>): string | undefined {
  const source = values.get("src") ?? values.get("source");
  if (source === undefined || /[\s()]/.test(source)) return undefined;
  return `![${oneLine(values.get("alt") ?? "").replace(/[[\]]/g, " ")}](${source})`;
}

/**
 * The text of a component or shortcode from its plain attributes; `keys` are the attributes whose
 * values are text for readers. A box with content is headed by its type.
 */
export function componentText(
  name: string,
  values: ReadonlyMap<string, string>,
  keys: readonly string[],
  hasContent: boolean,
): ComponentText {
  const texts = new Map(
    keys.flatMap((key) => {
      const text = oneLine(values.get(key) ?? "");
      return text === "" ? [] : [[key, text] as const];
    }),
  );
  const image = texts.has("alt") ? imageText(values) : undefined;
  if (image !== undefined) texts.set("alt", image);
  const version = texts.get("v");
  if (version !== undefined) texts.set("v", `${wordsOf(name)} ${version}`);
  const href = texts.get("href");
  texts.delete("href");
  const labelKey = labelKeys.find((key) => texts.has(key));
  const title = labelKey === undefined ? undefined : texts.get(labelKey);
  if (labelKey !== undefined) texts.delete(labelKey);
  const rest = [...texts.values()];
  const callout = hasContent ? calloutLabel(name, values) : undefined;
  const label = callout === undefined ? title : admonitionLabel(callout, title);
  if (href === undefined) return { label, rest, href };
  if (label !== undefined) {
    return { label: `[${label}](${destination(href)})`, rest, href: undefined };
  }
  const [first, ...others] = rest;
  return first === undefined
    ? { label, rest, href }
    : { label, rest: [`[${first}](${destination(href)})`, ...others], href: undefined };
}

interface Blocks {
  text: string;
  /** Whether it is a note of Obsidian: callouts have titles and names of their own. */
  isNote: boolean;
  /** Offset of the row after the one that is read. */
  next: number;
  /** Rows that are complete, joined now and then: a text can consist of millions of them. */
  pieces: string[];
  done: string[];
  /** Columns that each open container takes from its lines, and where its lines begin. */
  containers: { inner: number; strip: number }[];
  /** Marks of the open fence. */
  fence: string | undefined;
  /** Open `:::` directives. */
  depth: number;
  /** That of the site of the page. */
  generator: GeneratorName | undefined;
}

const rowsPerPiece = 10_000;
const indentOf = (row: string): string => /^[ \t]*/.exec(row)?.[0] ?? "";
const widthOf = (indent: string): number => indent.replaceAll("\t", "    ").length;
const isBlank = (row: string): boolean => row.trim() === "";

function dedent(row: string, columns: number): string {
  if (columns === 0) return row;
  const indent = indentOf(row);
  return " ".repeat(Math.max(0, widthOf(indent) - columns)) + row.slice(indent.length);
}

// `!!! note "Title"` and `??? note` of Python-Markdown, `=== "Tab"` of PyMdown.
const box = /^[ \t]*(!!!|\?\?\?\+?|===[!+]?)[ \t]+([^"]*)(?:"(.*)")?[ \t]*$/;

function boxLabel(row: string): string | undefined {
  const [, mark = "", names = "", title] = box.exec(row) ?? [];
  if (mark.startsWith("=")) return names === "" ? title : undefined;
  const [type = "", ...others] = names.trim().split(/[ \t]+/);
  const isBox = mark !== "" && others.length < 4 && (/^[\w-]+$/.test(type) || title !== undefined);
  if (!isBox) return undefined;
  // An empty title hides it.
  if (title === "") return "";
  return admonitionLabel(type, title) ?? type.charAt(0).toUpperCase() + type.slice(1);
}

/** Indentation of the next row with text. */
function nextIndent({ text, next }: Blocks): string {
  let start = next;
  let at = next;
  for (; isBlank(text[at] ?? "x"); at++) if (text[at] === "\n") start = at + 1;
  return at < text.length ? text.slice(start, at) : "";
}

function isNextBlank({ text, next }: Blocks): boolean {
  const end = text.indexOf("\n", next);
  return isBlank(text.slice(next, end === -1 ? undefined : end));
}

/** Begins a container if indented lines follow. */
function openBox(blocks: Blocks, row: string, strip: number): boolean {
  const label = boxLabel(row);
  if (label === undefined) return false;
  const indent = indentOf(row);
  const inner = widthOf(indent) + strip + 4;
  if (widthOf(nextIndent(blocks)) < inner) return false;
  blocks.containers.push({ inner, strip: strip + 4 });
  if (label !== "") blocks.done.push(`${indent}**${label}**`);
  if (!isNextBlank(blocks)) blocks.done.push("");
  return true;
}

const directive = /^([ \t]*)(:{3,})[ \t]*(.*)$/;

/** The label of `:::name[Title]{title="T"}`, `::: name Title` or `:::{.callout-name title="T"}`. */
function directiveLabel(text: string): string | undefined {
  const [, brace = "", name = "", afterName = ""] =
    /^(\{?)\.?(?:callout-)?([A-Za-z][\w-]*)\}?(.*)$/.exec(text) ?? [];
  const [, inBrackets, afterBrackets = afterName] = /^\[(.*)\](.*)$/.exec(afterName) ?? [];
  const [, attribute] = /\btitle="([^"]*)"/.exec(afterBrackets) ?? [];
  const braces = brace === "" ? /\{[^{}]*\}$/ : /\}$/;
  return admonitionLabel(name, inBrackets ?? attribute ?? afterBrackets.replace(braces, "").trim());
}

// `:::image source="a.png":::`, `:::row:::`, `::: moniker-end` and the like of DocFX.
const docfx =
  /^(?:(?:image|row|column|moniker|zone)-end|image[ \t].*:::|(?:row|column)\b.*:::|moniker[ \t]+range=.*|zone[ \t]+(?:pivot|target)=.*)/;

/** A directive of DocFX as Markdown: an image, or nothing. */
export function docfxText(text: string): string | undefined {
  if (!docfx.test(text)) return undefined;
  const [, source = ""] = /\bsource="([^"]*)"/.exec(text) ?? [];
  const [, alt = ""] = /\balt-text="([^"]*)"/.exec(text) ?? [];
  return source === "" ? "" : `![${alt.replace(/[[\]]/g, " ")}](${destination(source)})`;
}

function endDirective(blocks: Blocks): boolean {
  if (blocks.depth === 0) return false;
  blocks.depth--;
  blocks.done.push("");
  return true;
}

function openDirective(blocks: Blocks, label: string | undefined): boolean {
  blocks.depth++;
  if (label !== undefined) blocks.done.push(label);
  if (!isNextBlank(blocks)) blocks.done.push("");
  return true;
}

function readDirective(blocks: Blocks, row: string): boolean {
  const [, indent = "", marks, text = ""] = (row.includes(":::") && directive.exec(row)) || [];
  if (marks === undefined) return false;
  if (text.trim() === "") return endDirective(blocks);
  // `::: package.module` of mkdocstrings stays: its text comes from code.
  if (!/^[A-Za-z{]/.test(text) || /^\w+\./.test(text)) return false;
  const image = docfxText(text);
  if (image !== undefined) return blocks.done.push(image && indent + image) > 0;
  // Another directive that ends on its line stays as written.
  if (/^[A-Za-z][\w-]*[ \t].*:::/.test(text)) return false;
  const label = directiveLabel(text.trim());
  return openDirective(blocks, label && `${indent}**${label}**`);
}

// docs.github.com, "Alerts"; help.obsidian.md, "Callouts".
const callout =
  /^((?:[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t])?[ \t]*(?:>[ \t]?)+)[ \t]*\[!([A-Za-z][\w -]{0,50})(?:\|[^\]\n]{0,200})?\]([+-]?)(?:\s+(.*))?$/;

/** `> [!NOTE]` as a bold line, with a blank line of the quotation below it. */
function readCallout(blocks: Blocks, row: string): boolean {
  const found = row.includes("[!") ? callout.exec(row) : null;
  if (!found) return false;
  const [, marks = "", name = "", fold, title = ""] = found;
  const shown = title.trim();
  const isPlain = fold === "" && shown === "";
  const label = blocks.isNote
    ? shown || wordsOf(name)
    : isPlain
      ? admonitionLabel(name)
      : undefined;
  if (label === undefined) return false;
  blocks.done.push(`${marks}**${label}**`);
  const rest = marks.replace(/[-*+\d.)](?=.*>)/g, " ").trimEnd();
  const { text, next } = blocks;
  const end = text.indexOf("\n", next);
  const below = text.slice(next, end === -1 ? undefined : end);
  if (/^[ \t]*>.*[^>\s]/.test(below)) blocks.done.push(rest);
  return true;
}

// `/// note | Title` of PyMdown, up to a line `///`.
const slashes = /^([ \t]*)\/{3,}[ \t]*(?:([A-Za-z][\w-]*)[ \t]*(?:\|[ \t]*(.*))?)?$/;

function readSlashes(blocks: Blocks, row: string): boolean {
  const found = row.includes("///") ? slashes.exec(row) : undefined;
  if (!found) return false;
  const [, indent = "", name, title] = found;
  if (name === undefined) return endDirective(blocks);
  const label = admonitionLabel(name, title?.trim());
  return openDirective(blocks, label && `${indent}**${label}**`);
}

const wholeList = /^[ \t]*(?:\{:[^{}]*\}|\{[ \t]*[.#][\w-]+(?:[ \t]+[^{}]*)?\})[ \t]*$/;
const headingList = /^\{:?[ \t]*\.[^{}#]*\}[ \t]*$/;
const inlineList =
  /(?<=[)\]*`_>]|\w:)\{(?::[^{}]*|[ \t]*(?:[.#][\w-]+(?:[ \t]+[^{}]*)?|[\w-]+="[^"{}]*"[^{}]*))\}/g;

// `{ width=50% }` of an image or a link: elsewhere it is more likely a formula.
const targetList = /(?<=[)\]])\{[ \t]*[\w-]+=[^\s"'{}]+(?:[ \t]+[^{}]*)?\}/g;

// Python-Markdown and kramdown: at the end of a list item, and at its start.
const itemMark = /^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+/;
const itemLists =
  /^\{:[^{}]*\}[ \t]*|[ \t]+\{(?::[^{}]*|[ \t]*[.#][\w-]+(?:[ \t]+[^{}]*)?)\}[ \t]*$/g;

// At the end of a cell, before the bar.
const cellList = /\{(?::[^{}|]*|[ \t]*[.#][\w-]+(?:[ \t]+[^{}|]*)?)\}(?=[ \t]*\|)/g;

/** kramdown writes the id of a heading on the line below it. */
function moveOwnId({ done }: Blocks, row: string): void {
  const [, id] = /#([^\s{}]+)/.exec(row) ?? [];
  const above = done.at(-1) ?? "";
  const at = /^ {0,3}#{1,6}[ \t]/.test(above) ? -1 : /^ {0,3}(?:=+|-+)[ \t]*$/.test(above) ? -2 : 0;
  const heading = at === 0 ? undefined : done.at(at);
  if (id !== undefined && heading) done[done.length + at] = `${heading.trimEnd()} {#${id}}`;
}

/** Removes the classes of Python-Markdown, kramdown and Goldmark. The id of a heading stays. */
function withoutAttributes(row: string): string {
  if (/^[ \t]*#{1,6}[ \t]/.test(row)) {
    const last = row.lastIndexOf("{");
    return headingList.test(row.slice(last)) ? row.slice(0, last).trimEnd() : row;
  }
  const withoutLists = (text: string, lists: RegExp): string => {
    const isCode = createCodeTest(text);
    return text.replace(lists, (list: string, offset: number) => (isCode(offset) ? list : ""));
  };
  const inLine = withoutLists(withoutLists(row, inlineList), targetList);
  const [mark] = itemMark.exec(inLine) ?? [];
  const shown =
    mark === undefined ? inLine : mark + withoutLists(inLine.slice(mark.length), itemLists);
  return row.includes("|") ? withoutLists(shown, cellList) : shown;
}

function readText(blocks: Blocks, row: string): void {
  const { done } = blocks;
  const mayHaveList = row.includes("{") && /\{(?::|[ \t]*(?:[.#]|[\w-]{1,30}=))/.test(row);
  if (mayHaveList && wholeList.test(row)) {
    moveOwnId(blocks, row);
    done.push("");
  } else done.push(mayHaveList ? withoutAttributes(row) : row);
}

const fenceStart = /^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})(.*)$/;

function opensFence(row: string): string | undefined {
  if (!row.includes("```") && !row.includes("~~~")) return undefined;
  const [, marks, info = ""] = fenceStart.exec(row) ?? [];
  return marks !== undefined && !(marks.startsWith("`") && info.includes("`")) ? marks : undefined;
}

function closesFence(row: string, marks: string): boolean {
  const text = row.replace(/^[ \t>]+/, "").trimEnd();
  return text.length >= marks.length && text === (marks[0] ?? "").repeat(text.length);
}

function readRow(blocks: Blocks, source: string): void {
  const { containers, done } = blocks;
  if (containers.length > 0 && !isBlank(source)) {
    const width = widthOf(indentOf(source));
    // Lines with less indentation end a container, and with it an open fence.
    while (width < (containers.at(-1)?.inner ?? 0)) {
      containers.pop();
      blocks.fence = undefined;
    }
  }
  const strip = containers.at(-1)?.strip ?? 0;
  const row = dedent(source, strip);
  if (blocks.fence !== undefined) {
    if (closesFence(row, blocks.fence)) blocks.fence = undefined;
    const shown = shownCode(row, blocks.generator);
    if (shown !== undefined) done.push(shown);
    return;
  }
  blocks.fence = opensFence(row);
  if (blocks.fence !== undefined) {
    done.push(...openedFence(row, blocks.generator));
    return;
  }
  const isBlock =
    openBox(blocks, row, strip) ||
    readDirective(blocks, row) ||
    readSlashes(blocks, row) ||
    readCallout(blocks, row);
  if (!isBlock) readText(blocks, row);
}

// Most pages have none of these. `{{.Title}}` is of a template.
const blockMark =
  /:::|>[ \t]*\[!|!!! |\?\?\?|=== "|8<--|<<< |\/\/\/ |\{:|\{ [.#]|(?<!\{)\{\.[A-Za-z]|[)\]]\{[ \t]*[\w-]+=/;

/**
 * Writes admonitions, tabs and directives of site generators as plain Markdown: their titles as
 * bold lines, their content without indentation, so that it does not read as code. Removes
 * attribute lists, and what only programs read of the blocks of code of a site of `generator`. The time is linear in the length of the text.
 */
export function readBlocks(text: string, generator?: GeneratorName): string {
  if (!blockMark.test(text) && !(generator && text.includes("```"))) return text;
  const blocks: Blocks = {
    text,
    isNote: generator === "obsidian",
    next: 0,
    pieces: [],
    done: [],
    containers: [],
    fence: undefined,
    depth: 0,
    generator,
  };
  while (blocks.next <= text.length) {
    const start = blocks.next;
    const end = text.indexOf("\n", start);
    const rowEnd = end === -1 ? text.length : end;
    blocks.next = rowEnd + 1;
    readRow(blocks, text.slice(start, rowEnd));
    if (blocks.done.length >= rowsPerPiece) blocks.pieces.push(blocks.done.splice(0).join("\n"));
  }
  if (blocks.done.length > 0) blocks.pieces.push(blocks.done.join("\n"));
  return blocks.pieces.join("\n");
}
