import type { GivenHeading } from "../text/heading-text.ts";
import type { LeftOut, RemovedLines } from "../text/left-out.ts";
import type { FrontMatterKeys } from "../front-matter/fields.ts";
import type { FrontMatter } from "../front-matter/front-matter.ts";
import type { Value, ValueMap } from "../front-matter/values.ts";
import type { GeneratorName } from "../site/generators.ts";

/** The parsed text of one document. */
export interface Parsed {
  frontMatter: FrontMatter | undefined;
  body: string;
  /** Line of the file (from 1) on which the body begins. */
  bodyLine: number;
  /** Whether the body is Markdown, with headings, fences and ignore regions. */
  isMarkdown: boolean;
  warnings: readonly string[];
  /** The title from the format itself, used if front matter has none. */
  title?: string;
  /** The headings of a Markdown body in order, if the format knows them better than Markdown. */
  headings?: readonly GivenHeading[];
  /** What links can lead to beside headings, if the format has marks for it: ids and their texts. */
  ids?: readonly string[];
  /** What the page has in place of addresses of links that its reader has made. */
  references?: readonly Reference[];
  /** References to names that no target has, if the format can know. */
  unknownTargets?: readonly UnknownTarget[];
  /** Sections from the format itself, e.g. pages; their texts are the body. */
  pages?: readonly Page[];
  /** For a row: which of its columns become fields. */
  rowKeys?: RowKeys;
  /** Why there is no text, if the format knows. */
  emptyReason?: string;
  /** What the file contains and the body lacks. */
  leftOut?: readonly LeftOut[];
  /** The page is a slide without a title, which another page shows in a frame. */
  isSlide?: boolean;
  /** Hidden text that the body lacks; the rest of the body is as it stands in the file. */
  removed?: readonly RemovedLines[];
}

/** A link to what the page names in a way of its format. */
export interface Reference {
  /** As a link of the body has it. */
  address: string;
  /** As the author may have written it: what a message shows first. */
  written: readonly string[];
  /** The included file with the reference, root-relative; undefined for the page itself. */
  part?: string | undefined;
}

/** A reference that leads nowhere. */
export interface UnknownTarget {
  name: string;
  /** The reference as the page has it, with its marks. */
  written: string;
}

export interface Page {
  text: string;
  /** Names the page if no link leads to it: `Page 3`; "" for one that needs no name. */
  label: string;
  /** The fragment that leads to it, added to the document's link, e.g. `page=3`; "" for none. */
  fragment: string;
}

/** One record of a file with many documents. */
export type Row = {
  /** Position among the records, from 1. */
  row: number;
  /** Line of the file (from 1) on which it begins. */
  line: number;
} & (
  | { kind: "text"; parsed: Parsed }
  /** A JSON document as it stands in the file; see isJsonDocument(). `where` is its place, for messages. */
  | { kind: "json"; value: unknown; where: string }
  | { kind: "failed"; reason: string }
);

/** Column or member of a row by the field of the document that it becomes (`--map title=name`). */
export type ColumnMap = Readonly<Record<string, string>>;

/** Text of another file of the project, or why it cannot be taken. */
export type Included = { text: string; path: string } | { problem: string };

/**
 * What has a name in a site: a label or a section of Sphinx, by its name; an earlier address of a
 * page of Antora, by its root-relative path; a component of Antora, as `name` or `name@version`; a place
 * of a book of Quarto by its label, and its pages by their paths.
 */
export type SiteNames = "label" | "section" | "alias" | "component" | "place";

/** The file, root-relative, that has a name, and the title that it gives to it. */
export interface SiteEntry {
  path: string;
  title?: string | undefined;
}

