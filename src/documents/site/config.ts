import { lstatSync, realpathSync } from "node:fs";
import { join, posix } from "node:path";
import { Type } from "js-yaml";
import { CliError } from "../../errors.ts";
import { readContent } from "../files/bytes/content.ts";
import { decodeText } from "../files/bytes/decode.ts";
import { relativeTo } from "../files/root.ts";
import { sourceFile } from "../files/source-file.ts";
import {
  MatterError,
  parseJson,
  parseTomlText,
  parseYaml,
  yamlSchema,
} from "../front-matter/matter.ts";
import { readPython } from "./python.ts";
import { isMap, toValue, ValueError, type Value, type ValueMap } from "../front-matter/values.ts";
import { siteFiles, type Site, type SiteSettings } from "./sites.ts";

/**
 * The configuration of a site. A program is never run: one in JavaScript has no values, `conf.py`
 * those that it assigns as literals.
 */
export interface SiteConfig {
  data: ValueMap;
  /** Why it cannot be read: `docs/_config.yml:3: …`. */
  problem: string | undefined;
  /** The root-relative paths of its files. */
  paths: readonly string[];
}

const noValues = (): ValueMap => Object.create(null) as ValueMap;
const asMap = (value: Value): ValueMap => (isMap(value) ? value : noValues());
const mostBytes = 1024 * 1024;
const mostNodes = 50_000;

// mkdocs.org, "Environment variables"; Python-Markdown's `!!python/name:…`: their values are unknown
// here, and the rest of the file is as good as without them.
const foreignTags = ["!", "tag:yaml.org,2002:"].flatMap((tag) =>
  (["scalar", "sequence", "mapping"] as const).map(
    (kind) =>
      new Type(tag, { kind, multi: true, construct: (data: unknown) => (data ?? null) as object }),
  ),
);
const schema = yamlSchema.extend({ explicit: foreignTags });

const parseForeign = (text: string): unknown => parseYaml(text, schema);

const parsers: Readonly<Record<string, (text: string) => unknown>> = {
  yml: parseForeign,
  yaml: parseForeign,
  toml: parseTomlText,
  json: parseJson,
  py: readPython,
};
const data = /\.(ya?ml|toml|json|py)$/i;

/**
 * Parses data that belongs to a site: YAML, TOML, JSON or Python, by the extension of `name`; a file of
 * another kind has no values. Scalars are text as written. Throws MatterError and ValueError for a
 * broken text.
 */
export function parseConfig(text: string, name: string): Value {
  const [, extension] = data.exec(name) ?? [];
  if (extension === undefined || text.trim() === "") return noValues();
  return toValue(parsers[extension.toLowerCase()]?.(text), mostNodes);
}

/** Data as parseConfig() reads it; undefined for a broken text, whose values are as unknown as those of a program. */
export function parseData(text: string, name: string): Value | undefined {
  try {
    return parseConfig(text, name);
  } catch (error) {
    if (!(error instanceof MatterError || error instanceof ValueError)) throw error;
    return undefined;
  }
}

function reasonOf(error: unknown, path: string): string {
  if (error instanceof MatterError) return `${path}:${error.line}: ${error.message}`;
  if (error instanceof ValueError) return `${path}: ${error.message}`;
  if (error instanceof CliError) return error.message;
  if (error instanceof RangeError) return `${path}: it is nested too deeply`;
  throw error;
}

/** The text of a file of a site; undefined without one. Throws CliError for one that is too large. */
function textAt(path: string, root: string): string | undefined {
  try {
    const real = realpathSync.native(join(root, path));
    const stats = lstatSync(real, { bigint: true });
    // A folder, or a link that leaves the project.
    if (!stats.isFile() || relativeTo(root, real) === undefined) return undefined;
    return decodeText(readContent(sourceFile(path, real, stats), mostBytes).bytes, path);
  } catch (error) {
    // Gone, or not readable.
    if (error instanceof Error && "code" in error && "syscall" in error) return undefined;
    throw error;
  }
}

function readConfig(path: string, root: string): Pick<SiteConfig, "data" | "problem"> {
  try {
    const text = textAt(path, root);
    const data = text === undefined ? noValues() : parseConfig(text, path);
    return { data: asMap(data), problem: undefined };
  } catch (error) {
    return { data: noValues(), problem: reasonOf(error, path) };
  }
}

