import type { Database } from "../../database.ts";
import { allFailureTargets, listTargets, serviceInKey } from "../state/target.ts";

/** What a move of the records of one service to another address would change. */
export interface Move {
  documents: number;
  failures: number;
  /** Ids that both addresses have a record of, under one pair; the first of them. */
  conflicts: string[];
}

const mostConflicts = 20;

function keysOf(database: Database, service: string): string[] {
  const keys = new Set([...listTargets(database), ...allFailureTargets(database)]);
  return [...keys].filter((key) => key !== "" && serviceInKey(key) === service);
}

const movedKey = (key: string, to: string): string => to + key.slice(serviceInKey(key).length);

/** Counts the records at the address `from`, and finds those that `to` has as well. */
export function planMove(database: Database, from: string, to: string): Move {
  const move: Move = { documents: 0, failures: 0, conflicts: [] };
  const count = (table: string, key: string): number =>
    Number(database.prepare(`SELECT count(*) AS n FROM ${table} WHERE target = ?`).get(key)?.["n"]);
  const both = database.prepare(
    `SELECT id FROM accepted a WHERE target = ?1 AND EXISTS
      (SELECT 1 FROM accepted b WHERE b.target = ?2 AND b.id = a.id) ORDER BY id LIMIT ${mostConflicts}`,
  );
  for (const key of keysOf(database, from)) {
    move.documents += count("accepted", key);
    move.failures += count("failures", key);
    for (const row of both.all(key, movedKey(key, to))) move.conflicts.push(String(row["id"]));
  }
  return move;
}

/** Moves all records of one address to another, in one transaction. */
export function moveService(database: Database, from: string, to: string): void {
  database.transaction(() => {
    for (const key of keysOf(database, from)) {
      for (const table of ["accepted", "failures", "uploads", "verified"]) {
        const update = `UPDATE OR REPLACE ${table} SET target = ? WHERE target = ?`;
        database.prepare(update).run(movedKey(key, to), key);
      }
    }
    database.prepare("UPDATE OR REPLACE images SET service = ? WHERE service = ?").run(to, from);
  });
}
