import type { Parsed } from "../formats/format.ts";
import { join } from "node:path";
import type { IngestionDocument } from "../../api/schemas.ts";
import { restrictionHint, restrictionProblem, restricts } from "../payload/access.ts";
import { CliError } from "../../errors.ts";
import { effectiveFor, type Effective } from "./effective.ts";
import { configOf } from "../site/config.ts";
import { siteLinks } from "./links/site-links.ts";
import { excludedReason, unwrittenReason } from "../site/excluded.ts";
import { type FileFacts, commitOrigin } from "../files/source-file.ts";
import { booleanOf, createFields, type Trace } from "../front-matter/fields.ts";
import {
  createBodyLine,
  mapDates,
  mapId,
  mapLink,
  mapOwners,
  mapSource,
  mapTitles,
  type Mapping,
} from "./map-fields.ts";
import { removeIgnored } from "../text/left-out.ts";
import { findReferences } from "./images/image-references.ts";
import { findImages, type FoundImages } from "./images/image-sections.ts";
import type { LocalImage } from "./images/images.ts";
import { pointerHint } from "../files/bytes/file-bytes.ts";
import type { Parts } from "../parts/parts.ts";
import {
  leftOutNotices,
  type Notice,
  flatten,
  tagsOf,
  type AddEntry,
  type MetadataValue,
} from "../payload/metadata.ts";
import { settingsOfRow, type DocumentSettings } from "./settings.ts";
import { pageSections, splitSections } from "./sections.ts";
import { addVersionTag } from "../payload/payload.ts";
import { isMap, type ValueMap } from "../front-matter/values.ts";
import { rewriteLinks, shownAddress } from "./links/rewrite-links.ts";
import { linkingFile } from "./links/linking-file.ts";

/** A body with the links of documents, and where its offsets are. */
interface LinkedBody {
  body: string;
  /** The offset in `body` of an offset in the original. */
  shift(offset: number): number;
}

/**
 * What an address that begins with "/" counts from, on a page with this link. docusaurus.io,
 * "baseUrl": Docusaurus puts its base before such addresses.
 */
function siteOf({ effective, settings }: Mapping, link: string | undefined): string | undefined {
  const { linkBase } = settings;
  const hasBase = effective.linkStyle?.value === "docusaurus" && linkBase !== undefined;
  const page = hasBase ? linkBase : link;
  if (page === undefined || !/^https?:/i.test(page) || !URL.canParse(page)) return undefined;
  return hasBase ? page.replace(/\/+$/, "") : new URL(page).origin;
}

/**
 * Rewrites the relative links of a Markdown body, if links are to be rewritten. `link` is the page's
 * own. A dead link becomes a notice.
 */
function mapLinks(
  mapping: Mapping,
  body: string,
  link: string | undefined,
  parts: Parts | undefined,
): LinkedBody {
  const { path, parsed, settings, effective, notices } = mapping;
  const isVault = effective.site?.generator === "obsidian";
  const hasLinks = effective.link ?? effective.linkStyle ?? isVault;
  const isWanted = settings.links ?? (hasLinks ? "rewrite" : "keep");
  const asWritten = { body, shift: (offset: number) => offset };
  if (!parts || !parsed.isMarkdown || parsed.pages || isWanted === "keep") return asWritten;
  const file = linkingFile(path, settings, parts.add);
  const { text, shift, dead, firstDead } = rewriteLinks(body, file, siteOf(mapping, link));
  if (firstDead) {
    const example = `${createBodyLine(mapping, body)(firstDead.offset)}: ${shownAddress(firstDead.target)}`;
    notices.push({ kind: "deadLink", name: "", times: dead, example });
  }
  return { body: text, shift };
}

/** Metadata key for the commit that last changed the file. */
const commitKey = "source_commit";

/** The metadata of one document while it is collected. */
interface Draft {
  values: Record<string, MetadataValue>;
  tags: string[];
  /** Only for `explain`: each origin costs a search for its line. */
  origins: Map<string, string> | undefined;
  tagOrigins: Set<string>;
}

