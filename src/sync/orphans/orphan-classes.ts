/**
 * Why the folder no longer yields a document that the service accepted. Do not rename them: they
 * are the member `class` in the output of `status` and `prune`, and the values of `--class`.
 */
export const orphanClasses = [
  "gone",
  "excluded",
  "other-options",
  "row-gone",
  "opted-out",
  "adopted",
  "foreign",
] as const;
export type OrphanClass = (typeof orphanClasses)[number];

/** Who made a recorded document, as far as its record and its file show. */
export type RecordOwner =
  | "own"
  /** The service had it before, and its id is outside this project's prefix. */
  | "adopted"
  /** Of an import: its id is not made of its path, so it may be the document of another project. */
  | "foreign";

/** With `--extra`: `extra`, a document of the service without file and record. */
export type ListedClass = OrphanClass | "extra";

/** Classes that `prune` removes without `--class`: no file yields these documents. */
const removedByDefault: readonly ListedClass[] = ["gone", "row-gone", "extra"];

/** The state of the file of a recorded document. */
export type FileState =
  /** The file was found and read. */
  | "exists"
  | "gone"
  /** The file exists, but a pattern or an ignore file excludes it. */
  | "excluded"
  /** The file or a folder above it cannot be read, or a part of the file is broken. */
  | "unreadable";

/** What the file yields under the options recorded with the document. */
export type DocumentState =
  /** The document, also under the options of this command. */
  | "same options"
  /** The document, but not under the options of this command; or its options are unknown. */
  | "other options"
  /** The document is recorded for another pair than the pair of this command. */
  | "other pair"
  /** Other documents: its row is gone, or its file has another id now. */
  | "row gone"
  /** No document: the file opts out, is a draft, or has no text any more. */
  | "opted out";

/**
 * Truth table for orphans; undefined means "not an orphan". Documents of another pair and of
 * unreadable files are never listed, so they are never removed.
 */
const rule: Readonly<Record<FileState, Readonly<Record<DocumentState, OrphanClass | undefined>>>> =
  {
    exists: {
      "same options": undefined,
      "other options": "other-options",
      "other pair": undefined,
      "row gone": "row-gone",
      "opted out": "opted-out",
    },
    gone: {
      "same options": "gone",
      "other options": "gone",
      "other pair": undefined,
      "row gone": "gone",
      "opted out": "gone",
    },
    // An excluded file is not read: the recorded options only show whether they select it.
    excluded: {
      "same options": "excluded",
      "other options": "other-options",
      "other pair": undefined,
      "row gone": "excluded",
      "opted out": "excluded",
    },
    unreadable: {
      "same options": undefined,
      "other options": undefined,
      "other pair": undefined,
      "row gone": undefined,
      "opted out": undefined,
    },
  };

/**
 * The class of a document by `rule`; undefined when it is not an orphan. What is not own is never
 * removed for the state of its file, which another folder may have.
 */
export function orphanClass(
  file: FileState,
  document: DocumentState,
  owner: RecordOwner,
): OrphanClass | undefined {
  const found = rule[file][document];
  return found && owner !== "own" ? owner : found;
}

/** Whether `prune` removes a class; `added` holds the classes of `--class`. */
export function isRemoved(orphan: ListedClass, added: readonly ListedClass[]): boolean {
  return removedByDefault.includes(orphan) || added.includes(orphan);
}
