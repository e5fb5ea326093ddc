import type {
  AbstractBlock,
  AbstractNode,
  Document,
  Inline,
  List,
  Section,
} from "@asciidoctor/core";
import { posix } from "node:path";
import type { Reference, Surroundings } from "../format.ts";
import { isOtherComponent, relativeFile, resourcePath } from "./antora.ts";

/** What the text of a page refers to outside of it. */
export interface Page {
  /** Root-relative. */
  path: string;
  around: Surroundings;
  /** The title of another page, with its markup, by its root-relative path. */
  titleOf: (path: string) => string | undefined;
  /** The references of the page, in the order of their conversion. */
  references: Reference[];
  /** The files that the page includes, root-relative, by the lines of its body. */
  included: ReadonlyMap<number, string>;
}

/** A node of the document model. */
type Node = AbstractBlock<string | AbstractBlock[]>;
type Html = string | Promise<string>;

/** What the types of the library lack. */
interface Substitutes {
  applySubs(text: string, subs: string[]): Promise<string>;
}

interface Cell {
  text: string;
  style: string | undefined;
  colspan: number | undefined;
  rowspan: number | undefined;
  content(): Promise<string | string[]>;
  innerDocument: Document | null;
}

const attribute = (text: string): string => text.replaceAll('"', "&quot;");
const idOf = ({ id }: { id?: string | null | undefined }): string =>
  id ? ` id="${attribute(id)}"` : "";

/** The value of an attribute as text; "" without it. */
const valueOf = (node: AbstractNode, name: string): string => {
  const value: unknown = node.getAttribute(name);
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
};

const joined = (parts: readonly string[], between: string): string =>
  parts.filter((each) => each !== "").join(between);
const paragraph = (html: string): string => (html === "" ? "" : `<p>${html}</p>\n`);
const titleOf = (node: Node): string => (node.hasTitle() ? paragraph(node.captionedTitle()) : "");
const contentOf = async (node: Node): Promise<string> => String((await node.content()) ?? "");

const withTitle = async (node: Node): Promise<string> => titleOf(node) + (await contentOf(node));

/** `tag` around the content, below the title. */
const within =
  (open: string, close: string) =>
  async (node: Node): Promise<string> =>
    `${titleOf(node)}${open}${await contentOf(node)}${close}\n`;

/** The number before the title of a section, if sections have one. */
function numberOf(node: Section): string {
  const { attributes, doctype } = node.document;
  const level = node.level ?? 1;
  if (!node.numbered || level > Number(attributes["sectnumlevels"] ?? 3)) return "";
  const name = level < 2 && doctype === "book" ? (node.sectname ?? "") : "";
  const signifier = valueOf(node.document, `${name}-signifier`);
  const number = name === "part" ? node.sectnum(undefined, ":") : node.sectnum();
  return `${signifier === "" ? "" : `${signifier} `}${number} `;
}

const heading = (level: number, node: Node, title: string): string => {
  const name = `h${Math.min(6, level + 1)}`;
  return `<${name}${idOf(node)}>${title}</${name}>\n`;
};

async function section(node: Section): Promise<string> {
  const title = node.caption ? node.captionedTitle() : numberOf(node) + (node.title ?? "");
  return heading(node.level ?? 1, node, title) + (await contentOf(node));
}

async function code(node: Node): Promise<string> {
  const language = node.style === "source" ? valueOf(node, "language") : "";
  const name = language === "" ? "" : ` class="language-${attribute(language)}"`;
  // The first line break in `pre` is no text.
  return `${titleOf(node)}<pre><code${name}>\n${await contentOf(node)}</code></pre>\n`;
}

async function admonition(node: Node): Promise<string> {
  const label = `<p class="admonition-title">${node.style ?? "NOTE"}</p>`;
  const content = await contentOf(node);
  // The content of a paragraph is text.
  const text = node.hasBlocks() ? content : paragraph(content);
  const title = node.hasTitle() ? paragraph(node.title ?? "") : "";
  return `<div class="admonition">${label}\n${title}${text}</div>\n`;
}

async function quote(node: Node): Promise<string> {
  const text = await contentOf(node);
  const lines = node.context === "verse" ? text.replaceAll("\n", "<br>\n") : text;
  const inner = node.hasBlocks() ? lines : paragraph(lines);
  const source = [valueOf(node, "attribution"), valueOf(node, "citetitle")]
    .filter((each) => each !== "")
    .join(", ");
  const by = paragraph(source === "" ? "" : `— ${source}`);
  return `${titleOf(node)}<blockquote>\n${inner}</blockquote>\n${by}`;
}