/** Reads the files that a document includes. */
export interface Includes {
  /**
   * Reads the file that `target` names: relative to the folder of the last file of `chain`, or to
   * the root if it begins with `/`. `chain` leads from the document to the file with the include,
   * root-relative. Never reads outside the root, a hidden file, a file of a hidden folder that is
   * neither a page nor meant for includes, or more than the limits. Throws CliError `usage` for a Git LFS pointer: without its text, the document would be wrong.
   */
  read(target: string, chain: readonly string[]): Included;
  /**
   * Reads the note that `target` names anywhere in the vault of the page, see NotesByName; undefined
   * for none. One that is nearer may be added in any folder, so the document is read on each run.
   */
  readNote(target: string, chain: readonly string[]): Included | undefined;
  /** The page of the site with a `uid` in its front matter, by its root-relative path. */
  pageWithUid(
    uid: string,
    chain: readonly string[],
  ): { path: string; title: string | undefined } | undefined;
  /**
   * What has a name in the files below `folder` (root-relative, with "/" at its end, or ""); undefined
   * for none. Its file becomes a part of the document.
   */
  find(kind: SiteNames, folder: string, name: string): SiteEntry | undefined;
  /** Root-relative paths that read() looked for in the root, also the missing ones. */
  readonly parts: ReadonlySet<string>;
}

/** The site that a page belongs to, as its reader sees it. */
export interface PageSite {
  readonly generator: GeneratorName;
  /** The folder of its configuration, root-relative with a trailing "/"; "" for the root. */
  readonly prefix: string;
  /**
   * The value at a dotted path of the configuration: `params.version`. Undefined without one, and
   * where the configuration is a program.
   */
  value(path: string): Value | undefined;
  /** The configuration as a whole. */
  data(): ValueMap;
}

/** What a text reader may use besides the text of its file. */
export interface Surroundings {
  /** Other files of the project. */
  includes: Includes;
  /** Attributes of MDX components and shortcodes whose values are text for readers. */
  componentAttributes: readonly string[];
  /** Whether text that nobody sees stays. */
  keepsHidden?: boolean;
  /** Undefined for a page of no known generator. */
  site?: PageSite | undefined;
  /** Configured values of attributes and variables that the page and its site do not define. */
  attributes?: Readonly<Record<string, string>>;
}

/**
 * `path` is root-relative, for messages and includes. All readers throw CliError `usage`, with
 * `path:line:column` if known.
 */
export type TextReader = (text: string, path: string, around: Surroundings) => Parsed;

/** A text reader whose library gives its result later. */
export type LaterReader = (...given: Parameters<TextReader>) => Promise<Parsed>;

export type BinaryReader = (bytes: Uint8Array, path: string) => Promise<Parsed>;

/**
 * Turns the text of a row file into rows, piece by piece, so that a file may be larger than memory.
 * Throws CliError `usage` where the file cannot be read on; the rows before that stay valid.
 */
export interface RowParser {
  /** Throws CliError `usage` for a broken text. Called before push() if the whole text is known. */
  check?(text: string): void;
  /** The rows that end in this piece. Use all of them before the next piece. */
  push(text: string): Iterable<Row>;
  /** The rows after the last piece. */
  end(): Iterable<Row>;
}

export interface RowSource {
  /** For messages. */
  path: string;
  map: ColumnMap | undefined;
  /** A longer row fails, in characters. */
  maxRowChars: number;
}

export type RowReader = (source: RowSource) => RowParser;

/** A reader is loaded with the first file of its format, because some need large libraries. */
export type Format = {
  extensions: readonly string[];
  /** A hostile file of it may exhaust a library: it is read only in a thread with limits. */
  isConverted?: true;
} & (
  | { gives: "text"; load: () => Promise<TextReader | LaterReader> }
  | { gives: "binary"; load: () => Promise<BinaryReader> }
  /** Many documents per file. In a folder, such files must be named, globbed or included. */
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
  | "odt"
  | "epub"
  | "pptx"
  | "ipynb"
  | "xlsx"
  | "pdf";

/** Which columns of a row become fields, by the column map. */
export interface RowKeys {
  readonly fields: Partial<FrontMatterKeys>;
  /** Columns that are metadata, whatever their names mean elsewhere. */
  readonly metadata: ReadonlySet<string>;
}