function setEntry({ values, origins }: Draft, key: string, value: MetadataValue, origin: string) {
  // Assigning `__proto__` would set the prototype instead.
  if (key !== "__proto__") values[key] = value;
  else Object.defineProperty(values, key, { value, enumerable: true, configurable: true });
  origins?.set(key, origin);
}

function addTags(draft: Draft, tags: readonly { tag: string; origin: string }[]): void {
  for (const { tag, origin } of tags) {
    draft.tags.push(tag);
    draft.tagOrigins.add(origin);
  }
}

/** Metadata key of the interface whose members are metadata themselves. */
const metadataMember = "metadata";

/** Adds members that `isField` does not claim; those with the name of tags become tags. */
function addMembers(
  draft: Draft,
  data: ValueMap,
  tagKeys: readonly string[],
  isField: (key: string) => boolean,
  originOf: (key: string) => string,
): void {
  for (const key of tagKeys) {
    const found = tagsOf(data[key]);
    for (const tag of found) draft.tags.push(tag);
    if (draft.origins && found.length > 0) draft.tagOrigins.add(originOf(key));
  }
  let origin = "";
  const add: AddEntry = (name, value) => setEntry(draft, name, value, origin);
  for (const key of Object.keys(data)) {
    if (tagKeys.includes(key) || isField(key)) continue;
    origin = originOf(key);
    flatten(key, data[key] ?? null, add);
  }
}

function addFrontMatter(draft: Draft, { parsed, fields, settings, trace }: Mapping): void {
  const { data } = parsed.frontMatter ?? {};
  if (!data) return;
  const originOf = (key: string): string => (trace ? fields.originOf(key) : "");
  const { tags } = settings.keys;
  const own = data[metadataMember];
  // `--map metadata.metadata=COLUMN` asks for this name.
  const isNamed = parsed.rowKeys?.metadata.has(metadataMember) === true;
  const members =
    own !== undefined && isMap(own) && !fields.isUsed(metadataMember) && !isNamed ? own : undefined;
  const isField = (key: string): boolean =>
    fields.isUsed(key) || (members !== undefined && key === metadataMember);
  addMembers(draft, data, tags, isField, originOf);
  if (members) {
    const origin = originOf(metadataMember);
    addMembers(
      draft,
      members,
      tags,
      () => false,
      () => origin,
    );
  }
}

/**
 * The metadata of a document. Later sources override earlier ones: configuration and rules, the
 * commit (if configured), the front matter keys that no field has used, flags. The tags of all
 * sources are combined under `tags`. Call it last, when every field has used its key.
 */
function mapMetadata(mapping: Mapping): Record<string, MetadataValue> {
  const { effective, settings, trace } = mapping;
  const { commit } = mapping.facts;
  const origins = trace && new Map<string, string>();
  const draft: Draft = { values: {}, tags: [], origins, tagOrigins: new Set() };
  for (const [key, { value, origin }] of effective.metadata) setEntry(draft, key, value, origin);
  addTags(draft, effective.tags);
  if (settings.metaCommit && commit) setEntry(draft, commitKey, commit.id, commitOrigin(commit));
  addFrontMatter(draft, mapping);
  for (const [key, { value, origin }] of effective.flagMetadata) {
    setEntry(draft, key, value, origin);
  }
  addTags(draft, effective.flagTags);
  if (draft.tags.length > 0) {
    setEntry(draft, "tags", [...new Set(draft.tags)], [...draft.tagOrigins].join(", "));
  }
  if (trace && origins) for (const [key, origin] of origins) trace(`metadata.${key}`, origin);
  return draft.values;
}

export type Mapped =
  | {
      kind: "document";
      document: IngestionDocument;
      ccPairId: number | undefined;
      /** Number of image references in the text without a section. */
      images: number;
      /** Images with a section; see imagePlaceholder(). */
      uploads: readonly LocalImage[];
      /** Fields that can change while the content stays the same. */
      volatile: readonly (keyof IngestionDocument)[];
      warnings: string[];
      /** Undefined instead of an empty list: most documents have none. */
      notices: readonly Notice[] | undefined;
    }
  | { kind: "skipped"; reason: string };

