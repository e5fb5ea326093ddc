import type { FileFacts } from "../map/facts.ts";
import type { LocalImage } from "../images/images.ts";
import type { Notice } from "../map/notices.ts";
import type { Fingerprint } from "../payload/payload.ts";
import type { RawSettings } from "../map/settings.ts";

/** The pair of the run, and whether a flag names it, which then wins over rules and rows. */
export interface RunPair {
  ccPairId: number | undefined;
  fromFlag: boolean;
}

/** What looking at files takes: plain data, so that it can be handed to a worker thread. */
export interface InspectSetup {
  settings: RawSettings;
  pair: RunPair;
  /** Documents given as JSON are sent without members that restrict who may read them. */
  dropAccess?: boolean | undefined;
  /** Keys of the active profile: a document that holds one fails (see createSecretCheck()). */
  keys: readonly string[];
}

/** A file to look at, and what is known of it. */
export interface LookItem {
  path: string;
  /** Undefined where that is simply `path` below the project root. */
  absolutePath: string | undefined;
  /** Recorded stamp: unless there is a hash to compare, the same stamp means the same content. */
  stamp: string | undefined;
  /** Recorded hash of the content, to be compared whatever the stamp says. */
  content: string | undefined;
  facts?: FileFacts | undefined;
}

/** What a look at a file gives: nothing new, or all that it holds. */
export type Looked =
  /** As recorded, by stamp or by content. */
  { kind: "same" } | Prepared;

/** A document ready to be sent. */
export interface ReadyDocument {
  kind: "document";
  /** Relative to the project root; "" for what came from stdin. */
  path: string;
  /** 0, or the number of the row in a file of rows, or of the line of stdin. */
  part: number;
  /** Line where the row begins, of a row in a file. */
  line?: number | undefined;
  id: string;
  ccPairId: number | undefined;
  /** The pair that a rule or the row itself names. */
  ownPair: number | undefined;
  /** JSON of the IngestionRequest. */
  body: Uint8Array;
  fingerprint: Fingerprint;
  /** As it is sent; undefined when it is not. */
  updatedAt: string | undefined;
  /** Stamp of exactly the bytes that were read, "" when it is not to be trusted; hash of them. */
  stamp: string;
  content: string;
  warnings: readonly string[];
  images: number;
  /** Images that stand in the body by their placeholders. */
  uploads?: readonly LocalImage[] | undefined;
  notices?: readonly Notice[] | undefined;
}

/** What reading gives: a document, or why there is none; `part` as in ReadyDocument. */
export type Prepared =
  | ReadyDocument
  | { kind: "skipped"; path: string; part: number; reason: string; stamp: string; content: string }
  | FailedDocument;

export interface FailedDocument {
  kind: "failed";
  path: string;
  part: number;
  reason: string;
  /** Of what stdin brings: its id, where it names one. */
  id?: string | undefined;
}

/** A file to read whatever is known of it. */
export interface ReadItem {
  path: string;
  /** Undefined where that is simply `path` below the project root. */
  absolutePath: string | undefined;
  facts?: FileFacts | undefined;
}

/** Looks at files and reads them; the same in this thread and in a worker. */
export interface Inspector {
  /** Files of one document each; the results are in the same order. `onItem` hears of each. */
  look(items: readonly LookItem[], onItem?: () => void): Promise<Looked[]>;
  /** The documents of a file of rows, one after the other. */
  readRows(item: ReadItem): AsyncIterable<Prepared>;
}

/** What a plan is made with. */
export interface PeekingInspector extends Inspector {
  /** Which document a new file gives, where its first bytes tell that surely. */
  peekId(item: ReadItem): PeekedId | undefined;
}

/** What is known of a new file before it is read as a whole. */
export interface PeekedId {
  id: string;
  /** The pair that a rule names for its path. */
  ownPair: number | undefined;
}
