import type { Parsed } from "../read/reader.ts";
import type { IngestionDocument, Owner } from "../../api/schemas.ts";
import { formatTime, parseDate } from "./dates.ts";
import type { Effective } from "./effective.ts";
import { commitOrigin, type FileFacts } from "./facts.ts";
import type { Fields, Trace } from "../front-matter/fields.ts";
import { plainText } from "../markdown/heading-text.ts";
import { expandTemplate, joinLink } from "./link.ts";
import { defaultId } from "./mapping.ts";
import type { Notice } from "./notices.ts";
import { parseOwners } from "./owners.ts";
import { withoutExtension } from "../read/file-name.ts";
import type { DocumentSettings } from "./settings.ts";
import { normalise } from "../inspect/stamp.ts";
import { scanStructure, type Heading } from "../markdown/structure.ts";
import { textOf } from "../front-matter/values.ts";

/** One file, and everything needed to map it to a document. */
export interface Mapping {
  path: string;
  /** Number of the row in a row file. */
  row: number | undefined;
  facts: FileFacts;
  parsed: Parsed;
  fields: Fields;
  settings: DocumentSettings;
  effective: Effective;
  trace: Trace | undefined;
  warnings: string[];
  notices: Notice[];
}

/** Front matter, else prefix and path. */
export function mapId({ path, row, fields, settings, trace }: Mapping): string {
  const field = fields.takeText(settings.keys.id);
  if (field) {
    trace?.("id", fields.originOf(field.key));
    // NFC, like the path: ids that look the same must not become two documents.
    return normalise(field.value);
  }
  trace?.("id", settings.idPrefix === "" ? "path" : "idPrefix and path");
  return defaultId(path, settings) + (row === undefined ? "" : `#${row}`);
}

/** `getting-started.md` as `Getting started`. */
function readableName(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const words = withoutExtension(name)
    .replace(/[-_\s]+/g, " ")
    .trim();
  return words === "" ? name : words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * Front matter, else the title from the format, else the first level-1 heading in `body`, else the
 * file name as words.
 */
export function mapTitle(mapping: Mapping, body: string): string {
  const { path, row, parsed, fields, settings, trace } = mapping;
  const field = fields.takeText(settings.keys.title);
  if (field) {
    trace?.("title", fields.originOf(field.key));
    return field.value;
  }
  if (parsed.title !== undefined && parsed.title.trim() !== "") {
    trace?.("title", "document title");
    return parsed.title.replace(/\s+/g, " ").trim();
  }
  if (parsed.isMarkdown) {
    const isTitle = ({ level, text }: Heading): boolean => level === 1 && plainText(text) !== "";
    const heading = scanStructure(body, isTitle).headings.at(-1);
    if (heading && isTitle(heading)) {
      const line = parsed.body.slice(0, parsed.body.indexOf(heading.text)).split("\n").length;
      trace?.("title", `heading line ${parsed.bodyLine + line - 1}`);
      return plainText(heading.text);
    }
  }
  trace?.("title", "file name");
  return row === undefined ? readableName(path) : `${readableName(path)} ${row}`;
}

/** Flag, front matter, rule, configuration, default, in this order. */
export function mapSource({ fields, settings, effective, trace }: Mapping): string {
  const { source } = effective;
  const field = fields.takeText(settings.keys.source);
  if (field && !source.isFlag) {
    trace?.("source", fields.originOf(field.key));
    return field.value;
  }
  trace?.("source", source.origin);
  return source.value;
}

/** Front matter, else the template. A bad link is dropped with a notice. */
export function mapLink(mapping: Mapping, id: string): string | undefined {
  const { path, fields, settings, effective, trace, warnings, notices } = mapping;
  const field = fields.takeText(settings.keys.link);
  const template = effective.link;
  if (!field && !template) return undefined;
  const directory = path.slice(0, Math.max(0, path.lastIndexOf("/")));
  const slug = withoutExtension(path);
  const name = slug.slice(slug.lastIndexOf("/") + 1);
  const values: Record<string, string> = { path, dir: directory, name, slug, id };
  const expanded = field
    ? { link: field.value }
    : expandTemplate(template?.value ?? "", (key) =>
        Object.hasOwn(values, key) ? values[key] : textOf(fields.get(key)),
      );
  const result = "link" in expanded ? joinLink(expanded.link, settings.linkBase) : expanded;
  const origin = field ? fields.originOf(field.key) : (template?.origin ?? "");
  if ("link" in result) {
    trace?.("link", origin);
    return result.link;
  }
  // A run counts the documents without a link; `explain` names the place.
  if (trace) warnings.push(`${path}: no link (${origin}): ${result.problem}`);
  else notices.push({ kind: "link", name: result.problem });
  return undefined;
}

/**
 * Front matter as ISO 8601 in UTC; else the date of the last commit or of the file, as configured.
 * `isOfFile` means that it is the date of the file.
 */
export function mapDate(
  mapping: Mapping,
  mtimeMs: number,
): { date: string | undefined; isOfFile: boolean } {
  const { fields, facts, settings, trace } = mapping;
  const field = fields.takeText(settings.keys.updatedAt);
  if (field) {
    trace?.("doc_updated_at", fields.originOf(field.key));
    const date = parseDate(field.value);
    const hint = "write 2024-05-01 or 2024-05-01T09:30:00Z";
    if (date === undefined) fields.fail(field.key, `not a date: ${field.value}`, hint);
    return { date, isOfFile: false };
  }
  if (settings.updatedAt === "git" && facts.commit) {
    trace?.("doc_updated_at", commitOrigin(facts.commit));
    return { date: facts.commit.date, isOfFile: false };
  }
  if (settings.updatedAt !== "mtime") return { date: undefined, isOfFile: false };
  trace?.("doc_updated_at", "modification time of the file");
  return { date: formatTime(mtimeMs), isOfFile: true };
}

function takeOwners(
  { fields }: Mapping,
  keys: readonly string[],
): { key: string; owners: Owner[] } | undefined {
  const field = fields.take(keys);
  if (!field) return undefined;
  const owners =
    parseOwners(field.value) ??
    fields.fail(field.key, "an owner has no name", "write Name <mail@example.com>, or a list");
  return owners.length === 0 ? undefined : { key: field.key, owners };
}

/**
 * Owners become primary and authors secondary owners. Without owners, the authors are primary;
 * without authors too, the owners of CODEOWNERS.
 */
export function mapOwners(mapping: Mapping, document: IngestionDocument): void {
  const { fields, facts, settings, trace } = mapping;
  const first = takeOwners(mapping, settings.keys.owners);
  const second = takeOwners(mapping, settings.keys.secondaryOwners);
  const primary = first ?? second;
  if (primary) {
    document.primary_owners = primary.owners;
    trace?.("primary_owners", fields.originOf(primary.key));
  } else if (facts.owners && facts.owners.length > 0) {
    document.primary_owners = facts.owners.map((owner) => ({ ...owner }));
    trace?.("primary_owners", "CODEOWNERS");
  }
  if (first && second) {
    document.secondary_owners = second.owners;
    trace?.("secondary_owners", fields.originOf(second.key));
  }
}
