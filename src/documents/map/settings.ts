import { createFilter, type PathFilter } from "../files/patterns.ts";
import { CliError } from "../../errors.ts";
import { type FrontMatterKeys, defaultKeys } from "../front-matter/fields.ts";
import type { ColumnMap, RowKeys, FormatName } from "../formats/format.ts";
import { defaultAccessKeys } from "../payload/access.ts";
import { maxFileBytesOf } from "../files/bytes/file-bytes.ts";
import { checkTemplate } from "./links/template.ts";
import type { GeneratorName, LinkStyle } from "../site/generators.ts";
import type { AnchorStyle } from "../text/heading-text.ts";
import { versionKeyOf } from "../payload/payload.ts";

/** One rule of the configuration: settings for the files that match. */
export interface RuleSettings {
  match: string | readonly string[];
  metadata?: Readonly<Record<string, unknown>> | undefined;
  tags?: readonly string[] | undefined;
  source?: string | undefined;
  link?: string | undefined;
  sections?: SectionMode | undefined;
  ccPairId?: number | undefined;
}

export interface Rule {
  readonly settings: RuleSettings;
  /** For messages: `rule 2 (docs/hr/**)`, counted from 1. */
  readonly name: string;
  readonly filter: PathFilter;
}

/** Compiles rules in order. Throws CliError `usage` for a bad pattern. */
function compileRules(rules: readonly RuleSettings[]): Rule[] {
  return rules.map((settings, index) => {
    const patterns = typeof settings.match === "string" ? [settings.match] : settings.match;
    const name = `rule ${index + 1} (${patterns.join(", ")})`;
    // A rule without a pattern applies to every file.
    const filter = createFilter(patterns, name) ?? createFilter(["**"], name);
    if (!filter) throw new Error("a filter of one pattern always exists");
    return { settings, name, filter };
  });
}

/** The rules that match a root-relative path, in order. */
export function rulesFor(path: string, rules: readonly Rule[]): Rule[] {
  return rules.filter((rule) => rule.filter.matches(path));
}

export type SectionMode = "whole" | "headings";

export type ImageMode = "skip" | "upload";
export type LinkMode = "rewrite" | "keep";

const defaultComponentAttributes = "title label description text alt href v".split(" ");

/** Options that the configuration and flags can set. */
export interface MappingOptions {
  include?: readonly string[] | undefined;
  exclude?: readonly string[] | undefined;
  useIgnoreFiles?: boolean | undefined;
  idPrefix?: string | undefined;
  source?: string | undefined;
  /** Link template: `{path}`, `{dir}`, `{name}`, `{slug}`, `{id}` or a front matter key; see expandTemplate(). */
  link?: string | undefined;
  /** Links as a site generator makes them, instead of a template. */
  linkStyle?: LinkStyle | undefined;
  linkBase?: string | undefined;
  /** Whether links to other files become the links of their documents. */
  links?: LinkMode | undefined;
  sections?: SectionMode | undefined;
  anchors?: AnchorStyle | undefined;
  maxSectionChars?: number | undefined;
  metadata?: Readonly<Record<string, unknown>> | undefined;
  tags?: readonly string[] | undefined;
  /** Source of a missing date. */
  updatedAt?: "git" | "mtime" | undefined;
  drafts?: boolean | undefined;
  /** Source of missing primary owners. */
  owners?: "codeowners" | undefined;
  /** Whether the commit that last changed a file becomes metadata. */
  metaCommit?: boolean | undefined;
  /** Whether the fingerprint becomes metadata, or its key. Default false. */
  versionTag?: boolean | string | undefined;
  /** Whether images of the project that a text refers to become sections. Default `skip`. */
  images?: ImageMode | undefined;
  /** Which column of a row becomes which field. */
  columns?: ColumnMap | undefined;
  /** Bytes; a larger file is an error before it is read. Default 64 MiB. */
  maxFileBytes?: number | undefined;
}

/** Options that shape documents. A new one does not compile until each list of them has it. */
export type ShapingOption = Exclude<
  keyof MappingOptions,
  "include" | "exclude" | "useIgnoreFiles" | "maxFileBytes"
>;

type KeyLists = {
  readonly [Meaning in keyof FrontMatterKeys]?: string | readonly string[] | undefined;
};

