import { isMap, textOf, type Value } from "../../front-matter/values.ts";
import type { PageSite, Surroundings } from "../format.ts";
import { type Expansion, type Replacement, withoutPair } from "./included.ts";

// mkdocs.org, "Configuration"; facelessuser.github.io/pymdown-extensions; python-markdown.github.io,
// "Extensions"; mkdocs-macros-plugin.readthedocs.io.

/** The names and options of a list of extensions or plugins. */
type Named = ReadonlyMap<string, Value>;

const noOptions: Value = null;

function namedIn(value: Value | undefined): Named {
  const named = new Map<string, Value>();
  for (const each of Array.isArray(value) ? value : value === undefined ? [] : [value]) {
    const name = textOf(each);
    if (name !== undefined) named.set(name, noOptions);
    else if (each !== null && isMap(each)) {
      for (const [key, options] of Object.entries(each)) named.set(key, options);
    }
  }
  return named;
}

const bundles: Readonly<Record<string, readonly string[]>> = {
  extra: ["abbr"],
  "pymdownx.extra": ["abbr"],
};

interface Features {
  extensions: Named;
  plugins: Named;
}

// The configuration is read once in a run. Its lists are the same objects on each page.
const known = new WeakMap<object, Named>();

function listOf(site: PageSite, key: string): Named {
  const value = site.value(key);
  if (value === undefined || value === null || typeof value !== "object") return namedIn(value);
  let named = known.get(value);
  if (!named) {
    const found = new Map(namedIn(value));
    for (const [name, options] of found) {
      const plain = name.replace(/^markdown\.extensions\./, "");
      for (const each of [plain, ...(bundles[plain] ?? [])])
        if (!found.has(each)) found.set(each, options);
    }
    known.set(value, (named = found));
  }
  return named;
}

/** Whether a page is one of MkDocs. */
const isMkdocs = ({ site }: Surroundings): boolean => site?.generator === "mkdocs";

function featuresOf({ site }: Surroundings): Features | undefined {
  if (site?.generator !== "mkdocs") return undefined;
  return { extensions: listOf(site, "markdown_extensions"), plugins: listOf(site, "plugins") };
}

function optionsOf(around: Surroundings, name: string, plugin?: string): Value[] {
  const features = featuresOf(around);
  const options =
    (plugin === undefined
      ? features?.extensions.get("pymdownx.snippets")
      : features?.plugins.get(plugin)) ?? null;
  const value = options !== null && isMap(options) ? options[name] : undefined;
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}

const textsOf = (values: readonly Value[]): string[] =>
  values.map((each) => textOf(each)).filter((each) => each !== undefined);

/** `base_path` of `pymdownx.snippets`: folders below that of the configuration. */
export const snippetFolders = (around: Surroundings): string[] =>
  textsOf(optionsOf(around, "base_path")).map((each) => each.replace(/^\$config_dir\/?/, ""));

/** mkdocs-macros-plugin.readthedocs.io, "Configuration": `include_dir`, of `{% include %}`. */
export const macroFolders = (around: Surroundings): string[] =>
  textsOf(optionsOf(around, "include_dir", "macros"));

