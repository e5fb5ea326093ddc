import {
  type Expansion,
  indentBefore,
  indented,
  isAlone,
  type Replacement,
  includedText,
  type Part,
} from "./included.ts";
import type { Surroundings } from "../format.ts";
import { macroFolders } from "./mkdocs.ts";
import { printed } from "./template/expression.ts";
import { frameOf } from "./template/hugo.ts";
import { hugoPageOf, inLanguage, paramOf } from "./template/hugo-site.ts";
import type { TemplatePage } from "./template/scope.ts";
import { admonitionLabel, componentText, destination } from "./blocks.ts";

/** A tag of a template language in Markdown: a shortcode of Hugo, or a tag of Liquid. */
interface Shortcode {
  name: string;
  /** `open` has an end tag. */
  kind: "open" | "close" | "single";
  positional: readonly string[];
  named: ReadonlyMap<string, string>;
  end: number;
}

// Nobody writes a longer tag, or one with more parameters.
const longestTag = 10_000;
const mostParameters = 100;

const parameter =
  /\s*(?:([\w$.:-]+)\s*=\s*)?(?:"([^"\\]*(?:\\[^][^"\\]*)*)"|'([^']*)'|`([^`]*)`|([^\s"'`=,]+))[\s,]*/y;

function parametersOf(text: string): Pick<Shortcode, "positional" | "named"> {
  const positional: string[] = [];
  const named = new Map<string, string>();
  for (let at = 0; at < text.length && positional.length + named.size < mostParameters;) {
    parameter.lastIndex = at;
    const found = parameter.exec(text);
    if (!found) break;
    const [whole, key, double, single, raw, bare = ""] = found;
    const value = double?.replace(/\\(["\\])/g, "$1") ?? single ?? raw ?? bare;
    if (key === undefined) positional.push(value);
    else named.set(key, value);
    at += whole.length;
  }
  return { positional, named };
}

/** Reads the shortcode of Hugo at a `{{<` or `{{%`. */
export function readHugo({ text, nextOf, closed }: Expansion, at: number): Shortcode | undefined {
  const mark = text[at + 2] === "<" ? ">}}" : "%}}";
  const close = nextOf(mark, at + 3);
  if (close === -1 || close - at > longestTag) return undefined;
  const inner = text.slice(at + 3, close);
  const [whole, slash, name = ""] = /^\s*(\/?)\s*([\w./-]+)/.exec(inner) ?? [];
  if (whole === undefined) return undefined;
  const end = close + mark.length;
  const rest = inner.slice(whole.length);
  const isSingle = rest.trimEnd().endsWith("/");
  const kind = slash === "/" ? "close" : !isSingle && closed.has(name) ? "open" : "single";
  return { name, kind, ...parametersOf(isSingle ? rest.trimEnd().slice(0, -1) : rest), end };
}

/** Reads the tag of Liquid at a `{%`. */
export function readLiquid({ text, nextOf, closed }: Expansion, at: number): Shortcode | undefined {
  const close = nextOf("%}", at + 2);
  if (close === -1 || close - at > longestTag) return undefined;
  const inner = text.slice(at + 2, close).replace(/^-|-$/g, "");
  const [whole, name = ""] = /^\s*([a-z_][\w-]*)(?![\w.])/i.exec(inner) ?? [];
  if (whole === undefined) return undefined;
  const [, closing] = /^end-?(\w[\w-]*)$/.exec(name) ?? [];
  const kind = closing !== undefined ? "close" : closed.has(name) ? "open" : "single";
  return {
    name: closing ?? name,
    kind,
    ...parametersOf(inner.slice(whole.length)),
    end: close + 2,
  };
}

/** Names with an end tag anywhere in the text. */
export function closedNames(text: string): Set<string> {
  const names = new Set<string>();
  for (const [, hugo, liquid] of text.matchAll(
    /\{\{[<%][ \t]*\/[ \t]*([\w./-]{1,100})|\{%-?[ \t]*end-?(\w[\w-]{0,100})/g,
  )) {
    names.add(hugo ?? liquid ?? "");
  }
  return names;
}

const references = new Set(["ref", "relref", "link", "post_url"]);
const codeNames = /^(?:highlight|code|code-?block|code-toggle|prism)$/i;
const includeNames =
  /^(?:include|include_relative|include-?text|include-?md|include-markdown|include-?file|read-?file|snippet)$/i;
const boxNames = /^(?:hint|alert|callout|admonition|notice|aside)$/i;
const titledNames =
  /^(?:tab|tab-?(?:item|content|panel)|details|expand|collapse|accordion|spoiler|step)$/i;
// Parts of conditions and loops: they show nothing themselves.
const silentNames = new Set(
  "else elsif elseif when assign increment decrement break continue".split(" "),
);
const hugoFolders = ["", "content", "docs", "assets"];
const liquidFolders = ["", "_includes", "docs", "includes"];
const longestLink = 2000;
// Nobody nests more shortcodes of one name.
const mostOpen = 50;

/** Parameters under the names that attributes of components have. */
function valuesOf({ named, positional, name }: Shortcode): Map<string, string> {
  const values = new Map(named);
  // docsy.dev, "Tabbed panes": `text=true` says that the content is no code.
  if (/^(?:true|false)$/.test(named.get("text") ?? "")) values.delete("text");
  const alias = (key: string, ...others: string[]): void => {
    const value = others.map((each) => named.get(each)).find((each) => each !== undefined);
    if (!values.has(key) && value !== undefined) values.set(key, value);
  };
  alias("href", "link", "url");
  // docsy.dev, "alert": its color is not shown as a word.
  alias("type", "style", ...(name === "alert" ? [] : ["color"]), "status", "level");
  alias("title", "header", "heading", "summary");
  const [first] = positional;
  if (titledNames.test(name)) {
    alias("title", "label", "name", "tabName");
    if (first !== undefined && !values.has("title")) values.set("title", first);
  }
  if (boxNames.test(name) && first !== undefined && !values.has("type")) values.set("type", first);
  // `new-in 0.123`: a version is all that this can show.
  if (first !== undefined && /^v?\d+(?:\.\d+)+/.test(first)) {
    values.set("v", first);
  }
  return values;
}

function partOf(
  { name, named, positional }: Shortcode,
  isLiquid: boolean,
  around: Surroundings,
): Part | undefined {
  const target = named.get("file") ?? named.get("path") ?? named.get("src") ?? positional[0];
  // A template of HTML is no text, and a name with variables is no name.
  if (!includeNames.test(name) || target === undefined || /[{}<>*]/.test(target)) return undefined;
  if (!/\.\w+$/.test(target) || (isLiquid && /\.html?$/i.test(target))) return undefined;
  return {
    target: target.replace(/^\/+/, ""),
    folders: isLiquid ? [...macroFolders(around), ...liquidFolders] : hugoFolders,
    start: named.get("start"),
    end: named.get("end"),
    // github.com/mondeja/mkdocs-include-markdown-plugin, "rewrite-relative-urls".
    rebases: name === "include-markdown" && named.get("rewrite-relative-urls") !== "false",
  };
}

/** The line that opens or closes a fence, on a line of its own. */
function fenceLine({ text }: Expansion, at: number, end: number, language: string): string {
  const before = indentBefore(text, at) === undefined ? "\n" : "";
  const after = /^[ \t]*(?:\n|$)/.test(text.slice(end, end + 200)) ? "" : "\n";
  return `${before}\`\`\`${language}${after}`;
}

/** Opens a fence around the content; undefined if it never ends, or has fences of its own. */
function openFence(
  expansion: Expansion,
  at: number,
  tag: Shortcode,
  isLiquid: boolean,
): string | undefined {
  const { name, named, positional, end } = tag;
  const content = contentOf(expansion, tag, isLiquid);
  const marks = expansion.nextOf("```", end);
  if (!content || (marks !== -1 && marks < content.close)) return undefined;
  expansion.fences.push(name);
  const language = named.get("lang") ?? named.get("language") ?? positional[0] ?? "";
  return fenceLine(expansion, at, end, /^[\w+#-]+$/.test(language) ? language : "");
}

/** Begins the text of a link if the shortcode ends in the same paragraph. */
function openLink({ text, links }: Expansion, { name, end }: Shortcode, href: string): boolean {
  const rest = text.slice(end, end + longestLink);
  const close = rest.search(/\{\{[<%]\s*\/|\{%-?\s*end/);
  const inner = close === -1 ? "" : rest.slice(0, close);
  // A link in a link is none.
  if (inner.trim() === "" || /\n[ \t]*\n|\]\(/.test(inner)) return false;
  links.push({ name, href });
  return true;
}

function closeText({ links }: Expansion, { name }: Shortcode): string {
  const link = links.at(-1);
  if (link?.name !== name) return "";
  links.pop();
  return `](${destination(link.href)})`;
}

/** The texts in the parameters of a shortcode; undefined if there are none. */
function parameterText(expansion: Expansion, at: number, tag: Shortcode): string | undefined {
  const { text, around } = expansion;
  const { name, end } = tag;
  const hasContent = tag.kind === "open";
  const values = valuesOf(tag);
  const keys = new Set([...around.componentAttributes, "title", "caption", "alt", "href", "v"]);
  const found = componentText(name, values, [...keys], hasContent);
  const { label, rest, href } = found;
  if (hasContent && href !== undefined && openLink(expansion, tag, href)) return "[";
  const type = hasContent && boxNames.test(name) ? values.get("type") : undefined;
  const head = type === undefined ? label : (admonitionLabel(type, values.get("title")) ?? label);
  const shownHead = hasContent && head !== undefined ? `**${head}**` : head;
  const link = hasContent || href === undefined ? undefined : `<${href}>`;
  const texts = [shownHead, ...rest, link].filter((each) => each !== undefined);
  if (texts.length === 0) return undefined;
  if (!isAlone(text, at, end)) return texts.join(" ") + (hasContent ? " " : "");
  return texts.join("\n\n") + (hasContent ? "\n" : "");
}

/** Offset after the end tag of a shortcode, and of the text before it; undefined without one. */
function contentOf(
  { nextOf }: Expansion,
  { name, end }: Shortcode,
  isLiquid: boolean,
): { close: number; end: number } | undefined {
  const close = nextOf(isLiquid ? `end${name}` : `/${name}`, end);
  const last = close === -1 ? -1 : nextOf(isLiquid ? "%}" : "}}", close, name);
  return last === -1 ? undefined : { close, end: last + 2 };
}

const hugoTag = /\{\{[<%]\s*(\/?)\s*([\w./-]{1,100})/g;
const ownEnds = new WeakMap<Expansion, Map<number, { close: number; end: number }>>();

/**
 * Where the content of a shortcode of Hugo ends, and its end tag. All tags of a text are matched at
 * once, each end tag with the nearest open one of its name.
 */
function hugoContent(expansion: Expansion, at: number): { close: number; end: number } | undefined {
  let ends = ownEnds.get(expansion);
  if (!ends) {
    ownEnds.set(expansion, (ends = new Map()));
    const open = new Map<string, number[]>();
    for (const { 1: slash, 2: name = "", index } of expansion.text.matchAll(hugoTag)) {
      const own = open.get(name) ?? [];
      if (slash === "") open.set(name, [...own.slice(-mostOpen), index]);
      const start = slash === "/" ? own.pop() : undefined;
      const end = start === undefined ? -1 : expansion.text.indexOf("}}", index) + 2;
      if (start !== undefined && end > 1) ends.set(start, { close: index, end });
    }
  }
  return ends.get(at);
}

/** The text of a shortcode whose meaning a site of Hugo says: `param`, and templates of the project. */
function hugoText(
  expansion: Expansion,
  at: number,
  tag: Shortcode,
  page: TemplatePage,
): Replacement | undefined {
  const { text, ends, log } = expansion;
  const { name, kind, end } = tag;
  if (kind === "close") {
    if (ends.at(-1)?.name !== name) return undefined;
    return { end, text: ends.pop()?.after ?? "" };
  }
  const first = tag.named.get("name") ?? tag.positional[0];
  if (name === "param" && kind === "single" && first !== undefined) {
    const value = printed(paramOf(page, first));
    return value === undefined ? undefined : { end, text: value };
  }
  if (includeNames.test(name) || codeNames.test(name)) return undefined;
  const content = kind === "open" ? hugoContent(expansion, at) : undefined;
  if (kind === "open" && !content) return undefined;
  const frame = frameOf(tag, page, {
    isMarkdown: text[at + 2] === "%",
    parent: expansion.parent,
    content: (parent) => (content ? expansion.content(text.slice(end, content.close), parent) : ""),
  });
  if (frame === "unknown" && kind === "open") log.add("shortcode", name, at);
  if (typeof frame === "string") return undefined;
  if (!content) return { end, text: indented(frame.before + (frame.after ?? ""), text, at) };
  // Its template shows something else instead of the content.
  if (frame.after === undefined) return { end: content.end, text: frame.before };
  ends.push({ name, after: frame.after });
  return { end, text: indented(frame.before, text, at) };
}

/** The text in place of a shortcode. Counts those that show something unknown. */
export function shortcodeText(
  expansion: Expansion,
  at: number,
  tag: Shortcode,
  isLiquid: boolean,
): Replacement {
  const { text, log } = expansion;
  const { name, kind, end, positional, named } = tag;
  const page = isLiquid ? undefined : hugoPageOf(expansion);
  const own = page && hugoText(expansion, at, tag, page);
  if (own) return own;
  if (kind === "close" && expansion.fences.at(-1) === name) {
    expansion.fences.pop();
    return { end, text: fenceLine(expansion, at, end, "") };
  }
  if (kind === "close") return { end, text: closeText(expansion, tag) };
  const fence =
    kind === "open" && codeNames.test(name) ? openFence(expansion, at, tag, isLiquid) : undefined;
  if (fence !== undefined) return { end, text: fence };
  if (kind === "open" && (name === "raw" || name === "comment")) {
    const content = contentOf(expansion, tag, isLiquid);
    if (content) {
      if (name === "comment") log.add("comment", "", at);
      const inner = name === "raw" ? text.slice(end, content.close) : "";
      return { end: content.end, text: inner.replace(/\{%-?[ \t]*$/, "") };
    }
  }
  if (references.has(name)) {
    const path = named.get("path") ?? positional[0] ?? "";
    // jekyllrb.com, "Links": the path counts from the folder of the site, as an address does.
    const isOfSite = isLiquid && name === "link" && /^[^/]/.test(path);
    return { end, text: isOfSite ? `/${path}` : page ? inLanguage(path, page) : path };
  }
  const part = kind === "single" ? partOf(tag, isLiquid, expansion.around) : undefined;
  if (part) {
    const language = named.get("lang") ?? named.get("language");
    const isCode = language !== undefined || named.get("code") === "true";
    const body = includedText(expansion, part, at, isCode || expansion.isCode(at));
    const block = isCode && body !== "" ? `\`\`\`\`${language ?? ""}\n${body}\n\`\`\`\`` : body;
    return { end, text: indented(block, text, at) };
  }
  const shown = parameterText(expansion, at, tag);
  const isSilent = kind === "open" || silentNames.has(name);
  if (shown === undefined && !isSilent) log.add("shortcode", name, at);
  return { end, text: indented(shown ?? "", text, at) };
}