export interface RawSettings extends MappingOptions {
  /** Project root: absolute, real path (see findRoot). */
  root: string;
  rules?: readonly RuleSettings[] | undefined;
  frontMatter?: KeyLists | undefined;
  /** Attributes of MDX components and shortcodes whose values are text for readers. */
  componentAttributes?: readonly string[] | undefined;
  /** Whether text that nobody sees on a page is sent. Default `remove`. */
  hidden?: "keep" | "remove" | undefined;
  /** The site generator of the project, or that it has none. Default: by its configuration file. */
  generator?: GeneratorName | "none" | undefined;
  /** Values of attributes and variables that a page and its site do not define. */
  attributes?: Readonly<Record<string, string>> | undefined;
  /** Keys that count as a restriction of who may read; default: defaultAccessKeys. */
  accessKeys?: readonly string[] | undefined;
  /** Send documents without the members that restrict who may read them. */
  dropAccess?: boolean | undefined;
  /** Whether the service stores when a document was created. */
  storesCreation?: boolean | undefined;
  /** The format of every file, whatever its extension. */
  format?: FormatName | undefined;
  /** The same options from the command line; they override rules and configuration. */
  flags?: MappingOptions | undefined;
  /** Patterns of files whose documents may contain secrets; true for all. Changes no document. */
  allowSecrets?: readonly string[] | true | undefined;
}

export interface DocumentSettings {
  readonly root: string;
  /** Configured patterns, relative to the root. They apply when the command names no path. */
  readonly include: readonly string[];
  /** `--include`: a filter on everything found in folders. */
  readonly only: PathFilter | undefined;
  readonly exclude: PathFilter | undefined;
  readonly useIgnoreFiles: boolean;
  readonly idPrefix: string;
  readonly linkBase: string | undefined;
  /** Undefined: `rewrite` where a template or a style makes links. */
  readonly links: LinkMode | undefined;
  /** Undefined: those of the links of a page. */
  readonly anchors: AnchorStyle | undefined;
  readonly maxSectionChars: number | undefined;
  readonly updatedAt: "git" | "mtime" | undefined;
  readonly owners: "codeowners" | undefined;
  readonly metaCommit: boolean;
  /** Metadata key of the version of a document. */
  readonly versionKey: string | undefined;
  readonly drafts: boolean;
  readonly images: ImageMode;
  readonly columns: ColumnMap | undefined;
  readonly format: FormatName | undefined;
  readonly maxFileBytes: number;
  readonly keys: FrontMatterKeys;
  readonly componentAttributes: readonly string[];
  readonly keepsHidden: boolean;
  readonly generator: GeneratorName | "none" | undefined;
  readonly attributes: Readonly<Record<string, string>>;
  readonly accessKeys: readonly string[];
  readonly dropAccess: boolean;
  readonly storesCreation: boolean;
  readonly rules: readonly Rule[];
  /** Whether the documents of a path are sent even with secrets in them. */
  readonly allowsSecrets: (path: string) => boolean;
  /** As configured, for the values that rules and front matter may override. */
  readonly configured: MappingOptions;
  readonly flags: MappingOptions;
}

function compileKeys(lists: KeyLists | undefined): FrontMatterKeys {
  if (!lists) return defaultKeys;
  const list = (meaning: keyof FrontMatterKeys): readonly string[] => {
    const configured = lists[meaning];
    if (configured === undefined) return defaultKeys[meaning];
    return typeof configured === "string" ? [configured] : configured;
  };
  return {
    id: list("id"),
    title: list("title"),
    semanticIdentifier: list("semanticIdentifier"),
    link: list("link"),
    source: list("source"),
    updatedAt: list("updatedAt"),
    createdAt: list("createdAt"),
    owners: list("owners"),
    secondaryOwners: list("secondaryOwners"),
    authors: list("authors"),
    // Always included: the combined tags are sent under this key.
    tags: [...new Set([...list("tags"), "tags"])],
    ingest: list("ingest"),
    draft: list("draft"),
  };
}

/** Whether compileSettings() needs loadGlobs() first. */
export function usesPatterns(raw: RawSettings): boolean {
  const { include, exclude, rules, allowSecrets, flags = {} } = raw;
  const lists = [include, exclude, rules, flags.include, flags.exclude];
  return [...lists, allowSecrets === true ? [] : allowSecrets].some((each) => each?.length);
}

function compileAllowed(allowed: RawSettings["allowSecrets"]): (path: string) => boolean {
  if (allowed === true) return () => true;
  const filter = createFilter(allowed ?? [], "allowSecrets");
  return (path) => filter?.matches(path) === true;
}

