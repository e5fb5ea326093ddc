import { type FrontMatterKeys, defaultKeys } from "./front-matter-keys.ts";
import type { SectionMode } from "./rules.ts";
import type { ColumnMap } from "../read/reader.ts";
import { defaultAccessKeys } from "./access.ts";
import { compileRules, type Rule, type RuleSettings } from "./rules.ts";
import type { FormatName } from "../read/reader.ts";
import { createFilter, type PathFilter } from "../find/patterns.ts";
import { maxFileBytesOf } from "../read/size-limit.ts";
export type ImageMode = "skip" | "upload";
export type AnchorStyle = "github" | "docusaurus" | "mkdocs";

/** What may be given in the configuration and again as a flag. */
export interface MappingOptions {
  include?: readonly string[] | undefined;
  exclude?: readonly string[] | undefined;
  useIgnoreFiles?: boolean | undefined;
  idPrefix?: string | undefined;
  source?: string | undefined;
  /** Link template: `{path}`, `{dir}`, `{name}`, `{slug}`, `{id}` or a front matter key. */
  link?: string | undefined;
  linkBase?: string | undefined;
  sections?: SectionMode | undefined;
  anchors?: AnchorStyle | undefined;
  maxSectionChars?: number | undefined;
  metadata?: Readonly<Record<string, unknown>> | undefined;
  tags?: readonly string[] | undefined;
  /** Where a missing date comes from. */
  updatedAt?: "git" | "mtime" | undefined;
  drafts?: boolean | undefined;
  /** Where missing primary owners come from. */
  owners?: "codeowners" | undefined;
  /** Whether the commit that last changed a file becomes metadata. */
  metaCommit?: boolean | undefined;
  /** Whether images of the project that a text refers to become sections. Default `skip`. */
  images?: ImageMode | undefined;
  /** Which column of a row becomes which field. */
  columns?: ColumnMap | undefined;
  /** Bytes; a larger file is an error before it is read. Default 64 MiB. */
  maxFileBytes?: number | undefined;
}

type KeyLists = {
  readonly [Meaning in keyof FrontMatterKeys]?: string | readonly string[] | undefined;
};

export interface RawSettings extends MappingOptions {
  /** Project root: absolute, real path (see findRoot). */
  root: string;
  rules?: readonly RuleSettings[] | undefined;
  frontMatter?: KeyLists | undefined;
  /** Keys that count as a restriction of who may read; default: defaultAccessKeys. */
  accessKeys?: readonly string[] | undefined;
  /** Documents are sent without what restricts who may read them. */
  dropAccess?: boolean | undefined;
  /** How every file is read, whatever its extension says. */
  format?: FormatName | undefined;
  /** The same options from the command line; they win over rules and configuration. */
  flags?: MappingOptions | undefined;
  /** Patterns of files whose documents may hold secrets, or true for all. Shapes no document. */
  allowSecrets?: readonly string[] | true | undefined;
}

export interface DocumentSettings {
  readonly root: string;
  /** Configured patterns, relative to the root: what is searched when no path is given. */
  readonly include: readonly string[];
  /** `--include`: a filter on everything found in folders. */
  readonly only: PathFilter | undefined;
  readonly exclude: PathFilter | undefined;
  readonly useIgnoreFiles: boolean;
  readonly idPrefix: string;
  readonly linkBase: string | undefined;
  readonly anchors: AnchorStyle;
  readonly maxSectionChars: number | undefined;
  readonly updatedAt: "git" | "mtime" | undefined;
  readonly owners: "codeowners" | undefined;
  readonly metaCommit: boolean;
  readonly drafts: boolean;
  readonly images: ImageMode;
  readonly columns: ColumnMap | undefined;
  readonly format: FormatName | undefined;
  readonly maxFileBytes: number;
  readonly keys: FrontMatterKeys;
  readonly accessKeys: readonly string[];
  readonly dropAccess: boolean;
  readonly rules: readonly Rule[];
  /** Whether the documents of a path are sent with the secrets in them. */
  readonly allowsSecrets: (path: string) => boolean;
  /** As given, for the values that rules and front matter may override. */
  readonly configured: MappingOptions;
  readonly flags: MappingOptions;
}

function compileKeys(lists: KeyLists | undefined): FrontMatterKeys {
  if (!lists) return defaultKeys;
  const list = (meaning: keyof FrontMatterKeys): readonly string[] => {
    const given = lists[meaning];
    if (given === undefined) return defaultKeys[meaning];
    return typeof given === "string" ? [given] : given;
  };
  return {
    id: list("id"),
    title: list("title"),
    link: list("link"),
    source: list("source"),
    updatedAt: list("updatedAt"),
    owners: list("owners"),
    secondaryOwners: list("secondaryOwners"),
    // Always there: it is what the united tags are sent as.
    tags: [...new Set([...list("tags"), "tags"])],
    ingest: list("ingest"),
    draft: list("draft"),
  };
}

/** Whether compiling takes loadGlobs(). */
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

/**
 * Settings with defaults and compiled patterns; make them once a run, matchers
 * are expensive. Those that use patterns need loadGlobs() first. Throws CliError `usage` for a pattern that is absolute, leaves
 * the root, or would expand too far.
 */
export function compileSettings(raw: RawSettings): DocumentSettings {
  const { root, rules, frontMatter, format, accessKeys, dropAccess, allowSecrets, ...others } = raw;
  const { flags = {}, ...configured } = others;
  const pick = <Key extends keyof MappingOptions>(key: Key): MappingOptions[Key] =>
    flags[key] ?? configured[key];
  const taken = (pattern: string): boolean => !pattern.startsWith("!") || pattern.startsWith("!(");
  const include = configured.include ?? [];
  const excluded = [
    ...include.filter((pattern) => !taken(pattern)).map((pattern) => pattern.slice(1)),
    ...(configured.exclude ?? []),
    ...(flags.exclude ?? []),
  ];
  return {
    root,
    include: include.filter(taken),
    only: createFilter(flags.include ?? [], "--include"),
    exclude: createFilter(excluded, "exclude", true),
    useIgnoreFiles: pick("useIgnoreFiles") ?? true,
    idPrefix: pick("idPrefix") ?? "",
    linkBase: pick("linkBase"),
    anchors: pick("anchors") ?? "github",
    maxSectionChars: pick("maxSectionChars"),
    updatedAt: pick("updatedAt"),
    owners: pick("owners"),
    metaCommit: pick("metaCommit") ?? false,
    drafts: pick("drafts") ?? false,
    images: pick("images") ?? "skip",
    columns: pick("columns"),
    format,
    maxFileBytes: maxFileBytesOf(raw),
    keys: compileKeys(frontMatter),
    accessKeys: accessKeys ?? defaultAccessKeys,
    dropAccess: dropAccess === true,
    rules: compileRules(rules ?? []),
    allowsSecrets: compileAllowed(allowSecrets),
    configured,
    flags,
  };
}
