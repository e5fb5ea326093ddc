import type { IngestionDocument, Owner } from "../api/schemas.ts";
import { formatTime, parseDate } from "./dates.ts";
import { effectiveFor, type Effective } from "./effective.ts";
import { booleanOf, createFields, type Fields, type Trace } from "./fields.ts";
import { plainText } from "./heading-text.ts";
import { removeIgnored } from "./ignore-regions.ts";
import { expandTemplate, joinLink } from "./link.ts";
import { defaultId } from "./mapping.ts";
import { mapMetadata } from "./map-metadata.ts";
import { parseOwners } from "./owners.ts";
import type { Parsed } from "./readers.ts";
import { splitSections } from "./sections.ts";
import type { DocumentSettings } from "./settings.ts";
import { isInCodeSpan, isOpaque, scanStructure } from "./structure.ts";
import { textOf } from "./values.ts";

export type Mapped =
  | {
      kind: "document";
      document: IngestionDocument;
      ccPairId: number | undefined;
      /** Image references in the text; images are not uploaded. */
      images: number;
      warnings: string[];
    }
  | { kind: "skipped"; reason: string };

/** One file on its way to a document. */
interface Mapping {
  path: string;
  parsed: Parsed;
  fields: Fields;
  settings: DocumentSettings;
  effective: Effective;
  trace: Trace | undefined;
  warnings: string[];
}

function skipReason({ fields, settings }: Mapping): string | undefined {
  const switchOf = (keys: readonly string[]): { key: string; on: boolean } | undefined => {
    const taken = fields.takeText(keys);
    if (!taken) return undefined;
    const on = booleanOf(taken.value);
    if (on === undefined) return fields.fail(taken.key, "expected true or false", "write true or false");
    return { key: taken.key, on };
  };
  const ingest = switchOf(settings.keys.ingest);
  const draft = switchOf(settings.keys.draft);
  if (ingest?.on === false) return `${ingest.key}: false in the front matter`;
  if (draft?.on && !settings.drafts) {
    return `${draft.key}: true in the front matter (--drafts sends it)`;
  }
  return undefined;
}

function mapId({ path, fields, settings, trace }: Mapping): string {
  const given = fields.takeText(settings.keys.id);
  if (given) {
    trace?.("id", fields.originOf(given.key));
    return given.value;
  }
  trace?.("id", settings.idPrefix === "" ? "path" : "idPrefix and path");
  return defaultId(path, settings);
}

/** `getting-started.md` as `Getting started`. */
function readableName(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const words = name.replace(/\.[^.]*$/, "").replace(/[-_\s]+/g, " ").trim();
  return words === "" ? name : words.charAt(0).toUpperCase() + words.slice(1);
}

function mapTitle({ path, parsed, fields, settings, trace }: Mapping, body: string): string {
  const given = fields.takeText(settings.keys.title);
  if (given) {
    trace?.("title", fields.originOf(given.key));
    return given.value;
  }
  if (parsed.isMarkdown) {
    const heading = scanStructure(body).headings.find(
      ({ level, text }) => level === 1 && plainText(text) !== "",
    );
    if (heading) {
      const line = parsed.body.slice(0, parsed.body.indexOf(heading.text)).split("\n").length;
      trace?.("title", `heading line ${parsed.bodyLine + line - 1}`);
      return plainText(heading.text);
    }
  }
  trace?.("title", "file name");
  return readableName(path);
}

function mapSource({ fields, settings, effective, trace }: Mapping): string {
  const { source } = effective;
  const given = fields.takeText(settings.keys.source);
  if (given && !source.isFlag) {
    trace?.("source", fields.originOf(given.key));
    return given.value;
  }
  trace?.("source", source.origin);
  return source.value;
}

function mapLink(mapping: Mapping, id: string): string | undefined {
  const { path, fields, settings, effective, trace, warnings } = mapping;
  const given = fields.takeText(settings.keys.link);
  const template = effective.link;
  if (!given && !template) return undefined;
  const directory = path.slice(0, Math.max(0, path.lastIndexOf("/")));
  const slug = path.replace(/\.[^./]*$/, "");
  const name = slug.slice(slug.lastIndexOf("/") + 1);
  const values: Record<string, string> = { path, dir: directory, name, slug, id };
  const expanded = given
    ? { link: given.value }
    : expandTemplate(template?.value ?? "", (key) =>
        Object.hasOwn(values, key) ? values[key] : textOf(fields.get(key)),
      );
  const result = "link" in expanded ? joinLink(expanded.link, settings.linkBase) : expanded;
  const origin = given ? fields.originOf(given.key) : (template?.origin ?? "");
  if ("link" in result) {
    trace?.("link", origin);
    return result.link;
  }
  warnings.push(`${path}: no link (${origin}): ${result.problem}`);
  return undefined;
}

