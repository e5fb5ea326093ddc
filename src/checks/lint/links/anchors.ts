import type { LintPage } from "../rule.ts";
import { decodeEntities } from "../../../documents/images/image-tags.ts";
import { githubSlug, plainText } from "../../../documents/markdown/heading-text.ts";
import { scanStructure } from "../../../documents/markdown/structure.ts";
import { formatOf, formats } from "../../../documents/read/readers.ts";

// Site generators make different anchors of a heading. An anchor counts as existing if any of them
// makes it: what remains is wrong on every site.

/** An anchor without what generators disagree about: case, and which marks separate words. */
export function comparableAnchor(anchor: string): string {
  let decoded = anchor;
  try {
    decoded = decodeURIComponent(anchor);
  } catch {
    // Not percent-encoded.
  }
  return decoded
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
  const readable = decodeEntities(heading.replaceAll("&shy;", ""));
  for (const text of [plainText(readable), plainText(withoutImages(readable)), heading]) {
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

// Also headings in lists, quotations and admonitions, and those of HTML.
const headingLine = /^[ \t>*+-]*#{1,6}[ \t]+([^\n]+)|<h[1-6](?:\s[^>\n]*)?>([^\n]*?)<\/h[1-6]/gim;

/** The texts of all headings, in order as far as it matters. */
function* headingTexts(body: string): Generator<string> {
  for (const [, marked, tagged = ""] of body.matchAll(headingLine)) {
    yield (marked ?? tagged).replace(/[ \t]+#+[ \t]*$/, "").trim();
  }
  for (const { text, start } of scanStructure(body).headings)
    if (!/^ {0,3}#/.test(body.slice(start, start + 4))) yield text;
}

// `id="x"`, `name=x`, `id={"x"}`, `id: x`; `{#x}`, `{: #x}`, `{/* #x */}`, `[#x]`, `[[x]]`, `[](){#x}`.
const explicit =
  /(?:\b(?:id|name|anchor)["']?[ \t]*[=:][ \t]*[{"'`]*|[{[][:/*\s]{0,10}#|\[\[|^[ \t]*\.\. _`?|:name:[ \t]*|anchor:)([^\s"'`{}[\],<>]+)/gim;
// The registry of Terraform makes anchors of arguments: "* `name` - …".
const argument = /^[ \t]*[-*+][ \t]+[`*]{1,3}([\w.-]+)/gm;
const moreIds = /\{:?[^{}\n]*?#([^\s{}]+)[^{}\n]*\}/g;

function* explicitIds(text: string): Generator<string> {
  for (const [, id = ""] of text.matchAll(explicit)) yield id.replace(/:$/, "");
  for (const [, id = ""] of text.matchAll(moreIds)) yield id;
  for (const [, id = ""] of text.matchAll(argument)) yield id;
}

// What a program replaces by text: its anchors are unknown.
const generated =
  /\{\{[^}]|\{%|<%|^[ \t]*:::? [\w.]+|<script|<!--[ \t]*\w+:|^import\s[^\n]*\.mdx?["']|@include|^\s*\{![^\n]*!\}|dangerouslySetInnerHTML/m;

// A component of VuePress and its like. MDX imports its components, and most of them have no headings.
const component = /<[A-Z]\w*[\s/>]/;

/** Whether other programs may add anchors to the page that its file does not show. */
function hasUnknownAnchors({ parsed, source, path, settings }: LintPage): boolean {
  const format = formatOf(path, settings.format);
  if (format !== formats.markdown && format !== formats.mdx) return true;
  return (
    source === undefined ||
    !parsed.isMarkdown ||
    generated.test(source) ||
    (format === formats.markdown && component.test(parsed.body)) ||
    (parsed.leftOut?.length ?? 0) > 0
  );
}

/** Where anchors of a page come from, as plain data: one a line. */
export interface AnchorSources {
  headings: string;
  ids: string;
}

/** The headings and ids of a page; undefined if programs may add anchors. */
export function anchorSources(page: LintPage): AnchorSources | undefined {
  if (hasUnknownAnchors(page)) return undefined;
  const { body, headings = [] } = page.parsed;
  const ids = new Set(headings.map(({ anchor = "" }) => anchor));
  for (const text of body === page.source ? [body] : [body, page.source ?? ""]) {
    for (const id of explicitIds(text)) ids.add(id);
  }
  return { headings: [...headingTexts(body)].join("\n"), ids: [...ids].join("\n") };
}

/** Checks anchors of one page. */
export interface Anchors {
  has(anchor: string): boolean;
  /** All of them, comparable. */
  list(): readonly string[];
}

// A repeated heading has a number: the second `Notes` is `notes-1` on GitHub.
const repeated = "-#";

export function createAnchors({ headings, ids }: AnchorSources): Anchors {
  let all: Set<string> | undefined;
  const find = (): Set<string> => {
    if (all) return all;
    all = new Set(ids.split("\n").map((id) => comparableAnchor(id)));
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
  };
  // Nearly all links are right, and most of them are the id or the heading itself.
  const written = new Set(ids.split("\n"));
  for (const text of headings.split("\n")) written.add(githubSlug(text));
  return {
    has(anchor) {
      if (written.has(anchor)) return true;
      const comparable = comparableAnchor(anchor);
      if (comparable === "" || find().has(comparable)) return true;
      const [, stem] = /^(.+?)-?\d+$/.exec(comparable) ?? [];
      return stem !== undefined && find().has(stem + repeated);
    },
    list: () => [...find()].filter((anchor) => !anchor.endsWith(repeated)),
  };
}
