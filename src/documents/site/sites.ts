import { hash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { generatorNames, generators, type GeneratorName } from "./generators.ts";

/** A folder that a generator turns into a site. */
export interface Site {
  generator: GeneratorName;
  /** The folder of its configuration, root-relative with a trailing "/"; "" for the root. */
  prefix: string;
  /** Path of its configuration below that folder; undefined where only the settings name the generator. */
  config: string | undefined;
}

/** The settings that decide about sites. */
export interface SiteSettings {
  /** Project root: absolute, real path. */
  readonly root: string;
  /** Only this generator counts, and it has the whole project where it has no configuration. */
  readonly generator: GeneratorName | "none" | undefined;
}

interface Name {
  name: string;
}

function namesIn(folder: string): readonly Name[] {
  // Some file systems keep names as typed, for example in NFD on macOS.
  for (const form of new Set([folder, folder.normalize("NFD")])) {
    try {
      return readdirSync(form, { withFileTypes: true });
    } catch {
      // In the other form, or not readable.
    }
  }
  return [];
}

const mostConfigBytes = 1024 * 1024;

/** The bytes of a configuration or a program of a site; "" where there is none of at most `most` bytes. */
export function bytesAt(path: string, most = mostConfigBytes): Uint8Array | string {
  try {
    const stats = statSync(path);
    // A pipe would never end.
    return stats.isFile() && stats.size <= most ? readFileSync(path) : "";
  } catch {
    return "";
  }
}

/**
 * The site whose configuration is in a folder beside the folder `docs`, or in one of `packages` or `apps`
 * there, and names that folder (docusaurus.io, "Project structure > Monorepos"). The program is searched,
 * never run.
 */
function siteBeside(prefix: string, root: string): Site | undefined {
  for (const group of ["", "packages/", "apps/"]) {
    for (const { name: folder } of namesIn(join(root, prefix, group))) {
      if (folder.includes(".") || folder === "node_modules") continue;
      const below = group + folder;
      const names = namesIn(join(root, prefix, below));
      const name = names.find((each) => generators.docusaurus.config.test(each.name))?.name;
      if (name === undefined) continue;
      const config = `${below}/${name}`;
      const docs = posix.relative(below, "docs").replaceAll(".", String.raw`\.`);
      const namesDocs = new RegExp(`["'\`/]${docs}["'\`/]`);
      if (namesDocs.test(String(bytesAt(join(root, prefix, config)))))
        return { generator: "docusaurus", prefix, config };
    }
  }
  return undefined;
}

/** The configuration below a folder `config` of Hugo; another name is a file already. */
function configFile(prefix: string, name: string, own: RegExp, root: string): string | undefined {
  if (name.includes(".")) return name;
  const folder = `${name}/_default`;
  const files = namesIn(join(root, prefix, folder)).map((each) => each.name);
  const file = files.find((each) => own.test(each) || /^config\.(?:toml|ya?ml|json)$/.test(each));
  return file && `${folder}/${file}`;
}

// Most folders configure nothing: one look at each name tells.
const anyConfig = new RegExp(
  Object.values(generators)
    .flatMap(({ config, otherConfig }) => [config, otherConfig?.config])
    .flatMap((pattern) => pattern?.source ?? [])
    .join("|"),
);

function siteIn(
  prefix: string,
  names: readonly Name[],
  root: string,
  only: GeneratorName | undefined,
): Site | undefined {
  if (!names.some(({ name }) => anyConfig.test(name))) return undefined;
  const nameOf = (pattern: RegExp | undefined): string | undefined =>
    pattern &&
    names
      .map(({ name }) => name)
      .filter((name) => pattern.test(name))
      .sort()[0];
  for (const generator of only === undefined ? generatorNames : [only]) {
    const { config: own, otherConfig } = generators[generator];
    const config = nameOf(own);
    if (config !== undefined) return { generator, prefix, config };
    if (!otherConfig || nameOf(otherConfig.beside) === undefined) continue;
    const isForeign =
      nameOf(otherConfig.without) !== undefined && nameOf(/^layouts$/) === undefined;
    const other = isForeign ? undefined : nameOf(otherConfig.config);
    const file = other && configFile(prefix, other, own, root);
    if (file) return { generator, prefix, config: file };
  }
  return undefined;
}

// One run has one object of settings. Bounded: cleared when full.
const mostFolders = 20_000;
const sitesOfRun = new WeakMap<SiteSettings, Map<string, Site | undefined>>();

/**
 * The site of a folder: the nearest one from the folder up to the root. `folder` is root-relative,
 * "" for the root. `names`, if known, are the names in the folder.
 */
export function siteOfFolder(
  folder: string,
  settings: SiteSettings,
  names?: readonly Name[],
): Site | undefined {
  const { root, generator } = settings;
  if (generator === "none") return undefined;
  let sites = sitesOfRun.get(settings);
  if (!sites || sites.size >= mostFolders) sitesOfRun.set(settings, (sites = new Map()));
  if (sites.has(folder)) return sites.get(folder);
  const prefix = folder === "" ? "" : `${folder}/`;
  const own = siteIn(prefix, names ?? namesIn(join(root, folder)), root, generator);
  const above = folder.slice(0, Math.max(0, folder.lastIndexOf("/")));
  const rest = generator && { generator, prefix: "", config: undefined };
  const mayBeBeside = /(?:^|\/)docs$/.test(folder) && (generator ?? "docusaurus") === "docusaurus";
  const beside = mayBeBeside ? siteBeside(above === "" ? "" : `${above}/`, root) : undefined;
  const site = own ?? beside ?? (folder === "" ? rest : siteOfFolder(above, settings));
  sites.set(folder, site);
  return site;
}

/** The site of a file by its root-relative path. */
export function siteOf(path: string, settings: SiteSettings): Site | undefined {
  return siteOfFolder(path.slice(0, Math.max(0, path.lastIndexOf("/"))), settings);
}

/**
 * Why a file of a site is no page by its name; undefined if it may be one. The site around another one
 * decides as well: an example in a folder of partials is no site of its own.
 */
export function partialReason(path: string, settings: SiteSettings): string | undefined {
  let name = path;
  let site = siteOf(path, settings);
  while (site) {
    const { partials, title } = generators[site.generator];
    if (partials?.test(name.slice(site.prefix.length)) === true) {
      return `a partial of ${title}, no page (a run includes it if you name it)`;
    }
    name = site.prefix;
    site = name === "" ? undefined : siteOf(name.slice(0, -1), settings);
  }
  return undefined;
}

const inherited = /^INHERIT:[ \t]*["']?([\w./-]+)/m;

/** mkdocs.org, "Configuration inheritance": the files that a configuration builds on, the nearest first. */
function withInherited(path: string, root: string): string[] {
  const paths = new Set([path]);
  for (const each of paths) {
    const [, name] = inherited.exec(String(bytesAt(join(root, each)))) ?? [];
    const next = name === undefined ? "../" : posix.join(posix.dirname(each), name);
    if (!next.startsWith("../")) paths.add(next);
  }
  return [...paths];
}

// "Playbook" and its examples, best first.
const playbooks = [/^(?:[\w.-]+-)?playbook\.ya?ml$/, /^(?:site|publish|preview)\.ya?ml$/];

/**
 * docs.antora.org, "Playbook": in the folder of a component or above, with the attributes of all sites. Of
 * several, the one with the shortest name.
 */
function playbookOf(prefix: string, root: string): string | undefined {
  for (let folder = prefix; ; folder = posix.join(folder, "..", "/")) {
    const names = namesIn(join(root, folder)).map(({ name }) => name);
    const [first] = playbooks.flatMap((each) =>
      names
        .filter((name) => each.test(name))
        .sort((one, other) => one.length - other.length || (one < other ? -1 : 1)),
    );
    if (first !== undefined) return posix.join(folder, first);
    if (folder === "" || folder === "./") return undefined;
  }
}

/** The root-relative paths of the files that may configure a site. */
export function siteFiles({ generator, prefix, config }: Site, root: string): string[] {
  if (config === undefined) return [];
  const path = prefix + config;
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  if (generator === "mkdocs") return withInherited(path, root);
  if (generator === "antora") return [path, playbookOf(prefix, root) ?? []].flat();
  if (generator === "docusaurus") return [path, `${folder}versions.json`];
  if (generator === "obsidian") {
    return [`${path}/templates.json`, `${path}/plugins/templater-obsidian/data.json`];
  }
  if (generator === "vitepress") {
    // The rest of a program may stand beside its start.
    const parts = namesIn(join(root, `${path}/config`)).map(({ name }) => `config/${name}`);
    const extensions = ["ts", "mts", "js", "mjs"];
    return [...extensions.map((each) => `config.${each}`), ...parts.sort()]
      .filter((name) => extensions.includes(name.replace(/.*\./, "")))
      .map((name) => `${path}/${name}`);
  }
  // gohugo.io, "Configuration directory".
  if (!path.includes("/_default/")) return [path];
  const names = namesIn(join(root, folder)).map(({ name }) => name);
  return [path, ...names.sort().map((name) => folder + name)];
}

const digestsOfRun = new WeakMap<SiteSettings, Map<string, string>>();

/** A hash of the configuration of a site: another one may make other documents. */
export function siteDigest(site: Site, settings: SiteSettings): string {
  let digests = digestsOfRun.get(settings);
  if (!digests) digestsOfRun.set(settings, (digests = new Map()));
  const key = site.prefix + site.config;
  let digest = digests.get(key);
  if (digest === undefined) {
    const files = siteFiles(site, settings.root).map((path) => bytesAt(join(settings.root, path)));
    digest = hash("sha256", files.map((bytes) => hash("sha256", bytes)).join(" "));
    digests.set(key, digest);
  }
  return digest;
}

/** A site for people: `Hugo (docs/hugo.toml)`. */
export function siteText({ generator, prefix, config }: Site): string {
  const { title } = generators[generator];
  return config === undefined ? title : `${title} (${prefix}${config})`;
}
