import type { Database } from "../../../database.ts";
import type { Caller } from "../access.ts";

export interface DocumentSet {
  id: number;
  name: string;
  description: string;
  pairs: number[];
  isPublic: boolean;
  users: string[];
  groups: number[];
}

export interface DocumentSets {
  /** The sets that a caller sees. */
  list(caller: Caller): DocumentSet[];
  /** The pairs of the sets of this name that the caller sees; undefined without such a set. */
  pairsOf(name: string, caller: Caller): readonly number[] | undefined;
  has(id: number): boolean;
  /** Stores a new set; returns its id. */
  add(set: Omit<DocumentSet, "id">): number;
  /** Stores a set in place of the one with the same id. */
  replace(set: DocumentSet): void;
  remove(id: number): void;
}

/** observed-service.md 11.5; an administrator manages all sets. */
function isVisible(set: DocumentSet, caller: Caller): boolean {
  if (set.isPublic || caller.admin || set.users.includes(caller.id)) return true;
  return set.groups.some((group) => caller.groups.includes(group));
}

/** The given sets with the ids 1, 2, …, then the changes of earlier runs; a removed set is null. */
function readStored(
  database: Database,
  given: Record<string, readonly number[]>,
): Map<number, DocumentSet | null> {
  const sets = new Map<number, DocumentSet | null>();
  const open = { description: "", isPublic: true, users: [], groups: [] };
  for (const [name, pairs] of Object.entries(given)) {
    const id = sets.size + 1;
    sets.set(id, { id, name, pairs: [...pairs], ...open });
  }
  for (const row of database.prepare("SELECT * FROM document_sets ORDER BY id").all()) {
    sets.set(Number(row["id"]), JSON.parse(String(row["record"])) as DocumentSet | null);
  }
  return sets;
}

/** The document sets of this sandbox: the given ones (pairs by name), and those of earlier runs. */
export function createDocumentSets(
  database: Database,
  given: Record<string, readonly number[]>,
): DocumentSets {
  const sets = readStored(database, given);
  const save = (id: number, set: DocumentSet | null): void => {
    database
      .prepare("INSERT OR REPLACE INTO document_sets(id, record) VALUES (?, ?)")
      .run(id, JSON.stringify(set));
    sets.set(id, set);
  };
  const list = (caller: Caller): DocumentSet[] =>
    [...sets.values()].flatMap((set) => (set && isVisible(set, caller) ? [set] : []));
  return {
    list,
    pairsOf(name, caller) {
      const found = list(caller).filter((set) => set.name === name);
      return found.length === 0 ? undefined : found.flatMap(({ pairs }) => pairs);
    },
    has: (id) => (sets.get(id) ?? null) !== null,
    add(set) {
      const id = Math.max(0, ...sets.keys()) + 1;
      save(id, { id, ...set });
      return id;
    },
    replace: (set) => save(set.id, set),
    remove: (id) => save(id, null),
  };
}
