import { removeIgnored, type RemovedLines } from "../text/left-out.ts";
import type { Parsed } from "../formats/format.ts";
import type { IngestionDocument, Owner } from "../../api/schemas.ts";
import { formatTime, parseDate, parseOwners, isMap, textOf } from "../front-matter/values.ts";
import { type Effective, defaultId, idKeys } from "./effective.ts";
import { commitOrigin, type FileFacts, normalise } from "../files/source-file.ts";
import type { Fields, Trace } from "../front-matter/fields.ts";
import { plainText } from "../text/heading-text.ts";
import { documentLink } from "./links/document-link.ts";
import type { Notice } from "../payload/metadata.ts";
import { withoutExtension } from "../files/file-name.ts";
import type { DocumentSettings } from "./settings.ts";
import { scanStructure, type Heading } from "../text/structure.ts";

/**
 * Returns a function that finds the line of the file (from 1) of an offset in the body without ignore
 * regions. The offset must grow from call to call.
 */
export function createBodyLine(
  { parsed, path }: { parsed: Parsed; path: string },
  body: string,
): (offset: number) => number {
  const ignored: RemovedLines[] = [];
  removeIgnored(parsed.body, path, parsed.bodyLine, ignored);
  const { removed: hidden = [] } = parsed;
  let line = parsed.bodyLine;
  let shift = 0;
  let at = -1;
  let [nextIgnored, nextHidden] = [0, 0];
  return (offset) => {
    for (let next = body.indexOf("\n", at + 1); next !== -1 && next < offset;) {
      line++;
      at = next;
      next = body.indexOf("\n", at + 1);
    }
    for (let each = ignored[nextIgnored]; each && each.at <= offset; each = ignored[nextIgnored]) {
      line += each.lines;
      shift += each.length;
      nextIgnored++;
    }
    for (let each = hidden[nextHidden]; each && each.at <= offset + shift;) {
      line += each.lines;
      each = hidden[++nextHidden];
    }
    return line;
  };
}

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
  const field = fields.takeText(idKeys(path, settings));
  if (field) {
    trace?.("id", fields.originOf(field.key));
    // NFC, like the path: ids that look the same must not become two documents.
    return normalise(field.value);
  }
  trace?.("id", settings.idPrefix === "" ? "path" : "idPrefix and path");
  return defaultId(path, settings) + (row === undefined ? "" : `#${row}`);
}

/** `getting-started.md` as `Getting started`. */
export function readableName(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const words = withoutExtension(name)
    .replace(/[-_\s]+/g, " ")
    .trim();
  return words === "" ? name : words.charAt(0).toUpperCase() + words.slice(1);
}

/** A title and its origin. The origin may cost a search, and only `explain` needs it. */
interface Title {
  text: string;
  originOf: () => string;
}

/** The first heading of level 1 with text. */
export function titleHeading(body: string): Heading | undefined {
  const isTitle = ({ level, text }: Heading): boolean => level === 1 && plainText(text) !== "";
  const heading = scanStructure(body, isTitle).headings.at(-1);
  return heading && isTitle(heading) ? heading : undefined;
}

/** The title from the format, else the first level-1 heading in `body`, else the file name as words. */
function ownTitle({ path, row, parsed }: Mapping, body: string): Title {
  if (parsed.title !== undefined && parsed.title.trim() !== "") {
    const text = parsed.title.replace(/\s+/g, " ").trim();
    return { text, originOf: () => "document title" };
  }
  if (parsed.isMarkdown) {
    const heading = titleHeading(body);
    if (heading) {
      const originOf = (): string => {
        const offset = body.indexOf(heading.text);
        return `heading line ${createBodyLine({ parsed, path }, body)(offset)}`;
      };
      return { text: plainText(heading.text), originOf };
    }
  }
  const name = readableName(path);
  return { text: row === undefined ? name : `${name} ${row}`, originOf: () => "file name" };
}

/** Front matter, each for the other where one is missing; else the title of the content. */
export function mapTitles(mapping: Mapping, body: string): { identifier: string; title: string } {
  const { fields, settings, trace } = mapping;
  const taken = (keys: readonly string[]): Title | undefined => {
    const field = fields.takeText(keys);
    return field && { text: field.value, originOf: () => fields.originOf(field.key) };
  };
  const titleField = taken(settings.keys.title);
  const identifierField = taken(settings.keys.semanticIdentifier);
  const title = titleField ?? identifierField ?? ownTitle(mapping, body);
  const identifier = identifierField ?? title;
  trace?.("title", title.originOf());
  trace?.("semantic_identifier", identifier.originOf());
  return { identifier: identifier.text, title: title.text };
}

