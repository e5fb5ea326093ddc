import type { SourceFile } from "../files/source-file.ts";
import type { IngestionDocument } from "../../api/schemas.ts";
import { CliError } from "../../errors.ts";
import type { Examine } from "./inspection.ts";
import { effectiveFor } from "../map/effective.ts";
import { listFiles, openWalk } from "../find/find.ts";
import type { Trace } from "../front-matter/fields.ts";
import { examineReading } from "./inspect.ts";
import { readDocument, type Reading } from "./read.ts";
import { readRows } from "./read-rows.ts";
import { formatOf } from "../formats/formats.ts";
import { jobsOf, scopeOf, type FindOptions } from "../find/scope.ts";
import type { DocumentSettings } from "../map/settings.ts";
import { partialReason, siteText } from "../site/sites.ts";

/** One field of the payload: its value as JSON text (strings without quotes) and its origin. */
export interface ExplainedField {
  name: string;
  value: string;
  origin: string;
}

export interface Explanation {
  path: string;
  /** Number of the row in a row file. */
  row?: number;
  /** Whether a run over its folder would send it. */
  isIncluded: boolean;
  reason: string;
  /** The site that it belongs to: `Hugo (docs/hugo.toml)`. */
  site: string | undefined;
  /** Names of the rules that match it. */
  rules: string[];
  ccPairId: number | undefined;
  fields: ExplainedField[];
  /** The exact document; undefined when the content is skipped. */
  document: IngestionDocument | undefined;
  /** Bytes of the document as JSON in UTF-8. */
  documentBytes: number;
  sourceBytes: number;
  images: number;
  /** What the file contains and the document lacks, by kind. */
  leftOut: { kind: string; count: number; first: string }[];
  warnings: string[];
}

/** The link through which an ordinary run includes a path. */
function linkTo(path: string, options: FindOptions): string | undefined {
  for (const found of listFiles([], options)) {
    if (found.path === path && found.kind === "file") return found.links?.[0];
  }
  return undefined;
}

/**
 * Why an ordinary run (over the configured `include`, else the whole root) includes or skips a
 * path. Uses the same checks as the walk.
 */
function explainPath(path: string, settings: DocumentSettings): [boolean, string] {
  const { include, only, exclude } = settings;
  const options = { cwd: settings.root, settings };
  const place = include.length > 0 ? `include ${include.join(", ")}` : "the project root";
  if (exclude?.matches(path)) return [false, `matches exclude ${exclude.patterns.join(", ")}`];
  if (only && !only.matches(path)) {
    return [false, `does not match --include ${only.patterns.join(", ")}`];
  }
  if (openWalk(jobsOf([], options), settings).direct.file(path)) return [true, `found in ${place}`];
  const link = linkTo(path, options);
  if (link !== undefined) return [true, `found in ${place} through the symbolic link ${link}`];
  const partial = partialReason(path, settings);
  if (partial !== undefined) return [false, partial];
  if (!scopeOf([], options)(path)) return [false, `not in ${place}`];
  if (formatOf(path, settings.format)?.gives === "rows") {
    return [false, "row files are included only when named or matched by a glob"];
  }
  if (!settings.useIgnoreFiles) return [false, `not in ${place}`];
  const names = path.split("/");
  const why = names.some((name) => name.startsWith("."))
    ? "hidden"
    : names.includes("node_modules")
      ? "in node_modules"
      : "ignored by an ignore file";
  return [false, `${why} (a run includes it with --no-ignore, or if you name it)`];
}

function fieldsOf(document: IngestionDocument, origins: Map<string, string>): ExplainedField[] {
  const { metadata, sections, semantic_identifier: identifier, ...rest } = document;
  const shown: [string, unknown][] = [
    ["semantic_identifier", identifier],
    ...Object.entries(rest),
    [
      "sections",
      `${sections.length}, ${sections.reduce((sum, { text = "" }) => sum + text.length, 0)} characters`,
    ],
    ["link", sections[0]?.link],
    ...Object.entries(metadata).map(([key, value]): [string, unknown] => [
      `metadata.${key}`,
      value,
    ]),
  ];
  return shown
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ({
      name,
      value: typeof value === "string" ? value : JSON.stringify(value),
      // A JSON document is sent as given: its fields have no origins.
      origin: origins.get(name) || (origins.has("id") ? "default" : "as given"),
    }));
}

async function readOne(
  file: SourceFile,
  settings: DocumentSettings,
  row: number | undefined,
  trace: Trace,
): Promise<Reading & { part?: number; line?: number }> {
  const { path } = file;
  if (formatOf(path, settings.format)?.gives !== "rows") {
    if (row === undefined) return await readDocument(file, settings, trace);
    throw new CliError("usage", `${path}: contains one document, not rows`, {
      hints: ["remove --row"],
    });
  }
  const wanted = row ?? 1;
  const traceOf = (part: number): Trace | undefined => (part === wanted ? trace : undefined);
  for await (const each of readRows(file, settings, traceOf)) {
    if (each.part !== wanted) continue;
    if (each.kind === "failed") throw new CliError("usage", each.reason);
    return each;
  }
  throw new CliError("usage", `${path}: has no row ${wanted}`);
}

function leftOutOf(reading: Reading): Explanation["leftOut"] {
  const notices = reading.kind === "document" ? (reading.notices ?? []) : [];
  return notices
    .filter(({ kind }) => kind === "leftOut" || kind === "undefined")
    .map(({ kind, name, times = 1, example = "" }) => ({
      kind: kind === "undefined" ? `{${name}}` : name,
      count: times,
      first: example,
    }));
}

function warningsOf(reading: Reading): string[] {
  if (reading.kind !== "document") return [];
  const { warnings, notices = [] } = reading;
  const ofSite = notices.filter(({ kind }) => kind === "site");
  return [...warnings, ...ofSite.map(({ name }) => `a document of a site ${name}`)];
}

/**
 * Explains one file, or one row of a row file (`row`, by default the first): why it is included or
 * skipped, the origin of each field, the exact document and its size. If a check refuses the
 * document, the explanation contains only the reason. Throws CliError `usage`, like readDocument(), for a file
 * that cannot be mapped.
 */
export async function explainDocument(
  file: SourceFile,
  settings: DocumentSettings,
  examine: Examine | undefined,
  row?: number,
): Promise<Explanation> {
  const origins = new Map<string, string>();
  const reading = await readOne(file, settings, row, (field, origin) => {
    origins.set(field, origin);
  });
  const [isFound, reason] = explainPath(file.path, settings);
  const effective = effectiveFor(file.path, settings);
  const isDocument = reading.kind === "document";
  const { path, facts } = file;
  const refused = isDocument
    ? examineReading(path, reading.part ?? 0, reading, undefined, { examine }, facts)?.refused
    : undefined;
  const document = isDocument && refused === undefined ? reading.document : undefined;
  return {
    path: file.path,
    ...(reading.part === undefined ? {} : { row: reading.part }),
    isIncluded: isFound && document !== undefined,
    reason: refused ?? (reading.kind === "skipped" ? reading.reason : reason),
    site: effective.site && siteText(effective.site),
    rules: effective.rules.map((rule) => rule.name),
    ccPairId: reading.kind === "document" ? reading.ccPairId : effective.ccPairId,
    fields: document ? fieldsOf(document, origins) : [],
    document,
    documentBytes: document ? Buffer.byteLength(JSON.stringify(document)) : 0,
    sourceBytes: file.sizeBytes,
    images: reading.kind === "document" ? reading.images : 0,
    leftOut: leftOutOf(reading),
    warnings: warningsOf(reading),
  };
}