/** Throws CliError `usage` for a bad template, and for a template and a style at one place. */
function checkLinks({ flags = {}, ...configured }: RawSettings): void {
  checkTemplate(flags.link ?? "", "--link");
  checkTemplate(configured.link ?? "", "ingest.link");
  for (const [index, { link }] of (configured.rules ?? []).entries()) {
    checkTemplate(link ?? "", `ingest.rules: rule ${index + 1}: link`);
  }
  const refuse = (template: string, style: string): never => {
    throw new CliError("usage", `${style} and ${template} both make links`, {
      hints: [`omit ${template} or ${style}`],
    });
  };
  if (flags.link !== undefined && flags.linkStyle !== undefined) refuse("--link", "--link-style");
  if (configured.link !== undefined && configured.linkStyle !== undefined) {
    refuse("ingest.link", "ingest.linkStyle");
  }
}

/**
 * Applies defaults and compiles patterns. Call it once per run, because matchers are expensive.
 * Settings with patterns need loadGlobs() first. Throws CliError `usage` for a pattern that is
 * absolute, leaves the root, or expands too far, and for a bad link template.
 */
export function compileSettings(raw: RawSettings): DocumentSettings {
  const { root, rules, frontMatter, format, accessKeys, dropAccess, ...rest } = raw;
  const { allowSecrets, storesCreation, componentAttributes, hidden, ...others } = rest;
  const { generator, attributes, flags = {}, ...configured } = others;
  const pick = <Key extends keyof MappingOptions>(key: Key): MappingOptions[Key] =>
    flags[key] ?? configured[key];
  const isPositive = (pattern: string): boolean =>
    !pattern.startsWith("!") || pattern.startsWith("!(");
  const include = configured.include ?? [];
  const excluded = [
    ...include.filter((pattern) => !isPositive(pattern)).map((pattern) => pattern.slice(1)),
    ...(configured.exclude ?? []),
    ...(flags.exclude ?? []),
  ];
  checkLinks(raw);
  return {
    root,
    include: include.filter(isPositive),
    only: createFilter(flags.include ?? [], "--include"),
    exclude: createFilter(excluded, "exclude", true),
    useIgnoreFiles: pick("useIgnoreFiles") ?? true,
    idPrefix: pick("idPrefix") ?? "",
    linkBase: pick("linkBase"),
    links: pick("links"),
    anchors: pick("anchors"),
    maxSectionChars: pick("maxSectionChars"),
    updatedAt: pick("updatedAt"),
    owners: pick("owners"),
    metaCommit: pick("metaCommit") ?? false,
    versionKey: versionKeyOf(pick("versionTag")),
    drafts: pick("drafts") ?? false,
    images: pick("images") ?? "skip",
    columns: pick("columns"),
    format,
    maxFileBytes: maxFileBytesOf(raw),
    keys: compileKeys(frontMatter),
    componentAttributes: componentAttributes ?? defaultComponentAttributes,
    keepsHidden: hidden === "keep",
    generator,
    attributes: attributes ?? {},
    accessKeys: accessKeys ?? defaultAccessKeys,
    dropAccess: dropAccess === true,
    storesCreation: storesCreation === true,
    rules: compileRules(rules ?? []),
    allowsSecrets: compileAllowed(allowSecrets),
    configured,
    flags,
  };
}

const settingsCache = new WeakMap<
  RowKeys,
  { runSettings: DocumentSettings; settings: DocumentSettings }
>();

/** The settings for the mapping of a row: its fields are the columns that the map names. */
export function settingsOfRow(runSettings: DocumentSettings, rowKeys: RowKeys): DocumentSettings {
  // All rows of a file share their keys.
  const cached = settingsCache.get(rowKeys);
  if (cached?.runSettings === runSettings) return cached.settings;
  const keys = { ...runSettings.keys, ...rowKeys.fields };
  for (const meaning of Object.keys(keys) as (keyof FrontMatterKeys)[]) {
    // A column with a meaning in the map has no other meaning.
    const isFree = (name: string): boolean => name === "tags" || !rowKeys.metadata.has(name);
    keys[meaning] = rowKeys.fields[meaning] ?? keys[meaning].filter(isFree);
  }
  const settings = { ...runSettings, keys };
  settingsCache.set(rowKeys, { runSettings, settings });
  return settings;
}
