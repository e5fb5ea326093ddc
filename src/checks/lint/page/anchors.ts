import { decodePercent } from "../../../documents/files/file-name.ts";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { textOf, valueAt } from "../../../documents/front-matter/values.ts";
import type { Span, LintPage } from "../rule.ts";
import type { Parsed } from "../../../documents/formats/format.ts";
import { decodeEntities } from "../../../documents/map/images/image-references.ts";
import { createCodeTest, scanStructure } from "../../../documents/text/structure.ts";
import { lacksVisible } from "../../../documents/text/left-out.ts";
import { formatOf, formats } from "../../../documents/formats/formats.ts";
import { githubSlug, plainText } from "../../../documents/text/heading-text.ts";
import { siteOf } from "../../../documents/site/sites.ts";
import { nearest } from "../../../nearest.ts";

// `image::x.png[]` has no ids of its own. Macros of extensions can make whole sections.
const macro =
  /^(?!(?:include|ifn?def|ifeval|endif|image|video|audio|toc)::)[a-z]\w{0,50}::\S{0,500}\[/m;
const textFile = /(?:\.(?:adoc|asciidoc|asc|txt)|\}): /;

/** Whether the page lacks a text that can have ids: code has none. */
const lacksText = ({ leftOut = [] }: Parsed): boolean =>
  leftOut.some(({ what }) => textFile.test(what));

/** Whether extensions of Asciidoctor may add ids to the page. */
const hasExtensions = (source: string): boolean => macro.test(source);