/** Flag, front matter, rule, configuration, default, in this order. */
export function mapSource({ fields, settings, effective, trace }: Mapping): string {
  const { source } = effective;
  // A list is that of another program, for example of the files that a page describes.
  const keys = settings.keys.source.filter((key) => textOf(fields.get(key)) !== undefined);
  const field = fields.takeText(keys);
  if (field && !source.isFlag) {
    trace?.("source", fields.originOf(field.key));
    return field.value;
  }
  trace?.("source", source.origin);
  return source.value;
}

/** Front matter, else the template or the style. A bad link is dropped with a notice. */
export function mapLink(mapping: Mapping, id: string): string | undefined {
  const { path, fields, settings, effective, trace, warnings, notices } = mapping;
  const made = documentLink({ path, fields, settings, effective, id });
  if (!made) return undefined;
  const { result, origin, isMade } = made;
  if ("link" in result) {
    trace?.("link", origin);
    if (isMade) notices.push({ kind: "made", name: result.link });
    return result.link;
  }
  // A run counts the documents without a link; `explain` names the place.
  if (trace) warnings.push(`${path}: no link (${origin}): ${result.problem}`);
  else notices.push({ kind: "link", name: result.problem });
  return undefined;
}

/** A date of front matter as ISO 8601 in UTC. Throws CliError `usage` for a text that is no date. */
function takeDate(
  { fields, trace, effective }: Mapping,
  keys: readonly string[],
  member: string,
): string | undefined {
  const field = fields.take(keys);
  if (!field) return undefined;
  const { key, value } = field;
  trace?.(member, fields.originOf(key));
  // `date: {created: …, updated: …}` of the blog of Material for MkDocs.
  const date = isMap(value) ? (value["updated"] ?? value["created"]) : value;
  const text = date && textOf(date)?.trim();
  const hint = "write 2024-05-01 or 2024-05-01T09:30:00Z";
  if (!text) return fields.fail(key, "expected text", hint);
  const isQuarto = effective.site?.generator === "quarto";
  // quarto.org, "Dates and Date Formatting": words for the time of the build, and the month first.
  if (isQuarto && /^(?:today|now|last-modified)$/.test(text)) return undefined;
  // R Markdown, "Update the date automatically": `r Sys.Date()`.
  if (/^`r\s[^`]*`$/.test(text)) return undefined;
  const [, month = "", day = "", year] =
    (isQuarto && /^(\d\d?)[-/](\d\d?)[-/](\d{4})$/.exec(text)) || [];
  const written = year ? `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}` : text;
  return parseDate(written) ?? fields.fail(key, `not a date: ${text}`, hint);
}

/**
 * Sets the dates of a document: front matter, else the last update from the last commit or the
 * file, as configured. Returns whether the last update is the date of the file.
 */
export function mapDates(mapping: Mapping, document: IngestionDocument, mtimeMs: number): boolean {
  const { facts, settings, trace } = mapping;
  const { keys, updatedAt, storesCreation } = settings;
  let updated = takeDate(mapping, keys.updatedAt, "doc_updated_at");
  let isOfFile = false;
  if (updated === undefined && updatedAt === "git" && facts.commit) {
    trace?.("doc_updated_at", commitOrigin(facts.commit));
    updated = facts.commit.date;
  } else if (updated === undefined && updatedAt === "mtime") {
    trace?.("doc_updated_at", "modification time of the file");
    updated = formatTime(mtimeMs);
    isOfFile = true;
  }
  if (updated !== undefined) document.doc_updated_at = updated;
  const created = storesCreation ? takeDate(mapping, keys.createdAt, "doc_created_at") : undefined;
  if (created !== undefined) document.doc_created_at = created;
  return isOfFile;
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
 * Owners become primary and secondary owners as they are named. Authors fill a gap: they are
 * primary without owners, else secondary. Without all of them, the owners of CODEOWNERS.
 */
export function mapOwners(mapping: Mapping, document: IngestionDocument): void {
  const { fields, facts, settings, trace } = mapping;
  const owners = takeOwners(mapping, settings.keys.owners);
  const named = takeOwners(mapping, settings.keys.secondaryOwners);
  // Authors without a place stay metadata.
  const authors = owners && named ? undefined : takeOwners(mapping, settings.keys.authors);
  const primary = owners ?? authors;
  const secondary = named ?? (owners && authors);
  if (primary) {
    document.primary_owners = primary.owners;
    trace?.("primary_owners", fields.originOf(primary.key));
  } else if (facts.owners && facts.owners.length > 0) {
    document.primary_owners = facts.owners.map((owner) => ({ ...owner }));
    trace?.("primary_owners", "CODEOWNERS");
  }
  if (secondary) {
    document.secondary_owners = secondary.owners;
    trace?.("secondary_owners", fields.originOf(secondary.key));
  }
}
