import type { LintPage } from "../rule.ts";
import { hasExtensions, lacksText } from "./adoc-anchors.ts";
import { htmlIds } from "./html-anchors.ts";
import { scanStructure } from "../../../documents/markdown/structure.ts";
import { writtenIds } from "../../../documents/read/readers/adoc/text/ids.ts";
import { lacksVisible } from "../../../documents/read/left-out.ts";
import { formatOf, formats } from "../../../documents/read/readers.ts";

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
function* headingTexts(body: string): Generator<string> {
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

function* explicitIds(text: string): Generator<string> {
  for (const pattern of [marked, attributes, argument]) {
    for (const [, id = ""] of text.matchAll(pattern)) yield id;
  }
}

// What a program replaces by text: its anchors are unknown.
const generated =
  /\{\{[^}]|\{%|<%|^[ \t]*:::? [\w.]|<script|<!--[ \t]{0,10}\w{1,50}:|^import\s[^\n]*\.mdx?["']|@include|^[ \t]*\{![^\n]|dangerouslySetInnerHTML/m;
// A component of VuePress and its like. MDX imports its components, and most of them have no headings.
const component = /<[A-Z]\w{0,100}[\s/>]/;

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

/** Whether other programs may add anchors to a page of Markdown that its file does not show. */
function hasUnknownAnchors({ parsed, source = "", path, settings }: LintPage): boolean {
  const format = formatOf(path, settings.format);
  const mayBeGenerated = marksOfGenerated.some((mark) => source.includes(mark));
  if (mayBeGenerated && generated.test(source)) return true;
  const hasComponents = format === formats.markdown && component.test(parsed.body);
  return hasComponents || lacksVisible(parsed.leftOut);
}

function markdownSources(page: LintPage): AnchorSources | undefined {
  if (hasUnknownAnchors(page)) return undefined;
  const { source = "" } = page;
  const { body, headings = [] } = page.parsed;
  const ids = new Set(headings.map(({ anchor = "" }) => anchor));
  // Most bodies are the end of their file, below the front matter.
  const rest = source.endsWith(body) ? source.slice(0, source.length - body.length) : source;
  for (const text of [body, rest]) {
    for (const id of explicitIds(text)) ids.add(id);
  }
  return { headings: [...headingTexts(body)].join("\n"), ids: [...ids].join("\n") };
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
