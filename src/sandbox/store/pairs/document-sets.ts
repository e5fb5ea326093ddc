import type { Database } from "../../../database.ts";
import type { Caller } from "../access.ts";
import { readRecords } from "./pairs.ts";

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