// `[[x]]`, `[[[x]]]`, `[#x]`, `[quote#x]`, `[.lead#x%header]`, `id=x`, `anchor:x[]`
const writtenId =
  /(?:\[\[|\[[^\][\n"]{0,100}#|\bid\s?=\s?["']?|\banchor:)([^\s,.%"'\][][^\s,%"'\][]{0,200})/g;

/** Ids in a text, also in parts that no page shows: false conditions and examples. */
function* writtenIds(text: string): Generator<string> {
  for (const [, id = ""] of text.matchAll(writtenId)) {
    yield id;
    // The role in `[#x.role]` is not part of the id.
    const end = id.indexOf(".");
    if (end !== -1) yield id.slice(0, end);
  }
}

// Without one of them it is a part of a page, and the rest of the page can have more ids.
const wholePage = /<(?:!doctype|html|body)[\s>]/i;
// What a program replaces by text.
const generatedHtml = /\{\{|\{%|<%|<\?(?!xml)|<!--#|<(?:iframe|object|slot|[a-z]\w*-[\w-]*)[\s>/]/i;
const script = /<script(?:\s[^>]{0,500})?>/gi;
const isData =
  /\btype\s*=\s*["']?(?:application\/(?:ld\+)?json|text\/(?:x-mathjax-config|plain|template))/i;

/** Whether a program may add ids to a page when a browser shows it, or when a site is made of it. */
function mayGetIds(text: string): boolean {
  if (!wholePage.test(text) || generatedHtml.test(text)) return true;
  for (const [tag] of text.matchAll(script)) if (!isData.test(tag)) return true;
  return false;
}

// Also of attributes whose names end with them: that hides a finding at most.
const idOrName =
  /\b(?:id|name)\s{0,9}=\s{0,9}(?:"([^"]{1,500})"|'([^']{1,500})'|([^\s"'>]{1,500}))/gi;

/** The ids and names of an HTML page, one a line; undefined if programs may add some. */
function htmlIds(text: string): string | undefined {
  if (mayGetIds(text)) return undefined;
  const ids = new Set<string>();
  for (const [, double, single, bare = ""] of text.matchAll(idOrName)) {
    const id = double ?? single ?? bare;
    ids.add((id.includes("&") ? decodeEntities(id) : id).trim());
  }
  return [...ids].join("\n");
}

/** Where anchors of a page come from, as plain data: one a line. */
export interface AnchorSources {
  headings: string;
  ids: string;
}

// The patterns match bounded texts only: hostile pages must not take quadratic time.

// Also headings in lists, quotations and admonitions, and those of HTML.
const headingLine =
  /^[ \t>*+-]*#{1,6}[ \t]+([^\n]{1,3000})|<h[1-6](?:\s[^>\n]{0,300})?>([^\n]{0,300}?)<\/h[1-6]/gim;

/** The texts of all headings, in order as far as it matters. */
export function* headingTexts(body: string): Generator<string> {
  for (const [, marked, tagged = ""] of body.matchAll(headingLine)) {
    yield (marked ?? tagged).replace(/[ \t]+#+[ \t]*$/, "").trim();
  }
  for (const { text, start } of scanStructure(body).headings) {
    const isUnderlined = !/^ {0,3}#/.test(body.slice(start, start + 4));
    if (isUnderlined) yield text;
  }
}

// `id="x"`, `name=x`, `id={"x"}`, `id: x`; `{#x}`, `{: #x}`, `{/* #x */}`, `[#x]`, `[[x]]`.
const marked =
  /(?:\b(?:id|name|anchor)["']?[ \t]*[=:][ \t]*[{"'`]*|[{[][:/*\s]{0,10}#|\[\[)([^\s"'`{}[\],<>]{1,500})/gi;
// `{: .class #x }`
const attributes = /\{:?[^{}#\n]{0,200}#([^\s{}]{1,200})[^{}\n]{0,200}\}/g;
// The registry of Terraform makes anchors of arguments: "* `name` - …".
const argument = /^[ \t]*[-*+][ \t]+[`*]{1,3}([\w.-]{1,200})/gm;

export function* explicitIds(text: string): Generator<string> {
  for (const pattern of [marked, attributes, argument]) {
    for (const [, id = ""] of text.matchAll(pattern)) yield id;
  }
}

// What a program replaces by text: its anchors are unknown.
const generated =
  /\{\{[^}]|\{%|<%|^[ \t]*:::? [\w.]|<script|<!--[ \t]{0,10}\w{1,50}:|^import\s[^\n]*\.mdx?["']|@include|^[ \t]*\{![^\n]|dangerouslySetInnerHTML/gm;
// A component of VuePress and its like. MDX imports its components, and most of them have no headings.
const component = /(?<!\]\()<[A-Z]\w{0,100}[\s/>]/g;

// Each alternative of the pattern has one of them, and most pages have none.
const marksOfGenerated = [
  "{{",
  "{%",
  "<%",
  "::",
  "<script",
  "<!--",
  "import",
  "@include",
  "{!",
  "dangerouslySetInnerHTML",
];

/** Whether a page of Hugo names a template of its project, which may write headings. */
function hasOwnTemplate({
  parsed,
  path,
  settings,
}: Pick<LintPage, "parsed" | "path" | "settings">): boolean {
  const data = parsed.frontMatter?.data;
  const names = data ? ["type", "layout"].map((key) => textOf(valueAt(data, key, true))) : [];
  const site = names.some((name) => name !== undefined) ? siteOf(path, settings) : undefined;
  if (site?.generator !== "hugo") return false;
  return names.some(
    (name = "") =>
      /^[\w-]+$/.test(name) &&
      [name, `_default/${name}.html`, `${name}.html`].some((each) =>
        existsSync(join(settings.root, site.prefix, "layouts", each)),
      ),
  );
}

/** Whether a pattern matches in a text outside of its code, which shows what others write. */
function isWritten(text: string, pattern: RegExp): boolean {
  let isCode: ((offset: number) => boolean) | undefined;
  for (const { 0: found, index } of text.matchAll(pattern)) {
    // A script is no Markdown either, from its tag on.
    const at = found.startsWith("<") ? Math.max(0, index - 1) : index;
    if (!(isCode ??= createCodeTest(text))(at)) return true;
  }
  return false;
}

/** Whether other programs may add anchors to a page of Markdown that its file does not show. */
function hasUnknownAnchors({ parsed, source = "", path, settings }: LintPage): boolean {
  const format = formatOf(path, settings.format);
  const generator = siteOf(path, settings)?.generator;
  // Their reader does what tags say, and counts what it cannot do.
  const written = generator === "jekyll" || generator === "mdbook" ? parsed.body : source;
  const mayBeGenerated = marksOfGenerated.some((mark) => written.includes(mark));
  if (mayBeGenerated && isWritten(written, generated)) return true;
  // gohugo.io, "Template types": a page may choose one of the project.
  if (hasOwnTemplate({ parsed, path, settings })) return true;
  // gohugo.io, "Section templates": one may write what stands below the few words of an index.
  const isIndex = /(?:^|\/)_index\.\w+$/.test(path);
  // Of a page of Jekyll without a heading, its layout may write all of them.
  if ((isIndex && generator === "hugo") || generator === "jekyll") {
    if (scanStructure(parsed.body).headings.length === 0) return true;
  }
  // quarto.org, "Document Listings": a template writes the list and its headings.
  if (Object.hasOwn(parsed.frontMatter?.data ?? {}, "listing")) return true;
  const hasComponents = format === formats.markdown && isWritten(parsed.body, component);
  return hasComponents || lacksVisible(parsed.leftOut);
}

// mintlify.com, "Accordions", "Tabs", "Steps" and "Fields"; tabs of Docusaurus and Starlight.
const titleOfComponent =
  /<[A-Z]\w{0,60}\s(?:[^<>\n]{0,300}\s)?(?:title|label)=["']([^"'\n]{1,300})["']/g;
const field =
  /<(?:Param|Response)Field\s(?:[^<>\n]{0,300}\s)?(?:path|query|body|header|name)=["']([^"'\n]{1,200})["']/g;

/** The headings that components make. */
function* componentTitles(source: string): Generator<string> {
  for (const [, title = ""] of source.matchAll(titleOfComponent)) yield title;
  for (const [, name = ""] of source.matchAll(field)) yield `param ${name}`;
}

// facelessuser.github.io/pymdown-extensions, "Tabbed": with `slugify`, titles make anchors.
const tabTitle = /^[ \t]*===[!+]?[ \t]+["']([^"'\n]{1,300})["']/gm;

function markdownSources(page: LintPage): AnchorSources | undefined {
  if (hasUnknownAnchors(page)) return undefined;
  const { source = "" } = page;
  const { body, headings = [], ids: own = [] } = page.parsed;
  const ids = new Set([...headings.map(({ anchor = "" }) => anchor), ...own]);
  // Most bodies are the end of their file, below the front matter.
  const rest = source.endsWith(body) ? source.slice(0, source.length - body.length) : source;
  for (const text of [body, rest]) {
    for (const id of explicitIds(text)) ids.add(id);
  }
  const tabs = source.includes("===") ? [...source.matchAll(tabTitle)] : [];
  const titles = [
    ...(source.includes("<") ? componentTitles(source) : []),
    ...tabs.map(([, title = ""]) => title),
  ];
  return { headings: [...headingTexts(body), ...titles].join("\n"), ids: [...ids].join("\n") };
}

function adocSources({ parsed, source = "" }: LintPage): AnchorSources | undefined {
  if (lacksText(parsed) || hasExtensions(source)) return undefined;
  const { headings = [], ids = [] } = parsed;
  const all = new Set([
    ...headings.map(({ anchor = "" }) => anchor),
    ...ids,
    ...writtenIds(source),
  ]);
  // Sites choose prefix and separator of the anchors of headings.
  const texts = headings.map(({ text }) => text.replaceAll("\n", " "));
  return { headings: texts.join("\n"), ids: [...all].join("\n") };
}

export const isAdocPath = (path: string): boolean => formatOf(path) === formats.asciidoc;

export const isAdoc = ({ path, settings }: LintPage): boolean =>
  formatOf(path, settings.format) === formats.asciidoc;

/** The headings and ids of a page; undefined if programs may add anchors. */
export function anchorSources(page: LintPage): AnchorSources | undefined {
  const { path, settings, parsed, source } = page;
  if (source === undefined || !parsed.isMarkdown) return undefined;
  const format = formatOf(path, settings.format);
  if (format === formats.markdown || format === formats.mdx) return markdownSources(page);
  if (format === formats.asciidoc) return adocSources(page);
  const ids = format === formats.html ? htmlIds(source) : undefined;
  return ids === undefined ? undefined : { headings: "", ids };
}

// Site generators make different anchors of a heading. An anchor counts as existing if any of them
// makes it: what remains is wrong on every site.

/** An anchor without what generators disagree about: case, and which marks separate words. */
export function comparableAnchor(anchor: string): string {
  return decodePercent(anchor)
    .normalize("NFC")
    .toLowerCase()
    .replaceAll("\u00ad", "")
    .replace(/^user-content-/, "")
    .replace(/[\s_\p{Pd}]+/gu, "-")
    .replace(/^-+|-+$/g, "");
}

const image = /!\[[^[\]]*\](?:\([^()]*\)|\[[^[\]]*\])/g;
const withoutImages = (heading: string): string =>
  heading.replace(image, "").replace(/\[\]\([^()]*\)/g, "");

const dropMarks = (text: string): string => text.replace(/[^\p{L}\p{M}\p{N}\p{Pc}\p{Pd}\s]/gu, "");
const separateMarks = (text: string): string => text.replace(/[^\p{L}\p{M}\p{N}]+/gu, "-");

// Most headings: all generators make the same anchor.
const isSimple = /^[A-Za-z][A-Za-z\d]*(?:[ -][A-Za-z\d]+)*$/;

/** The anchors that generators make of a heading, comparable. */
function slugsOf(heading: string): Set<string> {
  if (isSimple.test(heading)) return new Set([heading.toLowerCase().replaceAll(" ", "-")]);
  const slugs = new Set<string>();
  for (const text of [plainText(heading), plainText(withoutImages(heading)), heading]) {
    // mkdocs and docutils keep ASCII alone.
    const ascii = text.normalize("NFKD").replace(/[^ -~]/g, "");
    const forms = [
      text,
      dropMarks(text),
      separateMarks(text),
      dropMarks(ascii),
      separateMarks(ascii),
    ];
    for (const form of forms) {
      const slug = comparableAnchor(form);
      slugs.add(slug);
      // pandoc and docutils begin with the first letter.
      slugs.add(slug.replace(/^[^\p{L}]+/u, ""));
    }
  }
  return slugs;
}

// A repeated heading has a number: the second `Notes` is `notes-1` on GitHub.
const repeated = "-#";

/** Whether an anchor is that of a heading behind that of the heading above it, as SvelteKit makes them. */
function isNested(anchor: string, all: ReadonlySet<string>): boolean {
  for (let at = anchor.indexOf("-"); at !== -1; at = anchor.indexOf("-", at + 1)) {
    if (all.has(anchor.slice(0, at)) && all.has(anchor.slice(at + 1))) return true;
  }
  return false;
}

/** The anchors that any generator makes of headings and ids, comparable. */
export function allAnchors({ headings, ids }: AnchorSources): Set<string> {
  const all = new Set(ids.split("\n").map((id) => comparableAnchor(id)));
  for (const text of headings.split("\n")) {
    for (const made of slugsOf(text)) {
      // DocFX names headings without letters.
      const slug = made === "" ? "section" : made;
      if (all.has(slug)) all.add(slug + repeated);
      all.add(slug);
    }
  }
  all.delete("");
  return all;
}

/** Headings and ids as they are written. */
function writtenAnchors({ headings, ids }: AnchorSources): Set<string> {
  const written = new Set(ids.split("\n"));
  for (const text of headings.split("\n")) written.add(githubSlug(text));
  return written;
}

/** Returns a function that says whether headings and ids make an anchor. */
export function createAnchorCheck(sources: AnchorSources): (anchor: string) => boolean {
  const written = writtenAnchors(sources);
  let all: Set<string> | undefined;
  return (anchor) => {
    // Nearly all links are right, and most of them are the id or the heading itself.
    if (written.has(anchor)) return true;
    const comparable = comparableAnchor(anchor);
    if (comparable === "") return true;
    all ??= allAnchors(sources);
    if (all.has(comparable) || isNested(comparable, all)) return true;
    const [, stem] = /^(.+?)-?\d+$/.exec(comparable) ?? [];
    return stem !== undefined && all.has(stem + repeated);
  };
}

// Comparing a name with very many others takes long.
const mostNames = 300;

/** An anchor that is nearly the one that is missing. */
export function similarAnchor(anchor: string, sources: AnchorSources): string | undefined {
  const names = [...allAnchors(sources)].filter((each) => !each.endsWith(repeated));
  return nearest(anchor.slice(0, 64), names.slice(0, mostNames));
}

/** A reference of reStructuredText to a name that no target of its page has. */
export interface MissingTarget {
  name: string;
  span?: Span | undefined;
}

const [mostTargets, longest] = [200, 300];
const escaped = (text: string): string =>
  text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&").replace(/\s+/g, "\\s+");

/** The references of a page that lead nowhere, with their places in the file. */
export function missingTargets({ parsed, source = "" }: LintPage): MissingTarget[] | undefined {
  if (!parsed.unknownTargets) return undefined;
  const lastEnds = new Map<string, number>();
  return parsed.unknownTargets.slice(0, mostTargets).map(({ name, written }): MissingTarget => {
    if (written.length > longest) return { name };
    const pattern = new RegExp(`(?<![\\p{L}\\p{N}_])${escaped(written)}(?![\\p{L}\\p{N}_])`, "gu");
    pattern.lastIndex = lastEnds.get(written) ?? 0;
    const found = pattern.exec(source);
    if (!found) return { name };
    const end = found.index + found[0].length;
    lastEnds.set(written, end);
    return { name, span: { start: found.index, end } };
  });
}
