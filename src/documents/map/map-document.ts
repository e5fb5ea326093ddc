import type { Parsed } from "../read/reader.ts";
import { join } from "node:path";
import type { IngestionDocument } from "../../api/schemas.ts";
import { restrictionHint, restrictionProblem, restricts } from "./access.ts";
import { CliError } from "../../errors.ts";
import { effectiveFor } from "./effective.ts";
import type { FileFacts } from "./facts.ts";
import { booleanOf, createFields, type Trace } from "../front-matter/fields.ts";
import { removeIgnored, type RemovedLines } from "../markdown/ignore-regions.ts";
import { findReferences } from "../images/image-references.ts";
import { findImages, type FoundImages } from "../images/image-sections.ts";
import type { LocalImage } from "../images/images.ts";
import { pointerHint } from "../read/lfs.ts";
import {
  mapDate,
  mapId,
  mapLink,
  mapOwners,
  mapSource,
  mapTitle,
  type Mapping,
} from "./map-fields.ts";
import { mapMetadata } from "./map-metadata.ts";
import type { Notice } from "./notices.ts";
import { settingsOfRow } from "../read/row-keys.ts";
import { pageSections, splitSections } from "../markdown/sections.ts";
import type { DocumentSettings } from "./settings.ts";

export type Mapped =
  | {
      kind: "document";
      document: IngestionDocument;
      ccPairId: number | undefined;
      /** Image references in the text that no section stands for. */
      images: number;
      /** Images that sections stand for; see imagePlaceholder(). */
      uploads: readonly LocalImage[];
      /** Fields that change without the content changing. */
      volatile: readonly (keyof IngestionDocument)[];
      /** Whether other files, there or not, had a say in the document. */
      readsImages: boolean;
      warnings: string[];
      notices: readonly Notice[] | undefined;
    }
  | { kind: "skipped"; reason: string };

const none: readonly [] = [];
/** How the interface calls who may read a document: observed-service.md 3.1. */
const ownMember = "external_access";
// A checkout resets every file's time; that alone must not send everything again.
const dateAlone = ["doc_updated_at"] as const;

/** The key of a switch that is set, and how. */
function switchOf(
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
  const { fields, settings, parsed } = mapping;
  if (!parsed.frontMatter) return undefined;
  const ingest = switchOf(mapping, settings.keys.ingest);
  const draft = switchOf(mapping, settings.keys.draft);
  if (ingest?.on === false) return `${ingest.key}: false in ${fields.place}`;
  if (draft?.on && !settings.drafts) {
    return `${draft.key}: true in ${fields.place} (--drafts sends it)`;
  }
  return undefined;
}

/**
 * The key that seems to restrict who may read: it becomes metadata, which restricts nobody.
 * Throws CliError `usage` for the interface's own member, unless it may be dropped.
 */
function accessNotice({ fields, settings, parsed }: Mapping): readonly Notice[] | undefined {
  if (!parsed.frontMatter) return undefined;
  const isRestricted = (key: string): boolean => restricts(fields.get(key));
  if (isRestricted(ownMember)) {
    if (!settings.dropAccess) fields.fail(ownMember, restrictionProblem, restrictionHint);
    fields.take([ownMember]);
  }
  const key = settings.accessKeys.find(isRestricted);
  return key === undefined ? undefined : [{ kind: "access", name: key }];
}

/**
 * What the text refers to; nothing is looked at unless images are uploaded. Throws CliError
 * `usage` for an image that git has not fetched.
 */
function imagesOf(mapping: Mapping, body: string, absolutePath: string): FoundImages {
  const { settings, parsed, warnings, path } = mapping;
  if (!parsed.isMarkdown) return { images: [], leftOut: 0, problems: [] };
  if (settings.images === "skip") {
    return { images: [], leftOut: findReferences(body).length, problems: [] };
  }
  const found = findImages(body, { root: settings.root, absolutePath });
  if (found.problems.length === 0) return found;
  const removed: RemovedLines[] = [];
  removeIgnored(parsed.body, path, parsed.bodyLine, removed);
  let line = parsed.bodyLine;
  let from = 0;
  for (const { offset, text, isPointer } of found.problems) {
    line += body.slice(from, offset).split("\n").length - 1;
    from = offset;
    const gone = removed.filter(({ at }) => at <= offset);
    const place = `${path}:${gone.reduce((sum, { lines }) => sum + lines, line)}`;
    // Without its image the document would overwrite the one that has it.
    if (isPointer) throw new CliError("usage", `${place}: ${text}`, { hints: [pointerHint] });
    warnings.push(`${place}: ${text}`);
  }
  return found;
}

function emptyReason({ parsed, fields }: Mapping): string {
  if (parsed.emptyReason !== undefined) return parsed.emptyReason;
  if (parsed.body.trim() !== "") return "empty: all of its text is in ignore regions";
  if (!parsed.frontMatter) return "empty: no text";
  return `empty: no text ${parsed.rowKeys ? "in" : "after"} ${fields.place}`;
}

/**
 * Maps one parsed file to the document that is sent, or says why it is left
 * out. `trace` is told where each field came from. Throws CliError `usage` with
 * `path:line:column` for a value that has no meaning.
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
  given: DocumentSettings,
  trace?: Trace,
): Mapped {
  const { path } = file;
  const fields = createFields(parsed.frontMatter, path);
  const effective = effectiveFor(path, given);
  const settings = parsed.rowKeys ? settingsOfRow(given, parsed.rowKeys) : given;
  const warnings = [...parsed.warnings];
  const { row, facts = {} } = file;
  const from = { path, row, facts, parsed, fields };
  const mapping: Mapping = { ...from, settings, effective, trace, warnings };
  const reason = skipReason(mapping);
  if (reason !== undefined) return { kind: "skipped", reason };
  const notices = accessNotice(mapping);
  const { isMarkdown, bodyLine } = parsed;
  const body = isMarkdown ? removeIgnored(parsed.body, path, bodyLine) : parsed.body;
  const id = mapId(mapping);
  const title = mapTitle(mapping, body);
  const link = mapLink(mapping, id);
  const mode = isMarkdown ? effective.sections.value : "whole";
  const other = parsed.pages ? "one for each page" : "not Markdown: whole";
  trace?.("sections", isMarkdown ? effective.sections.origin : other);
  const { anchors, maxSectionChars: maxChars } = settings;
  const { images, leftOut, problems } = imagesOf(
    mapping,
    body,
    file.absolutePath ?? join(settings.root, path),
  );
  const { headings } = parsed;
  const sections = parsed.pages
    ? pageSections(parsed.pages, { link, maxChars })
    : splitSections(body, { mode, anchors, maxChars, link, images, headings });
  if (sections.length === 0) return { kind: "skipped", reason: emptyReason(mapping) };
  const document: IngestionDocument = {
    id,
    semantic_identifier: title,
    title,
    sections,
    source: mapSource(mapping),
    metadata: {},
  };
  const { date, isOfFile } = mapDate(mapping, file.mtimeMs);
  if (date !== undefined) document.doc_updated_at = date;
  mapOwners(mapping, document);
  document.metadata = mapMetadata(mapping);
  return {
    kind: "document",
    document,
    ccPairId: effective.ccPairId,
    images: leftOut,
    uploads: images.map(({ image }) => image),
    volatile: isOfFile ? dateAlone : none,
    readsImages: images.length + problems.length > 0,
    warnings,
    notices,
  };
}