const checkbox = (item: Node): string =>
  item.hasAttribute("checkbox")
    ? `<input type="checkbox"${item.hasAttribute("checked") ? " checked" : ""}>`
    : "";

async function list(node: List): Promise<string> {
  const isNumbered = node.context !== "ulist";
  const type = node.context === "olist" ? node.listMarkerKeyword() : null;
  const start = valueOf(node, "start");
  const options =
    (type ? ` type="${type}"` : "") +
    (start === "" ? "" : ` start="${attribute(start)}"`) +
    (node.hasOption("reversed") ? " reversed" : "");
  const name = isNumbered ? "ol" : "ul";
  const items: string[] = [];
  for (const item of node.getItems()) {
    const blocks = item.hasBlocks() ? `\n${await contentOf(item)}` : "";
    items.push(`<li>${checkbox(item)}${item.getText() ?? ""}${blocks}</li>\n`);
  }
  return `${titleOf(node)}<${name}${options}>\n${items.join("")}</${name}>\n`;
}

async function descriptions(node: List): Promise<string> {
  const items: string[] = [];
  for (const [terms, description] of node.getItems() as unknown as [Node[], Node | null][]) {
    for (const term of terms as unknown as { getText(): string }[])
      items.push(`<dt>${term.getText()}</dt>\n`);
    if (!description) continue;
    const text = (description as unknown as { getText(): string | null }).getText() ?? "";
    const blocks = description.hasBlocks() ? `\n${await contentOf(description)}` : "";
    items.push(`<dd>${text}${blocks}</dd>\n`);
  }
  return `${titleOf(node)}<dl>\n${items.join("")}</dl>\n`;
}

async function cellHtml(cell: Cell, isHead: boolean): Promise<string> {
  if (isHead) return cell.text;
  if (cell.style === "literal") return `<pre>\n${cell.text}</pre>`;
  const content = await cell.content();
  if (Array.isArray(content)) return content.map(paragraph).join("");
  // Within a description list, the library (4.1.0) has not converted the blocks of a cell.
  return content || String((await cell.innerDocument?.convert()) ?? "");
}

const span = (name: string, count: number | undefined): string =>
  count === undefined || count < 2 ? "" : ` ${name}="${count}"`;

async function table(node: Node): Promise<string> {
  const { rows } = node as unknown as { rows: { bySection(): [string, Cell[][]][] } };
  const parts: string[] = [];
  for (const [part, lines] of rows.bySection()) {
    if (lines.length === 0) continue;
    parts.push(`<t${part}>\n`);
    for (const line of lines) {
      parts.push("<tr>");
      for (const cell of line) {
        const isHead = part === "head";
        const name = isHead || cell.style === "header" ? "th" : "td";
        const spans = span("colspan", cell.colspan) + span("rowspan", cell.rowspan);
        parts.push(`<${name}${spans}>${await cellHtml(cell, isHead)}</${name}>`);
      }
      parts.push("</tr>\n");
    }
    parts.push(`</t${part}>\n`);
  }
  const caption = node.hasTitle() ? `<caption>${node.captionedTitle()}</caption>\n` : "";
  return `<table>\n${caption}${parts.join("")}</table>\n`;
}

/** An image; without an address that a page can name, its alternative text. */
function image(node: AbstractNode, target: string, page: Page): string {
  const folder = valueOf(node.document, "imagesdir");
  const isAlone = /^(?:[a-z][a-z\d+.-]*:|\/)/i.test(target);
  const joined = isAlone || folder === "" ? target : posix.join(folder, target);
  const path = resourcePath(target, page.path, "image", page.around);
  const source = path === undefined ? joined : relativeFile(path, page.path);
  const alt = valueOf(node, "alt") || valueOf(node, "default-alt");
  const html = `<img src="${attribute(source)}" alt="${attribute(alt)}">`;
  const link = valueOf(node, "link");
  return link === "" || link === "self" ? html : `<a href="${attribute(link)}">${html}</a>`;
}

/** A video or audio file as a link. */
function media(node: Node, kind: string): string {
  const target = valueOf(node, "target");
  const address =
    valueOf(node, "poster") === "youtube" ? `https://www.youtube.com/watch?v=${target}` : target;
  return paragraph(`<a href="${attribute(address)}">${kind}</a>`) + titleOf(node);
}