/** gohugo.io, "Configuration directory": `params.toml` beside `hugo.toml` is its table `params`. */
function readFolder(site: Site, root: string): SiteConfig {
  const [path = "", ...others] = siteFiles(site, root);
  const config = { ...readConfig(path, root), paths: [path] };
  for (const other of others) {
    const [, table] = /([\w.-]+)\.(?:toml|ya?ml|json)$/.exec(other) ?? [];
    if (table === undefined || table === "hugo" || table === "config") continue;
    const { data, problem } = readConfig(other, root);
    const own = config.data[table];
    config.data[table] = own !== undefined && isMap(own) ? Object.assign(own, data) : data;
    config.problem ??= problem;
    config.paths.push(other);
  }
  return config;
}

/** The values of one map over those of another. */
function merged(under: ValueMap, over: ValueMap): ValueMap {
  const all = Object.assign(noValues(), under);
  for (const [key, value] of Object.entries(over)) {
    const own = all[key];
    const areMaps = own !== undefined && isMap(own) && isMap(value);
    all[key] = areMaps ? merged(own, value) : value;
  }
  return all;
}

/** The attributes that a playbook of Antora gives to all its pages. */
const forPages = (data: ValueMap): ValueMap =>
  Object.assign(noValues(), { asciidoc: data["asciidoc"] ?? null });

/** A configuration of MkDocs with what it inherits, or of Antora with its playbook. */
function readInherited(site: Site, root: string): SiteConfig {
  const paths = siteFiles(site, root);
  const isPlaybook = (at: number): boolean => site.generator === "antora" && at > 0;
  const all = paths.map((path, at) => {
    const { data, problem } = readConfig(path, root);
    return { data: isPlaybook(at) ? forPages(data) : data, problem };
  });
  const data = all.reduceRight((under, each) => merged(under, each.data), noValues());
  return { data, problem: all.find(({ problem }) => problem !== undefined)?.problem, paths };
}