const none: readonly [] = [];
/** The member of the service's API for who may read a document: observed-service.md 3.1. */
const apiAccessMember = "external_access";
// A checkout resets the time of every file; this alone must not send every document again.
const dateAlone = ["doc_updated_at"] as const;

/** The first of the keys with a value, read as a boolean. Throws CliError `usage`. */
function readBoolean(
  { fields }: Mapping,
  keys: readonly string[],
): { key: string; on: boolean } | undefined {
  const taken = fields.takeText(keys);
  if (!taken) return undefined;
  const on = booleanOf(taken.value);
  if (on === undefined)
    return fields.fail(taken.key, "expected true or false", "write true or false");
  return { key: taken.key, on };
}

function skipReason(mapping: Mapping): string | undefined {
  const { fields, settings, parsed, path } = mapping;
  const excluded = excludedReason(path, settings, parsed.frontMatter?.data);
  if (excluded !== undefined || !parsed.frontMatter) return excluded;
  const ingest = readBoolean(mapping, settings.keys.ingest);
  const draft = readBoolean(mapping, settings.keys.draft);
  if (ingest?.on === false) return `${ingest.key}: false in ${fields.place}`;
  if (draft?.on && !settings.drafts) {
    return `${draft.key}: true in ${fields.place} (--drafts sends it)`;
  }
  return unwrittenReason(path, parsed.frontMatter.data, settings);
}

/**
 * Reports a key that seems to restrict who may read: it becomes metadata, which restricts nobody.
 * Throws CliError `usage` for the API's own member, unless `dropAccess` is set.
 */
function addAccessNotice({ fields, settings, parsed, notices }: Mapping): void {
  if (!parsed.frontMatter) return;
  const isRestricted = (key: string): boolean => restricts(fields.get(key));
  if (isRestricted(apiAccessMember)) {
    if (!settings.dropAccess) fields.fail(apiAccessMember, restrictionProblem, restrictionHint);
    fields.take([apiAccessMember]);
  }
  const key = settings.accessKeys.find(isRestricted);
  if (key !== undefined) notices.push({ kind: "access", name: key });
}

/**
 * The images that the text refers to. Reads image files only if images are uploaded. Throws
 * CliError `usage` for an image that git has not fetched.
 */
function imagesOf(
  mapping: Mapping,
  body: string,
  absolutePath: string,
  note: Parts["note"] = () => {},
): FoundImages {
  const { settings, parsed, warnings, path } = mapping;
  if (!parsed.isMarkdown) return { images: [], leftOut: 0, problems: [] };
  if (settings.images === "skip") {
    return { images: [], leftOut: findReferences(body).length, problems: [] };
  }
  const { vault } = linkingFile(path, settings, () => {});
  const from = { root: settings.root, absolutePath, note, find: vault?.find };
  const found = findImages(body, from);
  if (found.problems.length === 0) return found;
  const lineOf = createBodyLine(mapping, body);
  for (const { offset, text, isPointer } of found.problems) {
    const place = `${path}:${lineOf(offset)}`;
    // Without its image, the document would overwrite the version with the image.
    if (isPointer) throw new CliError("usage", `${place}: ${text}`, { hints: [pointerHint] });
    warnings.push(`${place}: ${text}`);
  }
  return found;
}

/** Says what the configuration of a site does not tell. */
function siteNotices(effective: Effective, settings: DocumentSettings): Notice[] {
  const { site, sections } = effective;
  const problem = site && configOf(site, settings).problem;
  const isOwn = sections.value === "headings" && siteLinks(effective, settings).anchors === "none";
  return [
    ...(problem === undefined
      ? []
      : [`whose configuration cannot be read: ${problem}; correct it: its values are unknown`]),
    ...(isOwn
      ? [
          "with a slugify of its own: their sections have the link of their page; set ingest.anchors if a style fits",
        ]
      : []),
  ].map((name) => ({ kind: "site", name }));
}

