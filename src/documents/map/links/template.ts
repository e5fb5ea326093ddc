import { CliError } from "../../../errors.ts";
import { nearest } from "../../../nearest.ts";

/** Returns the value of a name in a link template. */
type LinkValue = (name: string) => string | undefined;

export type Link = { link: string } | { problem: string };

// In Docusaurus, MkDocs, Hugo and on GitHub, a file of this name is the page of its folder.
const indexName = /(?:^|\/)(?:_?index|readme)$/i;

/** The path without a last `index`, `README` or `_index`: `docs/index` is `docs`. */
export function withoutIndex(path: string): string {
  return path.replace(indexName, "");
}

/** Removes `prefix` from the start; `strip:docs/` also empties `docs`, the slug of its index page. */
function strip(value: string, prefix: string): string {
  if (prefix.endsWith("/") && value === prefix.slice(0, -1)) return "";
  return value.startsWith(prefix) ? value.slice(prefix.length) : value;
}

const filters: Readonly<Record<string, (value: string, argument: string) => string>> = {
  lower: (value) => value.toLowerCase(),
  strip,
};
const filterNames = Object.keys(filters);

const place = /\{([^{}]*)\}/g;

/** Splits `slug|strip:docs/|lower` at `|`, and each filter at its first colon. */
function parsePlace(text: string): { name: string; filters: [name: string, argument: string][] } {
  const [name = "", ...rest] = text.split("|");
  return {
    name: name.trim(),
    filters: rest.map((each) => {
      const colon = each.indexOf(":");
      if (colon === -1) return [each.trim(), ""];
      return [each.slice(0, colon).trim(), each.slice(colon + 1).trim()];
    }),
  };
}

function filterProblem(name: string, argument: string): string | undefined {
  if (!Object.hasOwn(filters, name)) {
    const similar = nearest(name, filterNames);
    const suggestion = similar === undefined ? "" : `; did you mean ${similar}?`;
    return name === "" ? "a filter without a name" : `unknown filter ${name}${suggestion}`;
  }
  if (name === "strip" && argument === "") return "strip needs a prefix, for example strip:docs/";
  return name === "lower" && argument !== "" ? "lower has no argument" : undefined;
}

/**
 * Checks a link template before any file is read. `where` begins the message: `--link`. Throws
 * CliError `usage` for a place without a name and for an unknown filter.
 */
export function checkTemplate(template: string, where: string): void {
  for (const [whole, text = ""] of template.matchAll(place)) {
    const parsed = parsePlace(text);
    const problem =
      parsed.name === ""
        ? "a place without a name"
        : parsed.filters.map((each) => filterProblem(...each)).find((each) => each !== undefined);
    if (problem === undefined) continue;
    throw new CliError("usage", `${where}: ${whole}: ${problem}`, {
      hints: [
        `write {slug}, {path|lower} or {slug|strip:docs/}; filters: ${filterNames.join(", ")}`,
      ],
    });
  }
}

/** Without empty segments in the path of an address. */
function withoutEmptySegments(link: string): string {
  const end = link.search(/[?#]/);
  const path = end === -1 ? link : link.slice(0, end);
  return path.replace(/(?<!^|:|\/)\/{2,}/g, "/") + (end === -1 ? "" : link.slice(end));
}

/** Percent-encodes each segment, so that "/" stays. */
export function encodePath(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

/**
 * Fills a template, for example `https://docs.example.com/{slug|lower}`. An empty value also
 * removes the slash after it (`{dir}` of a file in the root), and no other segment is empty. For an
 * `isIndex`, `{slug}.html` is the folder, where a server finds the page. Returns a `problem` when a
 * name has no value.
 */
export function expandTemplate(template: string, valueOf: LinkValue, isIndex = false): Link {
  const missing: string[] = [];
  const ofFolder = isIndex ? template.replace(/(\{\s*slug\b[^{}]*\})\.html?\b/g, "$1/") : template;
  const link = ofFolder.replace(/\{([^{}]+)\}(\/?)/g, (_whole, text: string, slash: string) => {
    const { name, filters: applied } = parsePlace(text);
    let value = valueOf(name);
    if (value === undefined) missing.push(name);
    for (const [filter, argument] of applied) value = value && filters[filter]?.(value, argument);
    return value ? encodePath(value) + slash : "";
  });
  return missing.length === 0
    ? { link: withoutEmptySegments(link) }
    : { problem: `no value for {${missing.join("}, {")}}` };
}
