import { posix } from "node:path";
import { isMap, textOf, type Value, type ValueMap, valueAt } from "../front-matter/values.ts";
import type { GeneratorName } from "./generators.ts";
import type { Site } from "./sites.ts";

/** Where a configuration lists the earlier paths of pages, and from which folder they count. */
const redirects: Readonly<
  Partial<
    Record<GeneratorName, { list: string; plugin?: string; folder: [key: string, usual: string] }>
  >
> = {
  // rust-lang.github.io/mdBook, "Configuration > Renderers".
  mdbook: { list: "output.html.redirect", folder: ["book.src", "src"] },
  // github.com/mkdocs/mkdocs-redirects.
  mkdocs: { list: "redirect_maps", plugin: "redirects", folder: ["docs_dir", "docs"] },
  // documatt.com/sphinx-reredirects.
  sphinx: { list: "redirects", folder: ["", "."] },
};

/** The options of a plugin, which a list or a map names. */
function pluginOf(data: ValueMap, name: string): ValueMap | undefined {
  const plugins = valueAt(data, "plugins") ?? null;
  for (const each of Array.isArray(plugins) ? plugins : [plugins]) {
    const options = each !== null && isMap(each) ? (each[name] ?? null) : null;
    if (options !== null && isMap(options)) return options;
  }
  return undefined;
}

const bare = (path: string): string =>
  path.replace(/(?:\/?\b(?:index|readme))?\.(?:html?|md|rst)$|\/+$/i, "");

function* movedIn(generator: GeneratorName, data: ValueMap): Generator<string> {
  const { list, plugin, folder } = redirects[generator] ?? {};
  const options = plugin === undefined ? data : pluginOf(data, plugin);
  const moved = options && list !== undefined ? (valueAt(options, list) ?? null) : null;
  if (moved === null || !isMap(moved) || !folder) return;
  const base = textOf(valueAt(data, folder[0])) ?? folder[1];
  for (const path of Object.keys(moved)) yield bare(posix.join(base, path));
}

// What a program writes of all pages for readers to download.
const download = /(?:^|[\\/])([^\\/]+\.(?:pdf|epub|zip|docx|tar\.gz|tgz))$/i;
const deepest = 20;

/** The names of files to download among the values of a configuration. */
function* downloadsIn(value: Value, depth = 0): Generator<string> {
  if (typeof value === "string") {
    const [, name] = (value.length < 300 && download.exec(value)) || [];
    if (name !== undefined) yield name;
  } else if (value !== null && typeof value === "object" && depth < deepest) {
    for (const each of Object.values(value)) yield* downloadsIn(each as Value, depth + 1);
  }
}

const listOf = (value: Value | undefined): readonly Value[] =>
  Array.isArray(value) ? value : value === undefined ? [] : [value];

const within = (value: Value, name: string): readonly Value[] =>
  value !== null && isMap(value) ? listOf(valueAt(value, name)) : [];

/**
 * The folders into which Antora collects what programs write. docs.antora.org, "Collector Extension": `base`,
 * later `into`.
 */
function collectedInto(data: ValueMap): string[] {
  const scans = listOf(valueAt(data, "ext.collector")).flatMap((each) => within(each, "scan"));
  return scans.flatMap((scan) =>
    ["base", "into", "into.dir"].flatMap((name) => {
      const folder = textOf(within(scan, name)[0] ?? null)?.replace(/^[./]+|\/+$/g, "");
      return folder ? [`${folder}/`] : [];
    }),
  );
}

/**
 * Returns whether a site has something at a root-relative path without a file, as its configuration says:
 * the earlier path of a page, a file to download that it names, or one in a folder of collected files.
 */
export function madeBy(site: Site | undefined, data: ValueMap): (path: string) => boolean {
  if (!site) return () => false;
  const moved = new Set(movedIn(site.generator, data));
  const downloads = new Set(downloadsIn(data));
  const collected = site.generator === "antora" ? collectedInto(data) : [];
  return (path) =>
    path.startsWith(site.prefix) &&
    (moved.has(bare(path.slice(site.prefix.length))) ||
      downloads.has(posix.basename(path)) ||
      collected.some((folder) => path.slice(site.prefix.length).startsWith(folder)));
}