const link = (address: string, text: string): string =>
  `<a href="${attribute(address)}">${text}</a>`;

/** The root-relative path of the page that a reference names, also by an earlier address of it. */
function pageOf(named: string, { path, around }: Page): string | undefined {
  const found = resourcePath(named, path, "page", around);
  if (found === undefined) {
    return isOtherComponent(named) ? undefined : posix.join(posix.dirname(path), named);
  }
  const component = found.slice(0, found.lastIndexOf("modules/"));
  return around.includes.find("alias", component, found)?.path ?? found;
}

/** The included file in which a node stands; undefined for the page itself. */
function partOf(node: Inline, { included }: Page): string | undefined {
  let at = node.parent as AbstractBlock | null;
  while (at && at.sourceLocation?.lineno === undefined) at = at.parent as AbstractBlock | null;
  const { path = "<stdin>", lineno = 0 } = at?.sourceLocation ?? {};
  // The library (4.1.0) calls the text that it was given so. The first block of an included file has
  // the line of the include.
  return path === "<stdin>" ? included.get(lineno) : path;
}

/** A link to a place that the page names: the address is made of the name. */
function reference(node: Inline, page: Page, address: string, text: string): string {
  const { path = "", fragment = "", refid } = node.attributes as Record<string, string | undefined>;
  const place = fragment === "" ? "" : `#${fragment}`;
  const written = path === "" ? [fragment] : [path + place, refid ?? "", path];
  page.references.push({ address, written, part: partOf(node, page) });
  return link(address, text);
}

/** A reference to another page of the site: its title, unless a text is given. */
async function otherPage(node: Inline, page: Page): Promise<string> {
  const { path: named, fragment } = node.attributes as { path: string; fragment?: string };
  const start = Math.max(named.lastIndexOf(":"), named.lastIndexOf("$")) + 1;
  const name = posix.basename(named.slice(start)).replace(/\.\w+$/, "");
  const given = node.text ?? "";
  const file = pageOf(named, page);
  if (file === undefined) return given === "" ? name : given;
  if (file === page.path && fragment) {
    return reference(node, page, `#${fragment}`, given || (await ownText(node, fragment)));
  }
  const title = given === "" ? page.titleOf(file) : undefined;
  const subs = ["specialcharacters", "quotes", "attributes", "replacements"];
  const text =
    title === undefined
      ? given || name
      : await (node as unknown as Substitutes).applySubs(title, subs);
  const place = fragment ? `#${fragment}` : "";
  return reference(node, page, relativeFile(file, page.path) + place, text);
}

/** The text of a reference to a place of the page that has none. */
async function ownText(node: Inline, id: string | null): Promise<string> {
  const refs = node.document.catalog.refs as Record<string, Node>;
  const target = id === null ? undefined : refs[id];
  const style = node.getAttribute("xrefstyle", null, true) as string | null;
  const text: unknown = await target?.xreftext(style);
  // A link within a link would end it.
  return typeof text === "string" && text !== "" ? text.replace(/<\/?a\b[^>]*>/g, "") : (id ?? "");
}

