import { posix } from "node:path";
import { parseData } from "../../site/config.ts";
import { splitFrontMatter, type FrontMatter } from "../../front-matter/front-matter.ts";
import { isMap, textOf, type Value, valueAt } from "../../front-matter/values.ts";
import { plainText } from "../../text/heading-text.ts";
import { scanStructure } from "../../text/structure.ts";
import type { Surroundings } from "../format.ts";
import { CliError } from "../../../errors.ts";
import { withoutExtension } from "../../files/file-name.ts";
import { printed, valueOf } from "../markdown/template/expression.ts";

/** What a page refers to: its title, and where it is from the page. */
export interface Titled {
  /** Undefined where none stands behind the label. */
  title: string | undefined;
  address: string;
}

/** What the reader of MyST and Quarto knows of a page and its project. */
export interface MystPage {
  /** Its text, as written. */
  source: string;
  isMyst: boolean;
  /** Whether mystmd builds it, and not Sphinx. */
  isMystmd: boolean;
  isQuarto: boolean;
  /** Whether text that nobody sees stays. */
  keepsHidden: boolean;
  /** Ids that the page gives to what is no heading. */
  ids: Set<string>;
  /** Value at a dotted path of the front matter, else of the configuration. */
  valueOf: (path: string) => Value | undefined;
  /** The text that stands for `{{ name }}`. */
  substitution: (name: string) => string | undefined;
  /** Whether `{{ … }}` is an expression of Jinja. */
  hasExpressions: boolean;
  /** Whether the configuration computes what stands for a name. */
  isComputed: (name: string) => boolean;
  /** The text of an expression; undefined for one that only the generator knows. */
  expression: (code: string) => string | undefined;
  /** What a label leads to. */
  labelled: (label: string) => Titled | undefined;
  /** Another page of the project, by its path from this one. */
  titled: (target: string, chain: readonly string[]) => Titled | undefined;
}

/** The id of a label on the page. docutils `make_id`; mystmd, `createHtmlId`. */
export const idOf = (label: string): string =>
  label
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^[-0-9]+(?=[a-z])|^-+|-+$/g, "");

/** Labels are compared without case, and with single blanks. */
export const keyOf = (label: string): string => label.trim().toLowerCase().replace(/\s+/g, " ");

