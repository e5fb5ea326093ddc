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
  link(parts: {
    name: string;
    accessType: string;
    groups: number[];
    connector: Connector;
    credential: Credential;
  }): PairRecord;
}

function readStored(database: Database): PairRecord[] {
  const rows = database.prepare("SELECT record FROM pairs ORDER BY id").all();
  return rows.map((row) => JSON.parse(String(row["record"])) as PairRecord);
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
  for (const record of [...given, ...readStored(database)]) {
    if (!ids.has(record.cc_pair_id)) add(record);
  }
  const insert = database.prepare("INSERT INTO pairs(id, record) VALUES (?, ?)");
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
    hasConnector: (name, source) =>
      [...connectors.values()].some((each) => each.name === name && each.source === source),
    link({ name, accessType, groups, connector, credential }) {
      const record: PairRecord = {
        // Pair 1 is the hidden default pair.
        cc_pair_id: Math.max(2, nextId(ids)),
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
