import { join, posix } from "node:path";
import type { LintPage, Span } from "../rule.ts";
import { bodyOf, oncePerPage } from "./body.ts";
import { formatOf, formats } from "../../../documents/formats/formats.ts";
import type { DocumentSettings } from "../../../documents/map/settings.ts";
import { countIn, targetsFor } from "../../../documents/map/links/targets.ts";
import { bytesAt, siteOf, type Site } from "../../../documents/site/sites.ts";

/** A role of Sphinx that names a label or a page. */
export interface Role {
  isPage: boolean;
  /** As its author wrote it. */
  name: string;
  span: Span;
}

/** What the configuration of a site of Sphinx says about names; it is read as text and never run. */
export interface NamesOfSite {
  /** Absolute folder of the project. */
  root: string;
  prefix: string;
  /** Names may be those of other projects. */
  hasOthers: boolean;
  /** Titles of sections are labels. */
  hasSections: boolean;
}

const configsOfRun = new WeakMap<DocumentSettings, Map<string, NamesOfSite>>();

function readNames({ prefix }: Site, root: string): NamesOfSite {
  const text = ["conf.py", "_config.yml"]
    .map((name) => Buffer.from(bytesAt(join(root, prefix, name))).toString())
    .join("\n");
  // A comment configures nothing.
  const plain = text.replace(/^\s*#.*$/gm, "");
  return {
    root,
    prefix,
    hasOthers: /intersphinx/.test(plain),
    hasSections: /\bautosectionlabel\b/.test(plain),
  };
}

/** The site of Sphinx of a page; undefined for pages of other sites. */
export function sphinxOf({ path, settings }: LintPage): NamesOfSite | undefined {
  const site = siteOf(path, settings);
  if (!site || !/^(?:sphinx|jupyterbook)$/.test(site.generator)) return undefined;
  let known = configsOfRun.get(settings);
  if (!known) configsOfRun.set(settings, (known = new Map()));
  const names = known.get(site.prefix) ?? readNames(site, settings.root);
  known.set(site.prefix, names);
  return names;
}

// sphinx-doc.org, "Cross-referencing syntax"; MyST-Parser, "Roles and directives".
const ofRst = /(?<![`\w:\\]):(?:std:)?(ref|numref|doc):`(?=[^`\s])((?:[^`\\]|\\[^]){1,300})`(?!`)/g;
const ofMyst = /(?<![`\\])\{(?:std:)?(ref|numref|doc)\}`(?=[^`\s])([^`]{1,300})`(?!`)/g;

const shownOfRst = /:(?:std:)?(?:ref|numref|doc):`(?:[^`\\]|\\[^]){1,300}`/g;
const shownOfMyst = /\{(?:std:)?(?:ref|numref|doc)\}`[^`]{1,300}`/g;

/** Where comments are: of reStructuredText with the lines indented below them, of MyST alone. */
function commentsIn(source: string, isRst: boolean): [start: number, end: number][] {
  const found: [number, number][] = [];
  const pattern = isRst
    ? /^([ \t]*)\.\.(?:[ \t]+(?![\w:+-]+::|_|\[|\|)[^\n]*|[ \t]*)(?:\n(?:\1[ \t]+\S[^\n]*|[ \t]*(?=\n\1[ \t]+\S)))*/gm
    : /^[ \t]*%[^\n]*|<!--[^]*?(?:-->|$(?![^]))/gm;
  for (const { 0: text, index } of source.matchAll(pattern))
    found.push([index, index + text.length]);
  return found;
}

/** The roles of a page of Sphinx that its reader has read, in order: in code, and in comments, are none. */
export const rolesOf = oncePerPage((page): Role[] => {
  const { source = "", path, settings } = page;
  const format = formatOf(path, settings.format);
  const isRst = format === formats.rst;
  if (!isRst && format !== formats.markdown) return [];
  if (!source.includes(isRst ? ":`" : "}`")) return [];
  const inText = new Set(bodyOf(page).text.match(isRst ? shownOfRst : shownOfMyst));
  let comments: [number, number][] | undefined;
  let passed = 0;
  const found: Role[] = [];
  for (const match of source.matchAll(isRst ? ofRst : ofMyst)) {
    const [written, role, content = ""] = match;
    // Code stands in the text as it is.
    if (inText.has(written)) continue;
    comments ??= commentsIn(source, isRst);
    while ((comments[passed]?.[1] ?? match.index + 1) <= match.index) passed++;
    if ((comments[passed]?.[0] ?? match.index + 1) <= match.index) continue;
    const [, named = content] = /<([^<>]*)>\s*$/.exec(content) ?? [];
    const name = named.trim();
    const at = match.index + written.lastIndexOf(named) + (named.length - named.trimStart().length);
    if (name !== "")
      found.push({ isPage: role === "doc", name, span: { start: at, end: at + name.length } });
  }
  return found;
});

/** Names are compared without case, and with single blanks. */
export const keyOf = (name: string): string => name.trim().toLowerCase().replace(/\s+/g, " ");

// `.. _x:`, `(x)=`, `:name: x`, `"label": "x"`, and `_`x``.
const labels =
  /^[ \t]*(?:[#*/|]+[ \t]*)?\.\. _`?([^`\n]{1,200}?)`?:[ \t]*(?:\S[^\n]*)?$|^[ \t]*\(([^()\n]{1,200})\)=[ \t]*$|^[ \t]*:(?:name|label):[ \t]+([^\n]{1,200})$|"label"[ \t]*:[ \t]*"([^"\n]{1,200})"|\b_`([^`\n]{1,200})`|^[ \t]*(?:label|name):[ \t]+["']?([^"'\n]{1,200})/gm;

/** The labels in a text. What only looks like one hides a finding at most. */
export function* labelsIn(text: string): Generator<string> {
  for (const [, ...names] of text.matchAll(labels)) {
    const name = names.find((each) => each !== undefined);
    if (name !== undefined) yield keyOf(name.replaceAll("\\", ""));
  }
}

const extensions = ["", ".rst", ".md", ".txt", ".ipynb", ".inc", ".py", ".myst", ".markdown"];

/** Whether a role names a page that is not there, and that neither a build nor another project has. */
export function isDeadPage({ path, settings }: LintPage, name: string, site: NamesOfSite): boolean {
  const isFromRoot = name.startsWith("/");
  if (site.hasOthers && (name.includes(":") || !/^[./]|\//.test(name))) return false;
  const own = posix.dirname(path);
  const isAbove = posix.join(posix.relative(site.prefix, own), name).startsWith("..");
  const folders = isFromRoot ? [site.prefix, ""] : [own];
  const places = isAbove
    ? [posix.join(site.prefix, posix.join("/", name))]
    : folders.map((folder) => posix.join(folder, `./${name}`).replace(/\/+$/, ""));
  if (places.some((place) => place.startsWith("../"))) return false;
  const isNear =
    /^[./]/.test(name) || places.some((each) => countIn(posix.dirname(each), settings));
  if (site.hasOthers && !isNear) return false;
  const targets = targetsFor(settings);
  return places.every((place) =>
    extensions.every((each) => {
      const file = place + each;
      return targets.at(file).kind === "none" && targets.isIgnored?.(file) !== true;
    }),
  );
}