// A program says its values anywhere; only what stands there literally is taken.
// Beside the folder of the docs, several plugins may have docs: these are those of that folder.
const ofDocsBeside = /[^{}]{0,1000}["'`](?:\.\.\/)+docs["'`/][^{}]{0,1000}/;
const ownBase = /\brouteBasePath["']?\s*:\s*(["'`])([\w./-]*)\1/;
const docsBase = /\bdocs["']?\s*:\s*\{[^{}]{0,2000}?\brouteBasePath["']?\s*:\s*(["'`])([\w./-]*)\1/;
const sourceFolder = /\bsrcDir["']?\s*:\s*(["'`])([\w./-]+)\1/;
const sourceExclude = /\bsrcExclude["']?\s*:\s*\[([^\]]{0,5000})\]/;
const rewrites = /\brewrites["']?\s*:\s*\{([^{}]{0,5000})\}/;
const imported = /\bimport\s*\{([^{}]{0,2000})\}\s*from\s*["']([^"'\n]+)["']/g;
const slugify = /(?:^|[{,])\s*slugify\b(?:\s*:\s*([\w$]+)(?=\s*(?:[,}\n]|$))|(\s*[,}]))?/m;
// What these functions of libraries make is known: vitepress.dev, "Header Anchors"; github-slugger.
const slugs = { "slugify @mdit-vue/shared": "vitepress", "slug github-slugger": "github" };
const cleanUrls = /\bcleanUrls["']?\s*:\s*true\b/;

/** docusaurus.io, "Versioning": `versions.json` has the names of all versions but the current one. */
function readDocusaurus(site: Site, root: string): SiteConfig {
  const data = noValues();
  const paths = siteFiles(site, root);
  const [text = "", versions = ""] = paths.map((path) => textAt(path, root));
  const isBeside = site.config?.includes("/") === true;
  if (isBeside) data["folder"] = `${posix.dirname(site.config ?? "")}/`;
  const beside = (isBeside && ownBase.exec(ofDocsBeside.exec(text)?.[0] ?? "")) || undefined;
  const base = (beside ?? docsBase.exec(text))?.[2];
  if (base !== undefined) data["docsBase"] = base.replace(/^\/+|\/+$/g, "");
  const names = parseConfig(versions, "versions.json");
  if (Array.isArray(names)) data["versions"] = names;
  return { data, problem: undefined, paths };
}

/** How a program says that anchors are made; `none` where that is its own function. */
function slugsIn(program: string): string | undefined {
  if (!program.includes("slugify")) return undefined;
  const known = new Map<string, string>();
  const own = program
    .replace(/^\s*(?:\/\/|\/?\*).*$/gm, "")
    .replace(imported, (_, names: string, module: string) => {
      for (const each of names.split(",")) {
        const [name = "", local = name] = each.trim().split(/\s+as\s+/);
        known.set(local, `${name} ${module}`);
      }
      return "";
    });
  const [found, named, isShort] = slugify.exec(own) ?? [];
  if (found === undefined) return undefined;
  const origin = known.get(named ?? (isShort === undefined ? "" : "slugify")) ?? "";
  return new Map(Object.entries(slugs)).get(origin) ?? "none";
}

function readVitepress(site: Site, root: string): SiteConfig {
  const data = noValues();
  const paths = siteFiles(site, root);
  const text = paths.map((path) => textAt(path, root) ?? "").join("\n");
  const own = slugsIn(text);
  if (own !== undefined) data["slugs"] = own;
  const source = sourceFolder.exec(text)?.[2];
  if (source !== undefined) data["srcDir"] = source;
  if (cleanUrls.test(text)) data["cleanUrls"] = "true";
  const excluded = sourceExclude.exec(text)?.[1]?.matchAll(/(["'`])([^"'`\n]*)\1/g) ?? [];
  data["srcExclude"] = [...excluded].map(([, , pattern = ""]) => pattern);
  const moved =
    rewrites.exec(text)?.[1]?.matchAll(/(["'`])([^"'`\n]*)\1\s*:\s*(["'`])([^"'`\n]*)\3/g) ?? [];
  data["rewrites"] = [...moved].map(([, , from = "", , to = ""]) => [from, to]);
  return { data, problem: undefined, paths };
}

/** dotnet.github.io/docfx, "docfx.json": its reader takes comments and a comma before an end. */
function readDocfx(text: string): ValueMap {
  // Within quotes nothing is one.
  const without = (source: string, pattern: string): string =>
    source.replace(
      new RegExp(`("(?:[^"\\\\\\n]|\\\\.)*"?)|${pattern}`, "g"),
      (_, quoted: string | undefined) => quoted ?? " ",
    );
  const plain = without(
    without(text, String.raw`//.*|/\*(?:[^]*?\*/|[^]*)`),
    String.raw`,(?=\s*[\]}])`,
  );
  return asMap(parseConfig(plain, "docfx.json"));
}

/** What a configuration that is a program, or no plain data, says literally. It is never run. */
function readProgram(site: Site, root: string, path: string): SiteConfig {
  const nothing = { data: noValues(), paths: path === "" ? [] : [path] };
  try {
    if (site.config !== undefined && site.generator === "docfx")
      return { ...nothing, data: readDocfx(textAt(path, root) ?? ""), problem: undefined };
    // help.obsidian.md, "Templates", and the plugin Templater: their settings name folders.
    const settings = site.generator === "obsidian" ? siteFiles(site, root) : [];
    if (settings.length > 0) {
      const [own, templater] = settings.map((each) => readConfig(each, root));
      const data = Object.assign(noValues(), templater?.data, own?.data);
      return { data, problem: own?.problem, paths: settings };
    }
    if (site.config !== undefined && site.generator === "docusaurus")
      return readDocusaurus(site, root);
    if (site.config !== undefined && site.generator === "vitepress")
      return readVitepress(site, root);
    return { ...nothing, problem: undefined };
  } catch (error) {
    return { ...nothing, problem: reasonOf(error, path) };
  }
}

const configsOfRun = new WeakMap<SiteSettings, Map<string, SiteConfig>>();

/** The root-relative path of the configuration of a site. */
const configPath = ({ prefix, config }: Site): string | undefined =>
  config === undefined ? undefined : prefix + config;

/** The configuration of a site. It is read once in a run: one object of settings is one run. */
export function configOf(site: Site, settings: SiteSettings): SiteConfig {
  let configs = configsOfRun.get(settings);
  if (!configs) configsOfRun.set(settings, (configs = new Map()));
  const path = configPath(site) ?? "";
  let config = configs.get(path);
  if (!config) {
    // Many have comments, which JSON has not.
    const isData = data.test(path) && site.generator !== "docfx";
    const paths = path === "" ? [] : [path];
    config = !isData
      ? readProgram(site, settings.root, path)
      : path.includes("/_default/")
        ? readFolder(site, settings.root)
        : site.generator === "mkdocs" || site.generator === "antora"
          ? readInherited(site, settings.root)
          : { ...readConfig(path, settings.root), paths };
    configs.set(path, config);
  }
  return config;
}
