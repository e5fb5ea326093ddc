import {
  type SectionMode,
  rulesFor,
  type Rule,
  type DocumentSettings,
  type MappingOptions,
} from "./settings.ts";
import { hash } from "node:crypto";
import { addMetadata, tagsOf, type Metadata } from "../payload/metadata.ts";
import { generators, type LinkStyle } from "../site/generators.ts";
import { siteDigest, siteOf, type Site } from "../site/sites.ts";
import { defaultKeys } from "../front-matter/fields.ts";
import type { FileFacts } from "../files/source-file.ts";
import { isMap, toValue, type ValueMap } from "../front-matter/values.ts";

/**
 * Increase this when the same file and the same settings result in another document: another text,
 * title, link, metadata or date. Every file is then read again, and every changed document is sent
 * again.
 */
export const mappingVersion = 20;

interface Layered<Type> {
  value: Type;
  /** For `explain`: `flag --source`, `rule 1 (docs/**)`, `configuration`, `default`. */
  origin: string;
  isFlag: boolean;
}

/** The settings in effect for one path, from flags, rules and configuration, without its file. */
export interface Effective {
  rules: readonly Rule[];
  source: Layered<string>;
  link: Layered<string> | undefined;
  /** Only where it makes the links, instead of `link`. */
  linkStyle: Layered<LinkStyle> | undefined;
  /** The site that the file belongs to. */
  site: Site | undefined;
  /** How links between files lead to pages: as configured, else as the site does it. */
  resolving: LinkStyle | undefined;
  sections: Layered<SectionMode>;
  ccPairId: number | undefined;
  /** From configuration and rules; front matter overrides it. */
  metadata: Metadata;
  /** From flags; it overrides front matter. */
  flagMetadata: Metadata;
  tags: readonly { tag: string; origin: string }[];
  flagTags: readonly { tag: string; origin: string }[];
  /** Hash of all these settings, see mappingKey(). */
  key: string;
}

type Key = "source" | "link" | "sections";

function layer<Name extends Key>(
  name: Name,
  settings: DocumentSettings,
  rules: readonly Rule[],
): Layered<NonNullable<MappingOptions[Name]>> | undefined {
  type Value = NonNullable<MappingOptions[Name]>;
  const flag = settings.flags[name];
  if (flag !== undefined) return { value: flag as Value, origin: `flag --${name}`, isFlag: true };
  const rule = rules.findLast((each) => each.settings[name] !== undefined);
  if (rule) return { value: rule.settings[name] as Value, origin: rule.name, isFlag: false };
  const value = settings.configured[name];
  return value === undefined
    ? undefined
    : { value: value as Value, origin: `configuration ingest.${name}`, isFlag: false };
}

/** The style if it makes the links: a flag wins over every template, a rule over configuration. */
function styleLayer(
  { flags, configured }: DocumentSettings,
  link: Layered<string> | undefined,
): Layered<LinkStyle> | undefined {
  if (flags.linkStyle !== undefined) {
    return { value: flags.linkStyle, origin: "flag --link-style", isFlag: true };
  }
  if (link || configured.linkStyle === undefined) return undefined;
  return {
    value: configured.linkStyle,
    origin: "configuration ingest.linkStyle",
    isFlag: false,
  };
}

type Layer = Pick<MappingOptions, "metadata" | "tags">;

function addLayer(
  { metadata, tags = [] }: Layer,
  origin: (key: string) => string,
  tagKeys: readonly string[],
  target: Metadata,
  targetTags: { tag: string; origin: string }[],
): void {
  const value = toValue(metadata ?? {});
  const rest = isMap(value) ? value : (Object.create(null) as ValueMap);
  for (const key of tagKeys) {
    for (const tag of tagsOf(rest[key])) targetTags.push({ tag, origin: origin("metadata") });
    delete rest[key];
  }
  for (const tag of tags) targetTags.push({ tag, origin: origin("tags") });
  addMetadata(target, rest, () => origin("metadata"));
}

