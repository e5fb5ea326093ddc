import type { Database } from "../../database.ts";
import { CliError } from "../../errors.ts";
import type { RunPair } from "../../documents/inspect/inspection.ts";

/** Destination of a document; `key` is part of the key of its records in the state. */
export interface Target {
  ccPairId: number;
  /** Origin, path prefix and pair: `https://host/prefix#243`. */
  key: string;
}

/** The targets of a run: one service, and the pair for documents that name no pair. */
export interface Targets {
  /** Origin and path prefix. */
  baseUrl: string;
  pair: RunPair;
}

// Documents share few targets. A key made for each document would be hashed and compared anew.
const targetsByPair = new WeakMap<Targets, Map<number, Target>>();

function makeTarget(targets: Targets, ccPairId: number): Target {
  let byPair = targetsByPair.get(targets);
  if (!byPair) targetsByPair.set(targets, (byPair = new Map()));
  let target = byPair.get(ccPairId);
  if (!target) {
    target = { ccPairId, key: `${targets.baseUrl}#${ccPairId}` };
    byPair.set(ccPairId, target);
  }
  return target;
}

/**
 * The target of a document whose rule or row names the pair `own`. A pair from a flag
 * overrides `own`. Undefined without a pair. Pair 0 counts as no pair: the service would
 * silently use its hidden default pair (observed-service.md 3.9).
 */
export function targetFor(targets: Targets, own: number | undefined): Target | undefined {
  const { pair } = targets;
  const ccPairId = pair.fromFlag ? pair.ccPairId : (own ?? pair.ccPairId);
  if (ccPairId === undefined || ccPairId === 0) return undefined;
  return makeTarget(targets, ccPairId);
}

/** The base URL at the start of the key of a target, see Target. */
export function serviceInKey(key: string): string {
  return key.slice(0, key.lastIndexOf("#"));
}

/** The pair at the end of the key of a target, see Target. */
export function pairInKey(key: string): number {
  return Number(key.slice(key.lastIndexOf("#") + 1));
}

/** A project is uploaded to a few pairs; the commands compare them with one another. */
export const mostTargets = 1000;

function refuseMany(): never {
  throw new CliError("local", `the state has more than ${mostTargets} targets: not used`, {
    isLasting: true,
    hints: ["no upload makes so many: name another folder with --state, or move the state away"],
  });
}

/**
 * Keys of the first `most` targets with accepted documents. Throws CliError `local` for more than an
 * upload makes.
 */
export function listTargets(database: Database, most = Infinity): string[] {
  // Seek from one target to the next: DISTINCT would scan a million records.
  const next = database.prepare("SELECT min(target) AS target FROM accepted WHERE target > ?");
  const all: string[] = [];
  while (all.length < most) {
    const target = next.get(all.at(-1) ?? "")?.["target"];
    if (typeof target !== "string") break;
    all.push(target);
    if (all.length > mostTargets) refuseMany();
  }
  return all;
}

/** Keys of the targets of one service with accepted documents. */
export function serviceTargets(database: Database, baseUrl: string): string[] {
  return listTargets(database).filter((key) => serviceInKey(key) === baseUrl);
}

/** Base URLs of all services with accepted documents. */
export function recordedServices(database: Database): string[] {
  return [...new Set(listTargets(database).map(serviceInKey))];
}

/** Keys of all targets with failures; "" for failures without a known pair. */
export function allFailureTargets(database: Database): string[] {
  const rows = database
    .prepare("SELECT DISTINCT target FROM failures ORDER BY target LIMIT ?")
    .all(mostTargets + 1);
  if (rows.length > mostTargets) refuseMany();
  return rows.map((row) => String(row["target"]));
}

/** Keys of the targets of one service with failures. */
export function failureTargets(database: Database, baseUrl: string): string[] {
  return allFailureTargets(database).filter((key) => serviceInKey(key) === baseUrl);
}

/** Keys of the targets of one service with an upload that has not sent everything. */
export function stoppedTargets(database: Database, baseUrl: string): string[] {
  return database
    .prepare("SELECT DISTINCT target FROM uploads WHERE ended = 0 ORDER BY target LIMIT ?")
    .all(mostTargets)
    .map((row) => String(row["target"]))
    .filter((key) => serviceInKey(key) === baseUrl);
}

/** What a move of the records of one service to another address would change. */
interface Move {
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
