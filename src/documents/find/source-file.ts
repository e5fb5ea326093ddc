import type { FileFacts } from "../map/facts.ts";

/** One local file that may become a document. */
export interface SourceFile {
  /** Relative to the project root, "/", NFC. */
  path: string;
  /** Where the bytes are. */
  absolutePath: string;
  sizeBytes: number;
  /** `size:mtimeNs:ctimeNs:inode`: the same stamp means the same content, as in git's index. */
  stamp: string;
  mtimeMs: number;
  facts?: FileFacts | undefined;
}

/** What is no document: left out for a reason, or not to be read. */
export type LeftOut =
  | { kind: "skipped"; path: string; reason: string }
  | { kind: "failed"; path: string; reason: string };

/** What the search yields. */
export type Found = { kind: "file"; file: SourceFile } | LeftOut;

/** A file by name only: nobody has looked at it yet. */
export type Listed = ListedFile | LeftOut;

export interface ListedFile {
  kind: "file";
  path: string;
  /** Where the bytes are; undefined where that is simply `path` below the project root. */
  absolutePath: string | undefined;
  /** Paths of the symbolic links on the way, the last one first; undefined where there are none. */
  links?: readonly string[];
}
