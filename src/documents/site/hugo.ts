import { isMap, textOf, type Value, type ValueMap, valueAt } from "../front-matter/values.ts";

/** A language of a Hugo site and where its pages are. */
interface Language {
  key: string;
  /** The folders of its pages below the site, with a trailing "/"; the first one is its own. */
  folders: readonly string[];
}

/** What the configuration of a Hugo site says about addresses. */
export interface HugoConfig {
  languages: readonly Language[];
  /** Key of the language whose addresses have no prefix; undefined where each has one. */
  bare: string | undefined;
  isUgly: boolean;
  keepsCase: boolean;
}

/** A page of a Hugo site. */
export interface HugoPage {
  language: Language;
  /** Below the folder of its language, without extension and language: `docs/_index`. */
  page: string;
  /** Whether the name of its file has the language: `a.de.md`. */
  isNamed: boolean;
}

const folderName = (name: string): string => {
  const names = name.split("/").filter((each) => each !== "" && each !== ".");
  return names.length === 0 ? "" : `${names.join("/")}/`;
};

/** gohugo.io, "Module configuration, mounts": folders that are mounted as the pages of a language. */
function mountsOf(data: ValueMap): { folder: string; language: string | undefined }[] {
  const isOwn = (value: Value): value is ValueMap => isMap(value);
  const mounts = valueAt(data, "module.mounts", true);
  return (Array.isArray(mounts) ? mounts.filter(isOwn) : []).flatMap((mount) => {
    const source = textOf(valueAt(mount, "source", true));
    const target = textOf(valueAt(mount, "target", true));
    if (source === undefined || target !== "content") return [];
    return [{ folder: folderName(source), language: textOf(valueAt(mount, "lang", true)) }];
  });
}

const known = new WeakMap<ValueMap, HugoConfig>();

/** gohugo.io, "Multilingual mode" and "Configure Hugo"; from the configuration of a site. */
export function hugoConfig(data: ValueMap): HugoConfig {
  let config = known.get(data);
  if (config) return config;
  const text = (path: string): string | undefined => textOf(valueAt(data, path, true));
  const first = (text("defaultContentLanguage") ?? "en").toLowerCase();
  const table = valueAt(data, "languages", true);
  const keys = table !== undefined && isMap(table) ? Object.keys(table) : [];
  const mounts = mountsOf(data);
  const content = text("contentDir") ?? "content";
  const languages = [...new Set([first, ...keys.map((key) => key.toLowerCase())])].map((key) => {
    const own = text(`languages.${key}.contentDir`) ?? content;
    const mounted = mounts.filter(({ language = first }) => language.toLowerCase() === key);
    return { key, folders: [...new Set([folderName(own), ...mounted.map((each) => each.folder)])] };
  });
  config = {
    languages,
    bare: text("defaultContentLanguageInSubdir") === "true" ? undefined : first,
    isUgly: text("uglyURLs") === "true",
    keepsCase: text("disablePathToLower") === "true",
  };
  known.set(data, config);
  return config;
}

/** The page of a file, by its path below the site; undefined outside the folders of pages. */
export function hugoPage(path: string, { languages }: HugoConfig): HugoPage | undefined {
  // The longest folder: `content/de/` may lie in `content/`.
  let place: { language: Language; folder: string } | undefined;
  for (const language of languages) {
    for (const folder of language.folders) {
      if (path.startsWith(folder) && folder.length > (place?.folder.length ?? -1)) {
        place = { language, folder };
      }
    }
  }
  if (!place) return undefined;
  const page = path.slice(place.folder.length).replace(/\.[^./]+$/, "");
  const [, stem = page, suffix] = /^(.*[^/])\.([\w-]+)$/.exec(page) ?? [];
  const named = languages.find(({ key }) => key === suffix?.toLowerCase());
  return named
    ? { language: named, page: stem, isNamed: true }
    : { language: place.language, page, isNamed: false };
}
