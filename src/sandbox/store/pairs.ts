import type { PairRecord } from "../../api/schemas.ts";
import type { Database } from "../../database.ts";
import type { Caller } from "./access.ts";

type Connector = PairRecord["connector"];
type Credential = PairRecord["credential"];

/** The records of earlier runs by id; a removed one is null. */
function readRecords<Stored>(
  database: Database,
  table: "pairs" | "document_sets",
): Map<number, Stored | null> {
  const rows = database.prepare(`SELECT id, record FROM ${table} ORDER BY id`).all();
  return new Map(
    rows.map((row) => [Number(row["id"]), JSON.parse(String(row["record"])) as Stored | null]),
  );
}

/** Adds what has no id yet, under the next one. */
function addTo<Kept extends Connector | Credential>(
  known: Map<number, Kept>,
  added: Omit<Kept, "id">,
): Kept {
  const created = { id: Math.max(0, ...known.keys()) + 1, ...added } as Kept;
  known.set(Number(created.id), created);
  return created;
}

/**
 * The connector/credential pairs: the given ones, and those created in earlier runs. `records` and
 * `ids` are live: they include pairs created later. Connectors and credentials without a pair are
 * lost when the sandbox ends.
 */
export function createPairs(database: Database, given: readonly PairRecord[]) {
  const records: PairRecord[] = [];
  const ids = new Set<number>();
  const connectors = new Map<number, Connector>();
  const credentials = new Map<number, Credential>();
  const add = (record: PairRecord): void => {
    records.push(record);
    ids.add(record.cc_pair_id);
    connectors.set(record.connector.id, record.connector);
    credentials.set(record.credential.id, record.credential);
  };
  const stored = readRecords<PairRecord>(database, "pairs");
  for (const record of [...given, ...stored.values()]) {
    if (record === null || stored.get(record.cc_pair_id) === null) continue;
    if (!ids.has(record.cc_pair_id)) add(record);
  }
  const insert = database.prepare("INSERT OR REPLACE INTO pairs(id, record) VALUES (?, ?)");
  return {
    records: records as readonly PairRecord[],
    ids: ids as ReadonlySet<number>,
    addConnector: (connector: Omit<Connector, "id">) => addTo(connectors, connector),
    addCredential: (credential: Omit<Credential, "id">) => addTo(credentials, credential),
    connector: (id: number) => connectors.get(id),
    credential: (id: number) => credentials.get(id),
    /** Drops a connector without a pair. */
    dropConnector: (id: number) => connectors.delete(id),
    /** Whether a connector of this name and source exists, with or without a pair. */
    hasConnector: (name: string, source: string) =>
      [...connectors.values()].some((each) => each.name === name && each.source === source),
    /** Removes a pair, its connector and its credential. */
    remove(id: number): void {
      const at = records.findIndex((record) => record.cc_pair_id === id);
      const [removed] = records.splice(at, at < 0 ? 0 : 1);
      if (!removed) return;
      ids.delete(id);
      stored.set(id, null);
      connectors.delete(removed.connector.id);
      credentials.delete(removed.credential.id);
      insert.run(id, "null");
    },
    /** Stores a new pair. Its id is not used twice; pair 1 is the hidden default pair. */
    link(pair: Pick<PairRecord, "name" | "connector" | "credential" | "access_type" | "groups">) {
      const id = Math.max(1, ...ids, ...stored.keys()) + 1;
      const connector = { ...pair.connector, credential_ids: [pair.credential.id] };
      const record: PairRecord = { cc_pair_id: id, ...pair, connector };
      insert.run(id, JSON.stringify(record));
      add(record);
      return record;
    },
  };
}

export interface DocumentSet {
  id: number;
  name: string;
  description: string;
  pairs: number[];
  isPublic: boolean;
  users: string[];
  groups: number[];
}

/** observed-service.md 11.5; an administrator manages all sets. */
function isVisible(set: DocumentSet, caller: Caller): boolean {
  if (set.isPublic || caller.admin || set.users.includes(caller.id)) return true;
  return set.groups.some((group) => caller.groups.includes(group));
}

/** The document sets of this sandbox: the given ones (pairs by name), and those of earlier runs. */
export function createDocumentSets(database: Database, given: Record<string, readonly number[]>) {
  const open = { description: "", isPublic: true, users: [], groups: [] };
  // A removed set is null.
  const sets = new Map<number, DocumentSet | null>([
    ...Object.entries(given).map(([name, pairs], at): [number, DocumentSet] => [
      at + 1,
      { id: at + 1, name, pairs: [...pairs], ...open },
    ]),
    ...readRecords<DocumentSet>(database, "document_sets"),
  ]);
  const save = (id: number, set: DocumentSet | null): void => {
    database
      .prepare("INSERT OR REPLACE INTO document_sets(id, record) VALUES (?, ?)")
      .run(id, JSON.stringify(set));
    sets.set(id, set);
  };
  const list = (caller: Caller): DocumentSet[] =>
    [...sets.values()].flatMap((set) => (set && isVisible(set, caller) ? [set] : []));
  return {
    /** The sets that a caller sees. */
    list,
    /** The pairs of the sets of this name that the caller sees; undefined without such a set. */
    pairsOf(name: string, caller: Caller): number[] | undefined {
      const found = list(caller).filter((set) => set.name === name);
      return found.length === 0 ? undefined : found.flatMap(({ pairs }) => pairs);
    },
    has: (id: number) => (sets.get(id) ?? null) !== null,
    /** Stores a new set; returns its id. */
    add(set: Omit<DocumentSet, "id">): number {
      const id = Math.max(0, ...sets.keys()) + 1;
      save(id, { id, ...set });
      return id;
    },
    /** Stores a set in place of the one with the same id. */
    replace: (set: DocumentSet) => save(set.id, set),
    remove: (id: number) => save(id, null),
  };
}
