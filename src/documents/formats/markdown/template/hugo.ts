import { pageAtHand } from "../../../page/at-hand.ts";
import { renderGo } from "./go-template.ts";
import { type GoObject, type GoValue, text } from "./go-values.ts";
import {
  callObject,
  dataOf,
  type Making,
  siteObject,
  storeObject,
  translated,
} from "./hugo-objects.ts";
import { inLanguage, themeFolders } from "./hugo-site.ts";
import type { TemplatePage } from "./scope.ts";

/** A shortcode with its parameters, as a page of Hugo has it. */
export interface Call {
  name: string;
  positional: readonly string[];
  named: ReadonlyMap<string, string>;
}

/** The texts around the content of a shortcode; `after` is undefined where it shows no content. */
export interface Frame {
  before: string;
  after: string | undefined;
}

/** A shortcode without a template of its own, or with one that is not understood. */
type Unframed = "none" | "unknown";

/** Stands for the content while the HTML around it becomes Markdown. */
const inner = "\uE000";
const [keptStart, keptEnd] = ["\uE001", "\uE002"];
const mostPartials = 20;

/** HTML of a template as Markdown. A fragment has no title and no head. */
function toMarkdown(html: string): string {
  if (!/[<&]/.test(html)) return html;
  const { body } = pageAtHand()(html, {
    path: "",
    keepsHidden: false,
    firstLine: 1,
    onlyMain: false,
  });
  return body;
}

/** What stands in front of the content, without the marks of a quotation or a list around it. */
const withoutMarks = (of: string): string => of.replace(/(^|\n)(?:[ \t>]|[*+-](?=[ \t]))*$/, "$1");

// gohugo.io, "Sites": what the templates of one document may do.
const work = new WeakMap<
  TemplatePage["around"]["includes"],
  { turns: number; chars: number; depth: number }
>();

function leftOf({ around }: TemplatePage) {
  let left = work.get(around.includes);
  if (!left) work.set(around.includes, (left = { turns: 50_000, chars: 4_000_000, depth: 40 }));
  return left;
}

/** The template of a shortcode or a partial, of the project or of its themes. */
function templateAt({ site, around }: TemplatePage, folders: readonly string[], name: string) {
  if (!/^[\w/.-]+$/.test(name) || name.includes("..")) return undefined;
  // gohugo.io, "Template types > Shortcode": the name says the output format, which may be Markdown.
  const files = /\.\w+$/.test(name) ? [name] : [`${name}.html`, `${name}.md`];
  const found = folders
    .flatMap((folder) => themeFolders(site, `layouts/${folder}`))
    .flatMap((folder) => files.map((file) => `/${site.prefix}${folder}/${file}`))
    .map((file) => around.includes.read(file, []))
    .find((each) => "text" in each);
  return found && "text" in found ? found.text : undefined;
}

interface Rendering extends Making {
  onContent: () => void;
  partials: number;
}