function mapDate(mapping: Mapping, mtimeMs: number): string | undefined {
  const { fields, settings, trace } = mapping;
  const given = fields.takeText(settings.keys.updatedAt);
  if (given) {
    trace?.("doc_updated_at", fields.originOf(given.key));
    return (
      parseDate(given.value) ??
      fields.fail(given.key, `not a date: ${given.value}`, "write 2024-05-01 or 2024-05-01T09:30:00Z")
    );
  }
  if (settings.updatedAt !== "mtime") return undefined;
  trace?.("doc_updated_at", "modification time of the file");
  return formatTime(mtimeMs);
}

function takeOwners({ fields }: Mapping, keys: readonly string[]): { key: string; owners: Owner[] } | undefined {
  const given = fields.take(keys);
  if (!given) return undefined;
  const owners =
    parseOwners(given.value) ??
    fields.fail(given.key, "somebody without a name", "write Name <mail@example.com>, or a list");
  return owners.length === 0 ? undefined : { key: given.key, owners };
}

function mapOwners(mapping: Mapping, document: IngestionDocument): void {
  const { fields, settings, trace } = mapping;
  const first = takeOwners(mapping, settings.keys.owners);
  const second = takeOwners(mapping, settings.keys.secondaryOwners);
  const primary = first ?? second;
  if (primary) {
    document.primary_owners = primary.owners;
    trace?.("primary_owners", fields.originOf(primary.key));
  }
  if (first && second) {
    document.secondary_owners = second.owners;
    trace?.("secondary_owners", fields.originOf(second.key));
  }
}

function countImages(body: string): number {
  if (!body.includes("![") && !body.includes("<img")) return 0;
  const structure = scanStructure(body);
  const images = [...body.matchAll(/!\[[^\]\n]*\][([]|<img[\s/>]/g)];
  return images.filter(
    ({ index }) => !isOpaque(structure, index) && !isInCodeSpan(body, index),
  ).length;
}

function emptyReason({ parsed }: Mapping): string {
  if (parsed.body.trim() !== "") return "empty: all of its text is in ignore regions";
  return parsed.frontMatter ? "empty: no text after the front matter" : "empty: no text";
}

/**
 * Maps one parsed file to the document that is sent, or says why it is left
 * out. `trace` is told where each field came from. Throws CliError `usage` with
 * `path:line:column` for a value that has no meaning.
 */
export function mapDocument(
  file: { path: string; mtimeMs: number },
  parsed: Parsed,
  settings: DocumentSettings,
  trace?: Trace,
): Mapped {
  const { path } = file;
  const fields = createFields(parsed.frontMatter, path);
  const effective = effectiveFor(path, settings);
  const warnings = [...parsed.warnings];
  const mapping: Mapping = { path, parsed, fields, settings, effective, trace, warnings };
  const reason = skipReason(mapping);
  if (reason !== undefined) return { kind: "skipped", reason };
  const { isMarkdown, bodyLine } = parsed;
  const body = isMarkdown ? removeIgnored(parsed.body, path, bodyLine) : parsed.body;
  const id = mapId(mapping);
  const title = mapTitle(mapping, body);
  const link = mapLink(mapping, id);
  const mode = isMarkdown ? effective.sections.value : "whole";
  trace?.("sections", isMarkdown ? effective.sections.origin : "not Markdown: whole");
  const { anchors, maxSectionChars: maxChars } = settings;
  const sections = splitSections(body, { mode, anchors, maxChars, link });
  if (sections.length === 0) return { kind: "skipped", reason: emptyReason(mapping) };
  const document: IngestionDocument = {
    id,
    semantic_identifier: title,
    title,
    sections,
    source: mapSource(mapping),
    metadata: {},
  };
  const date = mapDate(mapping, file.mtimeMs);
  if (date !== undefined) document.doc_updated_at = date;
  mapOwners(mapping, document);
  document.metadata = mapMetadata(parsed.frontMatter, fields, effective, settings, trace);
  const images = isMarkdown ? countImages(body) : 0;
  return { kind: "document", document, ccPairId: effective.ccPairId, images, warnings };
}