/** The body with the files of `auto_append` of `pymdownx.snippets` at its end. */
export function withAppended(body: string, around: Surroundings): string {
  const files = isMkdocs(around) ? textsOf(optionsOf(around, "auto_append")) : [];
  const lines = files.filter((file) => !/["\n]/.test(file)).map((file) => `\n\n--8<-- "${file}"\n`);
  return body + lines.join("");
}

/** Whether `{!file!}` includes in code as well: markdown-include reads it before Markdown. */
export const includesInCode = (around: Surroundings): boolean =>
  featuresOf(around)?.extensions.has("markdown_include.include") === true;

/** What only pages of MkDocs have, for a pattern. */
export const mkdocsMarks = String.raw`\{\{|\{%|\+\+(?=[\w"])|\{(?:\+\+|--|~~|==|>>)|(?:\+\+|--|~~|==|<<)\}|(?<!=)==(?!=)|\^\^|(?<!\^)\^(?=[^\s^])|(?<!~)~(?=[^\s~])|:(?:material|fontawesome|octicons|simple)-[\w-]+:|^[ \t]*\*\[[^\]\n]{1,200}\]:[^\n]*|^[ \t]*\[TOC\][ \t]*$|^[ \t]*:::[ \t]+[\w.-]+[ \t]*$`;

const keyNames: Readonly<Record<string, string>> = {
  control: "Ctrl",
  command: "Cmd",
  return: "Enter",
  escape: "Esc",
  delete: "Del",
  "arrow-up": "Up",
  "arrow-down": "Down",
  "arrow-left": "Left",
  "arrow-right": "Right",
};

/** `++ctrl+alt+"F"++` as `Ctrl+Alt+F`. */
function keysOf(keys: string): string {
  return keys
    .split("+")
    .map((key) => {
      const literal = /^"(.*)"$/.exec(key)?.[1];
      return (
        literal ??
        keyNames[key] ??
        key.replace(/(?:^|-)./g, (first) => first.replace("-", " ").toUpperCase())
      );
    })
    .join("+");
}

const keys =
  /^\+\+((?:[a-z\d-]{1,40}|"[^"\n]{1,40}")(?:\+(?:[a-z\d-]{1,40}|"[^"\n]{1,40}")){0,9})\+\+/i;

/** The value of a variable of the macros plugin: of `extra`, of `config`, or of a page's own keys. */
function variable({ around }: Expansion, name: string): string | undefined {
  const key = name.replace(/^config\./, "");
  const value = around.site?.value(key === name ? `extra.${name}` : key);
  const text = textOf(value);
  return text ?? around.attributes?.[name];
}

/** `{{ variable }}` of the macros plugin; what a program would have to run is counted. */
function replaceExpression(expansion: Expansion, at: number): Replacement | undefined {
  const { text, log, nextOf } = expansion;
  const close = nextOf("}}", at);
  if (close === -1 || close - at > 1000) return undefined;
  const written = text.slice(at + 2, close).trim();
  const value = /^[A-Za-z_][\w.]*$/.test(written) ? variable(expansion, written) : undefined;
  if (value === undefined) log.add("expression", `{{ ${written} }}`, at);
  return { end: close + 2, text: value ?? "" };
}

/** `::: package.module` of mkdocstrings, with its options: what it shows is in the code. */
function replaceDocstrings({ text, log }: Expansion, at: number, mark: string): Replacement {
  const indent = /^[ \t]*/.exec(mark)?.[0] ?? "";
  let end = at + mark.length;
  // Options are indented lines, also below a blank one.
  const option = new RegExp(`(?:[ \\t]*\\n){1,2}${indent}(?: {4}|\\t)[^\\n]*`, "y");
  for (option.lastIndex = end; option.test(text); option.lastIndex = end) end = option.lastIndex;
  log.add("directive", mark.trim(), at);
  return { end, text: "" };
}

const includeTag = /^\{%-?\s*include(?:-markdown)?\s/;

/** Replaces what only pages of MkDocs have, each if its extension is on. "next" if another generator's rule goes on. */
export function replaceMkdocsMark(
  expansion: Expansion,
  at: number,
  mark: string,
): Replacement | "next" | undefined {
  const features = featuresOf(expansion.around);
  if (!features || expansion.isCode(at)) return undefined;
  const { extensions, plugins } = features;
  const { text } = expansion;
  const end = at + mark.length;
  // zensical.org, "Macros": the extension of the same name.
  const hasMacros = plugins.has("macros") || extensions.has("zensical.extensions.macros");
  if (mark === "{%") {
    // The plugin mkdocs-include-markdown has two tags of its own.
    const isInclude = plugins.has("include-markdown") && includeTag.test(text.slice(at, at + 40));
    return hasMacros || isInclude ? "next" : undefined;
  }
  if (mark === "{{") return hasMacros ? replaceExpression(expansion, at) : undefined;
  if (mark.startsWith(":") && !mark.startsWith(":::")) {
    if (!extensions.has("pymdownx.emoji")) return undefined;
    const [list = ""] = /^\{[^{}\n]{0,200}\}/.exec(text.slice(end, end + 210)) ?? [];
    return { end: end + list.length, text: "" };
  }
  const trimmed = mark.trim();
  if (trimmed.startsWith(":::")) {
    return plugins.has("mkdocstrings") ? replaceDocstrings(expansion, at, mark) : undefined;
  }
  if (trimmed === "[TOC]") return { end, text: "" };
  if (trimmed.startsWith("*[")) return extensions.has("abbr") ? { end, text: "" } : undefined;
  // pymdownx.critic shows both the old and the new text.
  if (/[{}]/.test(mark)) return extensions.has("pymdownx.critic") ? { end, text: "" } : undefined;
  if (mark === "==") {
    return extensions.has("pymdownx.mark") ? withoutPair(expansion, at, mark) : undefined;
  }
  if (mark === "^^") {
    return extensions.has("pymdownx.caret") ? withoutPair(expansion, at, mark) : undefined;
  }
  if (mark === "++") {
    const [whole, names = ""] = keys.exec(text.slice(at, at + 500)) ?? [];
    if (whole === undefined || !extensions.has("pymdownx.keys")) return undefined;
    return { end: at + whole.length, text: keysOf(names) };
  }
  const extension = mark === "^" ? "pymdownx.caret" : "pymdownx.tilde";
  const found = /^[~^]([^\s~^]{1,100})[~^](?![~^])/.exec(text.slice(at, at + 110));
  if (!found || !found[0].endsWith(mark) || !extensions.has(extension)) return undefined;
  return { end: at + found[0].length, text: found[1] ?? "" };
}
