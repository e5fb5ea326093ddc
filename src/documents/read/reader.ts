import type { FrontMatterKeys } from "../map/front-matter-keys.ts";
import type { JsonDocument } from "../json-document/json-document.ts";
import type { FrontMatter } from "../front-matter/front-matter.ts";

/** What a reader makes of the text of one document. */
export interface Parsed {
  frontMatter: FrontMatter | undefined;
  body: string;
  /** Line of the file (from 1) on which the body begins. */
  bodyLine: number;
  /** Whether headings, fences and ignore regions in the body mean something. */
  isMarkdown: boolean;
  warnings: readonly string[];
  /** The title that the format itself has, for when front matter gives none. */
  title?: string;
  /** The headings of a Markdown body in order, where the format knows them better than Markdown says. */
  headings?: readonly GivenHeading[];
  /** Sections that the format itself has, e.g. pages; their texts are the body. */
  pages?: readonly Page[];
  /** For a row: which of its columns become fields. */
  rowKeys?: RowKeys;
  /** Why there is no text, where the format knows. */
  emptyReason?: string;
}

export interface GivenHeading {
  /** As plain text. */
  text: string;
  /** What leads to it behind the document's link. */
  anchor: string | undefined;
}

export interface Page {
  text: string;
  /** Says which one it is where no link does: `Page 3`. */
  label: string;
  /** What leads to it behind the document's link, e.g. `page=3`. */
  fragment: string;
}

/** One record of a file that holds many documents. */
export type Row = {
  /** Position among the records, from 1. */
  row: number;
  /** Line of the file (from 1) on which it begins. */
  line: number;
} & (
  | { kind: "text"; parsed: Parsed }
  /** A document of the interface, passed on as it was given. */
  | ({ kind: "document" } & JsonDocument)
  | { kind: "failed"; reason: string }
);

/** Column or member of a row by the field of the document that it becomes (`--map title=name`). */
export type ColumnMap = Readonly<Record<string, string>>;

/** `path` is for messages. All throw CliError `usage`, with `path:line:column` where there is one. */
export type TextReader = (text: string, path: string) => Parsed;

export type BinaryReader = (bytes: Uint8Array, path: string) => Promise<Parsed>;

export type RowReader = (text: string, path: string, map: ColumnMap | undefined) => Iterable<Row>;

/** A reader is loaded when the first file of its format is met: some bring large libraries. */
export type Format = { extensions: readonly string[] } & (
  | { gives: "text"; load: () => Promise<TextReader> }
  | { gives: "binary"; load: () => Promise<BinaryReader> }
  /** Many documents a file; taken from a folder only when named, globbed or included. */
  | { gives: "rows"; load: () => Promise<RowReader> }
);

/** A format as `--format` names it. */
export type FormatName =
  | "markdown"
  | "text"
  | "html"
  | "mdx"
  | "rst"
  | "asciidoc"
  | "json"
  | "ndjson"
  | "csv"
  | "tsv"
  | "docx"
  | "pdf";

/** Which columns of a row become fields, where a column map says so. */
export interface RowKeys {
  readonly fields: Partial<FrontMatterKeys>;
  /** Columns that are metadata, whatever their names mean elsewhere. */
  readonly metadata: ReadonlySet<string>;
}
