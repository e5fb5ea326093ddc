/**
 * Why the folder no longer yields a document that the service accepted. Final: they are the
 * `class` of `ingest orphans`, and what `--class` takes.
 */
export const orphanClasses = [
  "gone",
  "excluded",
  "other-options",
  "row-gone",
  "opted-out",
] as const;
export type OrphanClass = (typeof orphanClasses)[number];

/** Classes that `--prune` and `--tombstone` take without `--class`: nothing yields these documents any more. */
export const removedByDefault: readonly OrphanClass[] = ["gone", "row-gone"];

/** What is known of the file of a recorded document. */
export type FileState =
  /** It is found, and was read. */
  | "exists"
  | "gone"
  /** It is there, but a pattern or an ignore file leaves it out. */
  | "excluded"
  /** It or a folder above it cannot be read, or a part of it is broken. */
  | "unreadable";

/** What the file gives, judged by the options recorded with the document. */
export type DocumentState =
  /** The document, under the options of this command too. */
  | "same options"
  /** The document, but not under the options of this command; or nobody knows with which options it came about. */
  | "other options"
  /** It is recorded for another pair than the one of this command. */
  | "other pair"
  /** Other documents: its row is gone, or its file names another id now. */
  | "row gone"
  /** Nothing: the file opts out, is a draft, or has no text any more. */
  | "opted out";

/**
 * The rule of what is an orphan, a pure table; undefined: it is none. A document of another pair
 * and one of a file that cannot be read are never listed, so never removed.
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
    // What is left out is not read: the recorded options can only tell that they select it.
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

/** The class of a document, see `rule`. */
export function orphanClass(file: FileState, document: DocumentState): OrphanClass | undefined {
  return rule[file][document];
}

/** Whether a command removes documents of a class; `added` are the classes of `--class`. */
export function isRemoved(
  orphan: OrphanClass,
  command: "list" | "prune" | "tombstone",
  added: readonly OrphanClass[],
): boolean {
  return command !== "list" && (removedByDefault.includes(orphan) || added.includes(orphan));
}
