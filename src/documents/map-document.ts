import type { IngestionDocument } from "../api/schemas.ts";
import { createCodeTest } from "./code.ts";
import { effectiveFor } from "./effective.ts";
import { booleanOf, createFields, type Trace } from "./fields.ts";
import { removeIgnored } from "./ignore-regions.ts";
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
import type { Parsed } from "./readers.ts";
import { splitSections } from "./sections.ts";
import type { DocumentSettings } from "./settings.ts";

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

function skipReason({ fields, settings }: Mapping): string | undefined {
  const switchOf = (keys: readonly string[]): { key: string; on: boolean } | undefined => {
    const taken = fields.takeText(keys);
    if (!taken) return undefined;
    const on = booleanOf(taken.value);
    if (on === undefined)
      return fields.fail(taken.key, "expected true or false", "write true or false");
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

function countImages(body: string): number {
  if (!body.includes("![") && !body.includes("<img")) return 0;
  const isCode = createCodeTest(body);
  let count = 0;
  // No "[" within the brackets: a pattern that passes over it takes quadratic time on "![![![".
  for (const { index } of body.matchAll(/!\[[^[\]\n]*\][([]|<img[\s/>]/g)) {
    if (!isCode(index)) count++;
  }
  return count;
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