function emptyReason({ parsed, fields }: Mapping): string {
  if (parsed.emptyReason !== undefined) return parsed.emptyReason;
  if (parsed.body.trim() !== "") return "empty: all of its text is in ignore regions";
  if (!parsed.frontMatter) return "empty: no text";
  return `empty: no text ${parsed.rowKeys ? "in" : "after"} ${fields.place}`;
}

/**
 * Maps one parsed file to a document, or returns the reason to skip it. `trace` receives the origin
 * of each field, `parts` the other files that the document is made of. Throws CliError `usage` with `path:line:column` for an invalid value.
 */
export function mapDocument(
  file: {
    path: string;
    mtimeMs: number;
    absolutePath?: string;
    row?: number;
    facts?: FileFacts | undefined;
  },
  parsed: Parsed,
  runSettings: DocumentSettings,
  trace?: Trace,
  parts?: Parts,
): Mapped {
  const { path } = file;
  const fields = createFields(parsed.frontMatter, path);
  const effective = effectiveFor(path, runSettings);
  const settings = parsed.rowKeys ? settingsOfRow(runSettings, parsed.rowKeys) : runSettings;
  const warnings = [...parsed.warnings];
  const { row, facts = {} } = file;
  const notices = [...leftOutNotices(parsed.leftOut), ...siteNotices(effective, runSettings)];
  // Written out: a spread here takes as long as the rest of the mapping.
  const mapping: Mapping = {
    path,
    row,
    facts,
    parsed,
    fields,
    settings,
    effective,
    trace,
    warnings,
    notices,
  };
  const reason = skipReason(mapping);
  if (reason !== undefined) return { kind: "skipped", reason };
  addAccessNotice(mapping);
  const { isMarkdown, bodyLine } = parsed;
  const body = isMarkdown ? removeIgnored(parsed.body, path, bodyLine) : parsed.body;
  const id = mapId(mapping);
  const { identifier, title } = mapTitles(mapping, body);
  const link = mapLink(mapping, id);
  const mode = isMarkdown ? effective.sections.value : "whole";
  const formatOrigin = parsed.pages ? "one for each page" : "not Markdown: whole";
  trace?.("sections", isMarkdown ? effective.sections.origin : formatOrigin);
  const { maxSectionChars: maxChars } = settings;
  const { anchors } = siteLinks(effective, runSettings);
  const found = imagesOf(
    mapping,
    body,
    file.absolutePath ?? join(settings.root, path),
    parts?.note,
  );
  const linked = mapLinks(mapping, body, link, parts);
  const images = found.images.map((each) => ({ ...each, offset: linked.shift(each.offset) }));
  const { headings } = parsed;
  const sections =
    parsed.pages && mode !== "headings"
      ? pageSections(parsed.pages, { link, maxChars })
      : splitSections(linked.body, { mode, anchors, maxChars, link, images, headings });
  if (sections.length === 0) return { kind: "skipped", reason: emptyReason(mapping) };
  const document: IngestionDocument = {
    id,
    semantic_identifier: identifier,
    title,
    sections,
    source: mapSource(mapping),
    metadata: {},
  };
  const isOfFile = mapDates(mapping, document, file.mtimeMs);
  mapOwners(mapping, document);
  document.metadata = mapMetadata(mapping);
  const volatile = isOfFile ? dateAlone : none;
  const { versionKey: key } = settings;
  if (key !== undefined) {
    addVersionTag(document, volatile, { key, path });
    trace?.(`metadata.${key}`, "configuration ingest.versionTag");
  }
  return {
    kind: "document",
    document,
    ccPairId: effective.ccPairId,
    images: found.leftOut,
    uploads: images.map(({ image }) => image),
    volatile,
    warnings,
    notices: notices.length > 0 ? notices : undefined,
  };
}
