import type { IngestionDocument } from "../../api/schemas.ts";
import type { FileFacts } from "../../documents/files/source-file.ts";
import type { DocumentSettings } from "../../documents/map/settings.ts";
import type { Parsed } from "../../documents/formats/format.ts";

/** How bad a finding is. In the configuration `off` switches a rule off. */
export type Severity = "error" | "warning" | "note";

export type RuleGroup =
  | "content"
  | "identity"
  | "links"
  | "metadata"
  | "near-duplicates"
  | "secrets"
  | "hidden"
  | "access";

/** Offsets in LintPage.source, in UTF-16 units from 0. `end` is the first offset after it. */
export interface Span {
  start: number;
  end: number;
}

/** A document as rules see it. */
export interface LintPage {
  /** Relative to the project root. */
  path: string;
  /** Number of the row in a row file, from 1; 0 for a file with one document. */
  part: number;
  /** The text of the file with its front matter; undefined for binary formats and for rows. */
  source: string | undefined;
  parsed: Parsed;
  /** What an upload sends; undefined if the file is skipped. */
  document: IngestionDocument | undefined;
  /** Why the file is skipped. */
  skipped: string | undefined;
  settings: DocumentSettings;
  /** What git knows about the file, as far as the command asked for it. */
  facts?: FileFacts | undefined;
  /** For a row: the line of the file on which it begins. */
  line?: number | undefined;
  /** See LintConfig. */
  staleDays?: number | undefined;
  /** In an upload: only what is sent counts, not the rest of the file. */
  onlySent?: boolean | undefined;
  /** Keys of the active profile; never show one. */
  keys?: readonly string[] | undefined;
}

/** What several findings of a rule have in common, so that one correction removes all of them. */
export interface Cause {
  key: string;
  /** So many different findings are listed each. */
  least: number;
  /** What makes a finding a different one; undefined: its message. */
  each?: string | undefined;
  /** For the message of the one finding that stands for all, behind their number: `places show it`. */
  what: string;
  /** A wider cause, which counts if it has enough findings. */
  wider?: Cause | undefined;
}

/** What a rule found in a page. */
export interface Found {
  /** Undefined if the finding is about the whole document. */
  span?: Span | undefined;
  /** One sentence without a period. It never contains the value of a secret. */
  message: string;
  cause?: Cause | undefined;
  /** The text that replaces the span, if `lint --fix` may do so without changing the meaning. */
  fix?: string | undefined;
}

/** The words of a rule; its docs are generated from them. */
export interface RuleText {
  /** Stable, in kebab case. */
  name: string;
  group: RuleGroup;
  /** Without configuration. */
  severity: Severity;
  /** What is wrong, in one sentence. */
  summary: string;
  /** Why answers get worse, and what to write instead. */
  advice: string;
  /** A file with a finding, and the same file without. */
  bad: string;
  good: string;
}

/** A rule that looks at one document. Runs in a worker thread, also in `ingest`. */
export interface PageRule extends RuleText {
  kind: "page";
  check(page: LintPage): Iterable<Found>;
  /** Files that other pages include are parts of them, and have no findings of the rule. */
  ignoresParts?: true;
  /** The message of one finding for a folder, where most pages have the finding; undefined if each counts. */
  ofMost?: (count: number) => string;
}

/** A row of a file: findings about it stand at the line where it begins. */
export interface RowPlace {
  line: number | null;
  /** The id of its document, which stays when rows are added above. */
  id: string;
}

/** A page as folder rules know it: members as in LintPage. */
export interface ComparedPage {
  path: string;
  part: number;
  row?: RowPlace | undefined;
}

/** What a rule noted about a page, as plain data: it travels between threads as JSON. */
export interface PageFact<Fact> extends ComparedPage {
  fact: Fact;
}

/** What a folder rule found. */
export interface FolderFound extends Found, ComparedPage {}

/** A rule that compares documents. `collect` runs in a worker thread, `compare` in the main one. */
export interface FolderRule<Fact = unknown> extends RuleText {
  kind: "folder";
  /** Undefined if the page does not matter to the comparison. */
  collect(page: LintPage): Fact | undefined;
  /**
   * `facts` are those of all pages, ordered by path and part.
   * `isWhole`: the run read all documents of the project. Time is linear, or nearly, in their number.
   */
  compare(facts: readonly PageFact<Fact>[], isWhole: boolean): Iterable<FolderFound>;
}

// oxlint-disable-next-line typescript/no-explicit-any
export type Rule = PageRule | FolderRule<any>;

/** A finding as reported: trust.md 9. Lines and columns count from 1; null for binary formats. */
export interface Finding {
  rule: string;
  severity: Severity;
  path: string;
  line: number | null;
  column: number | null;
  endLine: number | null;
  endColumn: number | null;
  message: string;
  /** The same for the same finding after lines moved; different for two findings of a file. */
  fingerprint: string;
  fixable: boolean;
}
