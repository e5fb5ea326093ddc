import type { IngestionDocument } from "../../api/schemas.ts";
import type { FileFacts } from "../files/source-file.ts";
import type { LocalImage } from "../map/images/images.ts";
import type { Notice } from "../payload/metadata.ts";
import type { Fingerprint } from "../payload/payload.ts";
import type { DocumentSettings, RawSettings } from "../map/settings.ts";
import type { Parsed } from "../formats/format.ts";

/** The pair of the run. If a flag names it (`fromFlag`), it overrides rules and rows. */
export interface RunPair {
  ccPairId: number | undefined;
  fromFlag: boolean;
}

/** Input of an inspector: plain data, so that it can be passed to a worker thread. */
export interface InspectSetup {
  settings: RawSettings;
  pair: RunPair;
  /** Setup of the checks that examine each document, as plain data for LoadExamine. */
  checks?: object | undefined;
  /** Nothing is sent: documents get no body and no fingerprint, and no secret fails them. */
  onlyExamines?: boolean | undefined;
}

/** A file as it was read, with its document: what a check sees. */
export interface ExaminedPage {
  /** Relative to the project root; "" for stdin. */
  path: string;
  /** As in ReadyDocument. */
  part: number;
  /** The line of the file on which a row begins. */
  line: number | undefined;
  /** The text of the file; undefined for binary formats and rows. */
  source: string | undefined;
  /** Undefined for a finished document (JSON), which is sent as given. */
  parsed: Parsed | undefined;
  document: IngestionDocument | undefined;
  /** JSON of the request with the document, where one is built. */
  body?: Uint8Array | undefined;
  /** Why there is no document. */
  skipped: string | undefined;
  facts: FileFacts | undefined;
}

/** The result of the checks of a page. */
export interface Examined {
  /** Why the document must not be sent; it fails. */
  refused?: string | undefined;
  /** Plain data for the caller of the inspector. */
  report?: unknown;
}

/** Checks a page. Undefined if there is nothing to report. */
export type Examine = (page: ExaminedPage) => Examined | undefined;

/** Creates the checks from InspectSetup.checks. Undefined if no check is wanted. */
export type LoadExamine = (
  checks: object | undefined,
  settings: DocumentSettings,
) => Promise<Examine | undefined>;

/** A file to inspect, with its record. */
export interface LookItem {
  path: string;
  /** Undefined if that is simply `path` below the project root. */
  absolutePath: string | undefined;
  /** Recorded stamp. Without `content`, the same stamp means the same content. */
  stamp: string | undefined;
  /** Recorded hash of the content. If set, it is compared even when the stamp is the same. */
  content: string | undefined;
  /** Recorded parts, see partsText(). The same stamp means the same document only if they are. */
  parts?: string | undefined;
  facts?: FileFacts | undefined;
}

/** Result of inspecting a file: unchanged, or read again. */
export type Looked =
  /** As recorded, by stamp or by content. */
  { kind: "same" } | Prepared;

/** A document ready to be sent. */
export interface ReadyDocument {
  kind: "document";
  /** Relative to the project root; "" for stdin. */
  path: string;
  /** 0, or the number of the row in a row file, or of the line of stdin. */
  part: number;
  /** For a row in a file: the line where it begins. */
  line?: number | undefined;
  id: string;
  ccPairId: number | undefined;
  /** The pair that a rule or the row itself names. */
  ownPair: number | undefined;
  /** JSON of the IngestionRequest. */
  body: Uint8Array;
  fingerprint: Fingerprint;
  /** As sent; undefined if not sent. */
  updatedAt: string | undefined;
  /** Stamp of exactly the bytes that were read; "" if it cannot be trusted. */
  stamp: string;
  /** Hash of exactly these bytes. */
  content: string;
  /** The other files that it is made of, see partsText(). */
  parts?: string | undefined;
  warnings: readonly string[];
  images: number;
  /** Images whose placeholders are in the body. */
  uploads?: readonly LocalImage[] | undefined;
  notices?: readonly Notice[] | undefined;
  /** Examined.report. */
  report?: unknown;
}

/** Result of reading: a document, or why there is none. `part` as in ReadyDocument. */
export type Prepared =
  | ReadyDocument
  | {
      kind: "skipped";
      path: string;
      part: number;
      reason: string;
      stamp: string;
      content: string;
      parts?: string | undefined;
      /** Examined.report. */
      report?: unknown;
    }
  | FailedDocument;

export interface FailedDocument {
  kind: "failed";
  path: string;
  part: number;
  reason: string;
  /** Of what stdin brings: its id, where it names one. */
  id?: string | undefined;
}

/** A file to read without comparing it with its record. */
export interface ReadItem {
  path: string;
  /** Undefined if that is simply `path` below the project root. */
  absolutePath: string | undefined;
  facts?: FileFacts | undefined;
}

/** Compares files with their records and reads them. Works the same in this thread and a worker. */
export interface Inspector {
  /** Files with one document each. Results are in the same order. Calls `onItem` after each. */
  look(items: readonly LookItem[], onItem?: () => void): Promise<Looked[]>;
  /** The documents of a row file, one after the other. */
  readRows(item: ReadItem): AsyncIterable<Prepared>;
}

/** The inspector of a plan. */
export interface PlanInspector extends Inspector {
  /** The ids of new files by their front matter; undefined where only the whole file tells. */
  identify(items: readonly ReadItem[]): Promise<(NewId | undefined)[]>;
}

/** What the path and the front matter of a file tell about its document. */
export interface NewId {
  id: string;
  /** The pair that a rule names for its path. */
  ownPair: number | undefined;
}
