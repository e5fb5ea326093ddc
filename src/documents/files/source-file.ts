import type { FileFacts } from "./file-facts.ts";

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

/** A path that results in no document: skipped for a reason, or unreadable. */
export type LeftOut =
  | { kind: "skipped"; path: string; reason: string }
  | { kind: "failed"; path: string; reason: string };

/** One result of the search. */
export type Found = { kind: "file"; file: SourceFile } | LeftOut;

/** A result by name only, without a stat call. */
export type Listed = ListedFile | LeftOut;

export interface ListedFile {
  kind: "file";
  path: string;
  /** Where the bytes are; undefined if that is simply `path` below the project root. */
  absolutePath: string | undefined;
  /** Paths of the symbolic links on the way, the last one first; undefined without links. */
  links?: readonly string[];
}
