import type { PairRecord } from "../../../api/schemas.ts";
import type { Database } from "../../../database.ts";

type Connector = PairRecord["connector"];
type Credential = PairRecord["credential"];

/**
 * The connector/credential pairs. `records` and `ids` are live: they include
 * pairs created later. Pairs are stored; connectors and credentials without a pair are lost
 * when the sandbox ends.
 */
export interface Pairs {
  readonly records: readonly PairRecord[];
  readonly ids: ReadonlySet<number>;
  addConnector(connector: Omit<Connector, "id">): Connector;
  addCredential(credential: Omit<Credential, "id">): Credential;
  connector(id: number): Connector | undefined;
  credential(id: number): Credential | undefined;
  /** Drops a connector without a pair. */
  dropConnector(id: number): void;
  /** Whether a connector of this name and source exists, with or without a pair. */
  hasConnector(name: string, source: string): boolean;
  /** Removes a pair, its connector and its credential. */
  remove(id: number): void;
  link(parts: {
    name: string;
    accessType: string;
    groups: number[];
    connector: Connector;
    credential: Credential;
  }): PairRecord;
}

/** The pairs of earlier runs by id; a removed pair is null. */
function readStored(database: Database): Map<number, PairRecord | null> {
  const rows = database.prepare("SELECT id, record FROM pairs ORDER BY id").all();
  return new Map(
    rows.map((row) => [Number(row["id"]), JSON.parse(String(row["record"])) as PairRecord | null]),
  );
}

/** The pairs of this sandbox: the given pairs, and those created in earlier runs. */
export function createPairs(database: Database, given: readonly PairRecord[]): Pairs {
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
  const stored = readStored(database);
  for (const record of [...given, ...stored.values()]) {
    if (record === null || stored.get(record.cc_pair_id) === null) continue;
    if (!ids.has(record.cc_pair_id)) add(record);
  }
  const insert = database.prepare("INSERT OR REPLACE INTO pairs(id, record) VALUES (?, ?)");
  const nextId = (usedIds: Iterable<number>): number => Math.max(0, ...usedIds) + 1;
  return {
    records,
    ids,
    addConnector(connector) {
      const created = { id: nextId(connectors.keys()), ...connector } as Connector;
      connectors.set(created.id, created);
      return created;
    },
    addCredential(credential) {
      const created = { id: nextId(credentials.keys()), ...credential } as Credential;
      credentials.set(created.id, created);
      return created;
    },
    connector: (id) => connectors.get(id),
    credential: (id) => credentials.get(id),
    dropConnector: (id) => void connectors.delete(id),
    remove(id) {
      const at = records.findIndex((record) => record.cc_pair_id === id);
      const [removed] = records.splice(at, at < 0 ? 0 : 1);
      if (!removed) return;
      ids.delete(id);
      stored.set(id, null);
      connectors.delete(removed.connector.id);
      credentials.delete(removed.credential.id);
      insert.run(id, "null");
    },
    hasConnector: (name, source) =>
      [...connectors.values()].some((each) => each.name === name && each.source === source),
    link({ name, accessType, groups, connector, credential }) {
      const record: PairRecord = {
        // Pair 1 is the hidden default pair.
        // An id is not used twice.
        cc_pair_id: Math.max(2, nextId([...ids, ...stored.keys()])),
        name,
        connector: { ...connector, credential_ids: [credential.id] },
        credential,
        access_type: accessType,
        groups,
      };
      insert.run(record.cc_pair_id, JSON.stringify(record));
      add(record);
      return record;
    },
  };
}
