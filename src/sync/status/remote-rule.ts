/** Differences between folder, state and service. Do not rename them: they are in the JSON output. */
const remoteResults = ["not-sent", "gone-there", "extra", "elsewhere"] as const;
export type RemoteResult = (typeof remoteResults)[number];

/** What the folder has of a document, for one pair. */
export type FolderSide =
  /** A file yields it. */
  | "document"
  /** A file yields it with the options of this command, but was uploaded with other options, under another id. */
  | "other options"
  /** No file yields it. */
  | "no document"
  /** Unknown: its file exists and is excluded, opted out or unreadable, or no look was taken there. */
  | "unknown";

/** What the state records of a document. */
export type StateSide =
  /** Accepted by this pair. */
  | "recorded"
  /** Replaced by a removal notice in this pair. */
  | "removed"
  /** Not recorded for this pair, but for another pair of the service. */
  | "elsewhere"
  | "none";

interface Cell {
  /** The service lists the document under this pair. */
  listed: RemoteResult | undefined;
  unlisted: RemoteResult | undefined;
}

const nothing: Cell = { listed: undefined, unlisted: undefined };
const recorded: Cell = { listed: undefined, unlisted: "gone-there" };
const elsewhere: Cell = { listed: "elsewhere", unlisted: undefined };

/** truth table of the comparison; undefined means "no difference, or none that is certain". */
const rule: Readonly<Record<FolderSide, Readonly<Record<StateSide, Cell>>>> = {
  document: {
    recorded,
    // The service has the removal notice at most.
    removed: { listed: "not-sent", unlisted: "not-sent" },
    elsewhere: { listed: "elsewhere", unlisted: "elsewhere" },
    // Listed without a record: another machine may have sent it.
    none: { listed: undefined, unlisted: "not-sent" },
  },
  "other options": {
    recorded,
    removed: nothing,
    elsewhere: { listed: "elsewhere", unlisted: "elsewhere" },
    none: nothing,
  },
  "no document": {
    recorded,
    removed: nothing,
    elsewhere,
    none: { listed: "extra", unlisted: undefined },
  },
  unknown: {
    recorded,
    removed: nothing,
    elsewhere,
    none: nothing,
  },
};

/** The difference of a document by `rule`; undefined for none. */
export function remoteResultOf(
  folder: FolderSide,
  state: StateSide,
  isListed: boolean,
): RemoteResult | undefined {
  return rule[folder][state][isListed ? "listed" : "unlisted"];
}