function partial(rendering: Rendering, name: string, dot: GoValue): GoValue {
  if (++rendering.partials > mostPartials) return undefined;
  const template = templateAt(
    rendering.page,
    ["partials", "_partials"],
    name.replace(/^partials\//, ""),
  );
  return template === undefined ? undefined : render(template, dot, rendering);
}

/** Code of a function `highlight`. */
function fenced(code: string, language: string): string {
  const marks = "`".repeat(
    Math.max(3, ...[...code.matchAll(/`+/g)].map(([run]) => run.length + 1)),
  );
  return `\n\n${marks}${/^[\w+#-]*$/.test(language) ? language : ""}\n${code.trimEnd()}\n${marks}\n\n`;
}

/** gohugo.io, "Functions": those that ask the site. */
function render(template: string, dot: GoValue, rendering: Rendering): GoValue {
  const { page, keep, onContent } = rendering;
  const calls: Readonly<Record<string, (...args: GoValue[]) => GoValue>> = {
    site: () => siteObject(rendering),
    "hugo.Data": () => dataOf(rendering),
    newScratch: storeObject,
    "collections.NewScratch": storeObject,
    i18n: (key) => translated(rendering, text(key)),
    T: (key) => translated(rendering, text(key)),
    partial: (name, given = null) => partial(rendering, text(name), given),
    partialCached: (name, given = null) => partial(rendering, text(name), given),
    markdownify: (given) => keep(text(given)),
    "transform.Markdownify": (given) => keep(text(given)),
    highlight: (code, language) => keep(fenced(text(code), text(language))),
    "transform.Highlight": (code, language) => keep(fenced(text(code), text(language))),
    ref: (...given) => inLanguage(text(given.at(-1)), page),
    relref: (...given) => inLanguage(text(given.at(-1)), page),
    readFile(path) {
      const name = text(path).replace(/^\/+/, "");
      const found = page.around.includes.read(`/${page.site.prefix}${name}`, []);
      return "text" in found && !text(path).includes(inner) ? found.text : undefined;
    },
  };
  return renderGo(template, {
    dot,
    left: leftOf(page),
    content: inner,
    onContent,
    call(name, args) {
      if (name.startsWith("hugo.Data.")) {
        return name
          .slice("hugo.Data.".length)
          .split(".")
          .reduce<GoValue>(
            (value, each) => (value as GoObject | undefined)?.member?.(each, []) ?? undefined,
            dataOf(rendering),
          );
      }
      if (!Object.hasOwn(calls, name) || args.includes(undefined)) return undefined;
      return calls[name]?.(...args);
    },
  });
}

/** The line up to a kept text, for the lines after its first one. */
const continued = (line: string): string =>
  /^[ \t>*+\d.)-]*$/.test(line) ? line.replace(/[^\s>]/g, " ") : "";

/** Puts kept Markdown back, where the HTML around it has become Markdown. */
const withKept = (markdown: string, kept: readonly string[]): string =>
  markdown.replace(/([^\n]*?)\uE001(\d+)\uE002/g, (_, line: string, at: string) => {
    const own = (kept[Number(at)] ?? "").trim();
    if (line.trimStart().startsWith("|")) return line + own.replace(/\s*\n\s*/g, " ");
    return line + own.replaceAll("\n", `\n${continued(line)}`);
  });

// Lines of Markdown with nothing but tags that show nothing. A hidden element is left out as a whole.
const frameTags =
  /^[ \t]*(?:<\/?(?:div|section|article|br)\b(?![^<>]{0,1000}(?:hidden|display))[^<>]{0,1000}>[ \t]*){1,20}$/gim;

const childrenOf = new WeakMap<GoObject, number>();

/** gohugo.io, "Ordinal": the number of a shortcode in the one around it. */
function ordinalIn(parent: GoObject | undefined): number {
  const ordinal = parent ? (childrenOf.get(parent) ?? 0) : 0;
  if (parent) childrenOf.set(parent, ordinal + 1);
  return ordinal;
}

/**
 * The texts around the content of a shortcode by the template that the project has for it. `content`
 * reads its content, where the template does more with it than show it; it is asked once at most, and
 * then stands in `before`.
 */
export function frameOf(
  call: Call,
  page: TemplatePage,
  {
    isMarkdown,
    parent,
    content,
  }: {
    isMarkdown: boolean;
    parent: GoObject | undefined;
    content: (own: GoObject) => string | undefined;
  },
): Frame | Unframed {
  const template = templateAt(page, ["shortcodes", "_shortcodes"], call.name);
  if (template === undefined) return "none";
  const kept: string[] = [];
  const keep = (markdown: string): string =>
    markdown === inner ? inner : `${keptStart}${kept.push(markdown) - 1}${keptEnd}`;
  // Only the one around it knows what it is for.
  if (/\.Parent\b/.test(template) && !parent) return "unknown";
  let asks = /(?<!\.Page)\.(?:Scratch|Store)\b/.test(template);
  const renderWith = (own: GoObject): GoValue =>
    render(template, own, { page, keep, partials: 0, onContent: () => (asks = true) });
  const making = { page, keep };
  let shown: string | undefined;
  const given = { ...call, parent, ordinal: ordinalIn(parent) };
  let rendered = asks ? undefined : renderWith(callObject({ ...given, inner }, making));
  if (asks) {
    const object = callObject({ ...given, inner: "" }, making);
    const read = content(object);
    if (read === undefined) return "unknown";
    const whole: GoObject = {
      member: (name, args) =>
        /^Inner(?:Deindent)?$/.test(name) ? read : object.member(name, args),
    };
    rendered = renderWith(whole);
    shown = read.trim();
    // In the HTML of the template, it would be read as HTML.
    if (typeof rendered === "string" && shown !== "") rendered = rendered.replace(shown, inner);
  }
  if (typeof rendered !== "string") return "unknown";
  const markdown = isMarkdown ? rendered : toMarkdown(rendered);
  const parts = withKept(markdown, kept)
    .split(inner)
    .map((part) => (isMarkdown ? part.replace(frameTags, "") : part));
  if (parts.length > 2) return "unknown";
  const [before = "", after] = parts;
  if (after === undefined) return { before: before.trim(), after };
  if (shown !== undefined) {
    const all = [before.trim(), shown, after.trim()].filter((each) => each !== "");
    return { before: all.join("\n\n"), after: undefined };
  }
  return { before: withoutMarks(before.trimStart()), after: after.trimEnd() };
}
