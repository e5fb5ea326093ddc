import { parseDate, toValue, type ValueMap } from "../front-matter/values.ts";
import type { FrontMatter } from "../front-matter/front-matter.ts";
import { pageFromHtml } from "../page/page.ts";
import { attributeOf, isElement, textOf, walkTree, type PageNode } from "../page/tree.ts";
import { expandHtml } from "./markdown/markdown.ts";
import type { Parsed, Surroundings } from "./format.ts";

/** Metadata from the head of a page by name. The first value of each name counts. */
type Meta = Map<string, string>;

// Names of `<meta>` by the front matter key that they become, first choice first.
const names: readonly (readonly [string, readonly string[]])[] = [
  ["description", ["description", "og:description"]],
  ["author", ["author"]],
  ["keywords", ["keywords"]],
  [
    "updated",
    ["article:modified_time", "og:updated_time", "last-modified", "dcterms.modified", "date"],
  ],
];
const known = new Set(names.flatMap(([, each]) => each));
const longestTitle = 10_000;

function keep(meta: Meta, name: string, value: string | undefined): void {
  const text = (value ?? "").replace(/\s+/g, " ").trim();
  if (text !== "" && !meta.has(name)) meta.set(name, text);
}

function takeElement(meta: Meta, node: PageNode): void {
  const { localName: name } = node;
  if (name === "html")
    keep(meta, "lang", attributeOf(node, "lang") ?? attributeOf(node, "xml:lang"));
  if (name === "title") keep(meta, "title", textOf(node).slice(0, longestTitle));
  if (name === "link" && /(?:^|\s)canonical(?:\s|$)/i.test(attributeOf(node, "rel") ?? "")) {
    keep(meta, "canonical", attributeOf(node, "href"));
  }
  if (name !== "meta") return;
  const of = ["name", "property", "itemprop"].map((each) => attributeOf(node, each));
  const key = of.find((each) => each !== undefined)?.toLowerCase();
  if (key !== undefined && known.has(key)) keep(meta, key, attributeOf(node, "content"));
}

function metaOf(document: PageNode): Meta {
  const meta: Meta = new Map();
  walkTree(document, (node) => {
    if (isElement(node)) takeElement(meta, node);
    // A drawing has a title of its own.
    return !isElement(node) || node.localName !== "svg";
  });
  return meta;
}

/**
 * Converts the metadata to front matter: title, description, author, keywords, link, updated and
 * lang. Drops values that front matter would refuse (a date in another form, a relative link): the
 * page was not written for this tool.
 */
function toFrontMatter(meta: Meta): FrontMatter | undefined {
  const data: Record<string, string> = {};
  const title = meta.get("title");
  if (title !== undefined) data["title"] = title;
  for (const [key, sources] of names) {
    const found = sources
      .map((each) => meta.get(each))
      .filter((each) => each !== undefined)
      .find((each) => key !== "updated" || parseDate(each) !== undefined);
    if (found !== undefined) data[key] = found;
  }
  const link = meta.get("canonical");
  // A relative link needs the address of the page, which the file does not contain.
  if (link !== undefined && /^https?:\/\/[^\s/]/i.test(link)) data["link"] = link;
  const lang = meta.get("lang");
  if (lang !== undefined) data["lang"] = lang;
  if (Object.keys(data).length === 0) return undefined;
  // Format json, because then the text `null` stays text. There is no block with line numbers.
  return { data: toValue(data) as ValueMap, format: "json", block: "", firstLine: 1 };
}

const isXhtml =
  /^\uFEFF?\s*<\?xml\s|<html\s[^<>]{0,300}xmlns=["']http:\/\/www\.w3\.org\/1999\/xhtml/i;
const closedAlone = /<([a-z][\w:-]*)((?:\s[^<>]*)?)\/>/gi;
// HTML Standard, 13.1.2: these have no end tags.
const isVoid = /^(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/i;

/** XHTML closes elements in their start tags; in HTML, `<script/>` never ends. */
export const asHtml = (text: string): string =>
  isXhtml.test(text.slice(0, 2000))
    ? text.replace(closedAlone, (tag, name: string, attributes: string) =>
        isVoid.test(name) ? tag : `<${name}${attributes}></${name}>`,
      )
    : text;

/**
 * Reads the text of an HTML page as Markdown. Of a page with `<main>` (or mostly `<article>`), it
 * reads only that part; it never reads navigation and scripts. Metadata in the head becomes front
 * matter. Throws CliError `usage` for an ignore region that is never closed.
 */
export function readHtml(
  text: string,
  path: string,
  around: Pick<Surroundings, "keepsHidden"> & Partial<Surroundings> = {},
): Parsed {
  const { keepsHidden = false, site } = around;
  const template = site && expandHtml(text, path, around as Surroundings);
  const page = pageFromHtml(asHtml(template?.text ?? text), {
    path,
    keepsHidden,
    firstLine: 1,
    onlyMain: true,
  });
  const meta = metaOf(page.document);
  const leftOut = [...(template?.leftOut ?? []), ...page.leftOut];
  const title = meta.get("title") ?? page.headings[0]?.text;
  return {
    frontMatter: template?.split.frontMatter ?? toFrontMatter(meta),
    body: page.body,
    bodyLine: 1,
    isMarkdown: true,
    headings: page.headings,
    warnings: [],
    ...(leftOut.length > 0 ? { leftOut } : {}),
    ...(title === undefined ? {} : { title }),
  };
}