const target = /^\(([^()\n]{1,200})\)=[ \t]*$/;
const heading = /^ {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*$/;
const named = /^[ \t]*(?:`{3,}|:{3,}|~{3,})[ \t]*\{[\w:+.-]+[^{}]*\}[ \t]*(.*)$/;
const option = /^[ \t]*:(?:name|label):[ \t]+(\S.*)$/;

/**
 * The titles that the labels of a Markdown text lead to: of the heading or directive behind them. What
 * has none, such as a formula, is called by its label.
 */
function labelsOf(text: string): Map<string, string> {
  const labels = new Map<string, string>();
  let open: string[] = [];
  let argument = "";
  for (const line of text.split("\n")) {
    const label = line.startsWith("(") ? target.exec(line)?.[1] : undefined;
    if (label !== undefined) {
      open.push(label);
      continue;
    }
    if (line.trim() === "") continue;
    const inOption = line.includes(":") ? option.exec(line)?.[1] : undefined;
    if (inOption !== undefined) labels.set(keyOf(inOption), argument || inOption);
    const isLong = line.length > 1000;
    const title = isLong ? undefined : (heading.exec(line)?.[1] ?? named.exec(line)?.[1]);
    if (title !== undefined) argument = plainText(title);
    for (const each of open) if (title) labels.set(keyOf(each), plainText(title));
    open = [];
  }
  return labels;
}

const extensions = ["", ".md", ".rst", ".ipynb", ".qmd"];
const longestTarget = 500;

/** The title of a page: from front matter, else its first heading. */
function titleIn(text: string, path: string): string | undefined {
  const { frontMatter, body } = splitFrontMatter(text, path);
  const own = frontMatter && textOf(frontMatter.data["title"]);
  if (own) return own;
  let first: string | undefined;
  scanStructure(body, ({ text: title }) => ((first = plainText(title)), true));
  return first;
}

function createTitled({ includes }: Surroundings, path: string): MystPage["titled"] {
  const known = new Map<string, Titled | undefined>();
  const look = (name: string, chain: readonly string[]): Titled | undefined => {
    for (const extension of extensions) {
      const found = includes.read(name + extension, chain);
      if (!("text" in found) || !/\.(?:md|markdown|[qr]md|rst|ipynb)$/i.test(found.path)) continue;
      try {
        const title = titleIn(found.text, found.path);
        const address = posix.relative(posix.dirname(path), found.path);
        return title === undefined ? undefined : { title, address };
      } catch (error) {
        // Its front matter is broken: that page fails.
        if (error instanceof CliError) return undefined;
        throw error;
      }
    }
    return undefined;
  };
  return (name, chain) => {
    if (name === "" || name.length > longestTarget || /[\s<>?*]/.test(name)) return undefined;
    const key = `${chain.at(-1)}\n${name}`;
    if (!known.has(key)) known.set(key, look(name, chain));
    return known.get(key);
  };
}

const pair =
  /^[ \t]*(["'])([\w.-]+)\1[ \t]*:[ \t]*r?(?:"""([^]*?)"""|"([^"\n]*)"|'([^'\n]*)')[ \t]*,?/gm;

/** The substitutions in a configuration of Sphinx, where it writes them as texts. It is never run. */
function sphinxSubstitutions(text: string): Map<string, string> {
  const [, block = ""] = /^myst_substitutions[ \t]*=[ \t]*\{([^]*?)^\}/m.exec(text) ?? [];
  const pairs = [...block.matchAll(pair)];
  return new Map(
    pairs.map(([, , name = "", ...texts]) => [
      name,
      texts.find((each) => each !== undefined) ?? "",
    ]),
  );
}

/** Whether Quarto builds a page, as far as its path and its site show it. */
export const isQuarto = ({ site }: Surroundings, path: string): boolean =>
  site?.generator === "quarto" || /\.[qr]md$/i.test(path);

/** Data of a file beside the configuration of the site. Broken data has no values. */
export function dataOf({ includes, site }: Surroundings, name: string, path: string): Value {
  const found = includes.read(`/${site?.prefix ?? ""}${name}`, [path]);
  return "text" in found ? (parseData(found.text, name) ?? null) : null;
}

/** quarto.org, "Directory Metadata": of the folder of a page, else of one above it. */
function inFolders(around: Surroundings, path: string, name: string): Value | undefined {
  if (!isQuarto(around, path)) return undefined;
  const below = path.slice(around.site?.prefix.length ?? 0);
  for (let folder = posix.dirname(below); ; folder = posix.dirname(folder)) {
    const file = folder === "." ? "_metadata.yml" : `${folder}/_metadata.yml`;
    const value = valueAt(dataOf(around, file, path), name);
    if (value !== undefined || folder === ".") return value;
  }
}

/** The configuration of Sphinx of a page, as text. */
function sphinxConfig({ includes, site }: Surroundings, path: string): string {
  if (site?.generator !== "sphinx") return "";
  const found = includes.read(`/${site.prefix}conf.py`, [path]);
  return "text" in found ? found.text : "";
}

const mystExtension =
  /["'](?:myst_parser|myst_nb|jupyter_book|sphinx_jupyterbook_latex)["']|^myst_enable_extensions\b/m;

/**
 * Whether expressions stand for text. MyST-Parser, "Substitutions (with Jinja2)"; jupyterbook.org,
 * "MyST Markdown extensions": there they do unless the configuration lists other extensions.
 */
function hasJinja(around: Surroundings, path: string, config: string): boolean {
  if (around.site?.generator === "sphinx") {
    return /\bmyst_enable_extensions\b/.test(config) && /["']substitution["']/.test(config);
  }
  if (around.site?.generator !== "jupyterbook") return false;
  const listed = valueAt(dataOf(around, "_config.yml", path) ?? "", "parse.myst_enable_extensions");
  return !Array.isArray(listed) || listed.includes("substitution");
}

/** What is known of a page. `text` is its body. */
export function mystPage(
  text: string,
  path: string,
  around: Surroundings,
  frontMatter: FrontMatter | undefined,
): MystPage {
  const { site } = around;
  const generator = site?.generator;
  const config = sphinxConfig(around, path);
  const inFrontMatter = (name: string): Value | undefined =>
    frontMatter && valueAt(frontMatter.data, name);
  let labels: Map<string, string> | undefined;
  let ofSphinx: Map<string, string> | undefined;
  let jinja: boolean | undefined;
  const docname = withoutExtension(path).slice(site?.prefix.length ?? 0);
  const variables = new Map([["env", { docname }]]);
  const page: MystPage = {
    source: text,
    isMyst: generator === "myst" || generator === "jupyterbook" || mystExtension.test(config),
    isMystmd: generator === "myst",
    keepsHidden: around.keepsHidden === true,
    isQuarto: isQuarto(around, path),
    ids: new Set(),
    valueOf: (name) => inFrontMatter(name) ?? inFolders(around, path, name) ?? site?.value(name),
    substitution(name) {
      const places = [
        inFrontMatter("myst.substitutions") ?? inFrontMatter("substitutions"),
        site?.value("project.substitutions"),
        generator === "jupyterbook"
          ? valueAt(dataOf(around, "_config.yml", path) ?? "", "parse.myst_substitutions")
          : undefined,
      ];
      for (const place of places) {
        const own = place && isMap(place) ? textOf(place[name]) : undefined;
        if (own !== undefined) return own;
      }
      return (ofSphinx ??= sphinxSubstitutions(config)).get(name);
    },
    get hasExpressions() {
      return (jinja ??= hasJinja(around, path, config));
    },
    isComputed(name) {
      const from = config.search(/^myst_substitutions\b/m);
      return (
        from !== -1 && [`"${name}":`, `'${name}':`].some((each) => config.includes(each, from))
      );
    },
    expression(code) {
      const lookUp = (names: readonly string[]): string | undefined =>
        names.length === 1 ? page.substitution(names[0] ?? "") : undefined;
      return printed(valueOf(code, { variables: new Map(variables), lookUp })) || undefined;
    },
    labelled(label) {
      const title = (labels ??= labelsOf(text)).get(keyOf(label));
      if (title !== undefined) return { title, address: `#${idOf(label)}` };
      // Of another page of the site.
      const found = site && around.includes.find("label", site.prefix, keyOf(label));
      if (!found) return undefined;
      const place = posix.relative(posix.dirname(path), found.path);
      return { title: found.title, address: `${place}#${idOf(label)}` };
    },
    titled: createTitled(around, path),
  };
  return page;
}