function compute(
  settings: DocumentSettings,
  rules: readonly Rule[],
  site: Site | undefined,
): Effective {
  const metadata: Metadata = new Map();
  const flagMetadata: Metadata = new Map();
  const tags: { tag: string; origin: string }[] = [];
  const flagTags: { tag: string; origin: string }[] = [];
  const names = settings.keys.tags;
  addLayer(settings.configured, (key) => `configuration ingest.${key}`, names, metadata, tags);
  for (const rule of rules) addLayer(rule.settings, () => rule.name, names, metadata, tags);
  const flagOf = (key: string): string => (key === "tags" ? "flag --tag" : "flag --metadata");
  addLayer(settings.flags, flagOf, names, flagMetadata, flagTags);
  const byDefault = { origin: "default", isFlag: false };
  const link = layer("link", settings, rules);
  const linkStyle = styleLayer(settings, link);
  const resolving = linkStyle?.value ?? (site && generators[site.generator].linkStyle);
  const effective = {
    rules,
    source: layer("source", settings, rules) ?? { value: "file", ...byDefault },
    link: linkStyle ? undefined : link,
    linkStyle,
    site,
    resolving,
    sections: layer("sections", settings, rules) ?? { value: "whole" as const, ...byDefault },
    ccPairId: rules.findLast((rule) => rule.settings.ccPairId !== undefined)?.settings.ccPairId,
    metadata,
    flagMetadata,
    tags,
    flagTags,
  };
  const { idPrefix, linkBase, maxSectionChars, updatedAt, drafts, images, columns, keys } =
    settings;
  const { anchors } = settings;
  const { links, owners, metaCommit, format, dropAccess, storesCreation, componentAttributes } =
    settings;
  const { versionKey, keepsHidden, attributes } = settings;
  const shaping = [
    mappingVersion,
    { idPrefix, linkBase, maxSectionChars, updatedAt, drafts, images, columns, keys },
    { links, owners, metaCommit, format, dropAccess, storesCreation, componentAttributes },
    {
      versionKey,
      keepsHidden,
      attributes,
      anchors,
      configuration: site && siteDigest(site, settings),
      ...effective,
      rules: [],
      metadata: [...metadata],
      flagMetadata: [...flagMetadata],
    },
  ];
  return { ...effective, key: digest(JSON.stringify(shaping)) };
}

function digest(text: string): string {
  return hash("sha256", text, "hex").slice(0, 32);
}

// A run maps many files with few combinations of rules.
const effectiveCache = new WeakMap<DocumentSettings, Map<string, Effective>>();

/** The settings in effect for a root-relative path, computed once for each site and combination of rules. */
export function effectiveFor(path: string, settings: DocumentSettings): Effective {
  let combinations = effectiveCache.get(settings);
  if (!combinations) effectiveCache.set(settings, (combinations = new Map()));
  const rules = settings.rules.length === 0 ? settings.rules : rulesFor(path, settings.rules);
  const site = siteOf(path, settings);
  const place = site === undefined ? "" : `${site.generator} ${site.prefix}${site.config}`;
  const name = rules.length === 0 ? place : [place, ...rules.map((rule) => rule.name)].join("\n");
  let effective = combinations.get(name);
  if (!effective) combinations.set(name, (effective = compute(settings, rules, site)));
  return effective;
}

/**
 * Hash (32 hex digits) of everything that determines the payload, except the bytes and the path of
 * the file: settings, rules for its path, facts, mapping version. If stamp and mapping key equal
 * the recorded ones, so does the payload, and the file need not be read.
 */
export function mappingKey(path: string, settings: DocumentSettings, facts?: FileFacts): string {
  const { key } = effectiveFor(path, settings);
  if (!facts) return key;
  return hash("sha256", `${key} ${JSON.stringify(facts)}`, "hex").slice(0, 32);
}

/**
 * The front matter keys of an id. docusaurus.io, front matter `id`: it names a page in its folder and
 * version, so that pages share ids; it counts only where the settings name the key.
 */
export function idKeys(path: string, settings: DocumentSettings): readonly string[] {
  const { id } = settings.keys;
  const isNamed = id !== defaultKeys.id;
  return !isNamed && siteOf(path, settings)?.generator === "docusaurus" ? [] : id;
}

/** The id of a file that sets no id: prefix and root-relative path (NFC, "/"). */
export function defaultId(path: string, settings: DocumentSettings): string {
  return settings.idPrefix + path;
}
