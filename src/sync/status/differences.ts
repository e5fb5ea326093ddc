import type { Database } from "../../database.ts";
import { createRows, pagesOf } from "../state/tables.ts";
import type { OrphanClass } from "../orphans/orphan-classes.ts";

/** Differences between folder, state and service. Do not rename them: they are in the JSON output. */
const remoteResults = ["not-sent", "gone-there", "extra", "elsewhere"] as const;
type RemoteResult = (typeof remoteResults)[number];

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

/** Results of a comparison of files and records. Do not rename them: they are in the JSON output. */
type LocalResult = "new" | "changed" | "failed" | "gone";

/** A document on which folder, state and service differ. */
export interface Difference {
  result: LocalResult | RemoteResult;
  /** The id; of an extra document, made of its stored id; "" where it is not known. */
  id: string;
  /** Path of its file, relative to the project root; undefined for a document without a known file. */
  path: string | undefined;
  /** Why it is gone. */
  class?: OrphanClass | undefined;
  /** The pair whose list was compared; for `elsewhere` the pair of the record; undefined for none. */
  ccPairId: number | undefined;
}

/** Differences in a temporary table. A document counts once: its first difference is kept. */
export interface DifferenceTable {
  add(difference: Difference): void;
  /** Adds a difference that stands for all documents of a file: no other one of the file is kept. */
  addFile(difference: Difference & { path: string }): void;
  count(result: Difference["result"], class_?: OrphanClass): number;
  /** Differences with this result, in order of path and id. */
  list(result: Difference["result"]): Generator<Difference>;
}

/** Creates the empty table in the connection's temporary database. */
export function createDifferenceTable(database: Database): DifferenceTable {
  database.exec(`
    DROP TABLE IF EXISTS temp.differences;
    CREATE TEMP TABLE differences (
      result TEXT, path TEXT, id TEXT, pair INTEGER, class TEXT, PRIMARY KEY (path, id)
    ) WITHOUT ROWID;`);
  const rows = createRows(database, "INSERT OR IGNORE INTO temp.differences", 5);
  const counted = database.prepare("SELECT count(*) AS n FROM temp.differences WHERE result = ?");
  const ofClass = database.prepare(
    "SELECT count(*) AS n FROM temp.differences WHERE result = ? AND class = ?",
  );
  const files = new Set<string>();
  const add = ({ result, path = "", id, ccPairId, class: name }: Difference): void => {
    if (files.has(path)) return;
    rows.add(result, path, id, ccPairId ?? null, name ?? null);
  };
  return {
    add,
    addFile(difference) {
      add(difference);
      files.add(difference.path);
    },
    count(result, name) {
      rows.flush();
      const row = name === undefined ? counted.get(result) : ofClass.get(result, name);
      return Number(row?.["n"]);
    },
    *list(result) {
      rows.flush();
      const keys = ["path", "id"];
      for (const row of pagesOf(database, "temp.differences", keys, "result = ?", [result])) {
        const { path, id, pair, class: name } = row;
        yield {
          result,
          id: String(id),
          path: path === "" ? undefined : String(path),
          ccPairId: pair === null ? undefined : Number(pair),
          class: name === null ? undefined : (String(name) as OrphanClass),
        };
      }
    },
  };
}