async function anchor(node: Inline, page: Page): Promise<string> {
  if (node.type === "ref") return `<a${idOf(node)}></a>`;
  if (node.type === "bibref") return `<a${idOf(node)}></a>[${node.reftext ?? node.id}]`;
  if (node.type === "link") {
    const target = node.target ?? "";
    // `link:{attachmentsdir}/a.zip[]`
    const file = target.startsWith("attachment$/")
      ? resourcePath(target, page.path, "page", page.around)
      : undefined;
    const address = file === undefined ? target : relativeFile(file, page.path);
    return link(address, (node.text ?? "").replace(/^attachment\$\//, ""));
  }
  if (typeof node.attributes.path === "string") return await otherPage(node, page);
  const { refid } = node.attributes as { refid: string | null };
  return reference(node, page, node.target ?? "", node.text || (await ownText(node, refid)));
}

const quotes: Readonly<Record<string, readonly [open: string, close: string]>> = {
  monospaced: ["<code>", "</code>"],
  emphasis: ["<em>", "</em>"],
  strong: ["<strong>", "</strong>"],
  double: ["“", "”"],
  single: ["‘", "’"],
  superscript: ["<sup>", "</sup>"],
  subscript: ["<sub>", "</sub>"],
};

function quoted(node: Inline): string {
  const [open, close] = quotes[node.type ?? ""] ?? ["", ""];
  const text = `${open}${node.text ?? ""}${close}`;
  const isApart = node.type === "mark" || node.role || node.id;
  return isApart ? `<span${idOf(node)}>${text}</span>` : text;
}

function footnote(node: Inline): string {
  const index = valueOf(node, "index");
  return index === "" ? "" : `<sup>[<a href="#_footnotedef_${index}">${index}</a>]</sup>`;
}

function menu(node: Inline): string {
  const submenus = (node.getAttribute("submenus") ?? []) as string[];
  return joined([valueOf(node, "menu"), ...submenus, valueOf(node, "menuitem")], " &gt; ");
}

/** The author and the revision, which the header of a page shows. */
function details(node: Document): string {
  const authors = node
    .authors()
    .map(({ name, email }) => name + (email ? ` &lt;${email}&gt;` : ""));
  const number = valueOf(node, "revnumber");
  const revision = [number === "" ? "" : `version ${number}`, valueOf(node, "revdate")];
  const shown = [...authors, joined(revision, ", "), valueOf(node, "revremark")];
  return paragraph(joined(shown, "<br>\n"));
}

/** The section that a manual page begins with; the library takes it for the header. */
function manualName(node: Document): string {
  const names = node.getAttribute("mannames") as string[] | null;
  if (node.doctype !== "manpage" || !names || !node.hasAttribute("manpurpose")) return "";
  const title = valueOf(node, "manname-title") || "Name";
  const id = idOf({ id: valueOf(node, "manname-id") });
  return `<h2${id}>${title}</h2>\n<p>${names.join(", ")} - ${valueOf(node, "manpurpose")}</p>\n`;
}

async function document(node: Document): Promise<string> {
  const { header } = node;
  const title = header?.title ? `<h1>${header.title}</h1>\n${details(node)}` : "";
  const content = title + manualName(node) + (await contentOf(node));
  if (!node.hasFootnotes()) return content;
  const notes = node.footnotes.map(
    ({ index, text }) => `<li id="_footnotedef_${index}">${text}</li>\n`,
  );
  return `${content}<ol>\n${notes.join("")}</ol>\n`;
}

const inlines: Readonly<Record<string, (node: Inline, page: Page) => Html>> = {
  inline_anchor: anchor,
  inline_break: (node) => `${node.text ?? ""}<br>`,
  inline_button: (node) => node.text ?? "",
  inline_callout: (node) => `&lt;${node.text ?? ""}&gt;`,
  inline_footnote: footnote,
  inline_image: (node, page) =>
    node.type === "icon"
      ? valueOf(node, "title") || (node.target ?? "")
      : image(node, node.target ?? "", page),
  inline_indexterm: (node) => (node.type === "visible" ? (node.text ?? "") : ""),
  inline_kbd: (node) => (node.getAttribute("keys") as string[]).join("+"),
  inline_menu: menu,
  inline_quoted: quoted,
};

const blocks: Readonly<Record<string, (node: never, page: Page) => Html>> = {
  document,
  embedded: document,
  section,
  admonition,
  audio: (node: Node) => media(node, "audio"),
  video: (node: Node) => media(node, "video"),
  colist: list,
  ulist: list,
  olist: list,
  dlist: descriptions,
  example: withTitle,
  open: withTitle,
  sidebar: withTitle,
  preamble: contentOf,
  pass: contentOf,
  paragraph: within("<p>", "</p>"),
  floating_title: (node: Node) => heading(node.level ?? 1, node, node.title ?? ""),
  image: (node: Node, page) =>
    paragraph(image(node, valueOf(node, "target"), page)) + titleOf(node),
  listing: code,
  literal: code,
  stem: code,
  quote,
  verse: quote,
  table,
};

/** What makes plain HTML of the document model: text, headings with ids, links, tables, code. */
export function createConverter(page: Page): object {
  const all: Readonly<Record<string, (node: never, page: Page) => Html>> = {
    ...blocks,
    ...inlines,
  };
  return {
    convert(node: AbstractNode, transform?: string | null): Html {
      // Others have no text: breaks, the table of contents.
      return all[transform ?? node.nodeName]?.(node as never, page) ?? "";
    },
  };
}
