import type { Database, SqlValue } from "../../database.ts";
import { pairCondition } from "./entries.ts";

/** What to forget: everything, or what paths or ids name. */
export interface ForgetRequest {
  /** Each is an id, a file, or a folder, in any of these spellings; none means all. */
  names: readonly (readonly string[])[];
  /** Only failures, which uploads that were stopped are among. */
  onlyFailed: boolean;
  /** Only records of this pair. */
  ccPairId: number | undefined;
}

export interface Forgotten {
  documents: number;
  failures: number;
  /** Positions of names that nothing was recorded of. */
  unknown: number[];
}

// "/" and the character after it: what lies below a folder, by the order of text.
function namedBy(spellings: readonly string[]): [sql: string, values: SqlValue[]] {
  const one = "id = ? OR path = ? OR (path >= ? AND path < ?)";
  const values = spellings.flatMap((each) => {
    const folder = each.replace(/\/+$/, "");
    return [each, folder, `${folder}/`, `${folder}0`];
  });
  return [`(${spellings.map(() => one).join(" OR ")})`, values];
}

function count(database: Database, table: string, where: string, values: SqlValue[]): number {
  const row = database.prepare(`SELECT count(*) AS n FROM ${table} WHERE ${where}`).get(...values);
  return Number(row?.["n"]);
}

/** What forget() would remove. */
export function countForgotten(database: Database, request: ForgetRequest): Forgotten {
  const result: Forgotten = { documents: 0, failures: 0, unknown: [] };
  const [pair, pairValues] = pairCondition(request.ccPairId);
  const names = request.names.length === 0 ? [undefined] : request.names;
  const stopped = count(database, "unfinished", pair, pairValues);
  for (const [index, spellings] of names.entries()) {
    const [named, values] = spellings ? namedBy(spellings) : ["TRUE", []];
    const [where, given] = [`${pair} AND ${named}`, [...pairValues, ...values]];
    const documents = request.onlyFailed ? 0 : count(database, "accepted", where, given);
    const failures = count(database, "failures", where, given) + (spellings ? 0 : stopped);
    if (documents + failures === 0 && spellings) result.unknown.push(index);
    result.documents += documents;
    result.failures += failures;
  }
  return result;
}

/**
 * Forgets records in one transaction, so that the documents are sent again under
 * the same ids. Where all is forgotten, uploaded images are too.
 */
export function forget(database: Database, request: ForgetRequest): void {
  const [pair, pairValues] = pairCondition(request.ccPairId);
  const tables = request.onlyFailed ? ["failures"] : ["failures", "accepted"];
  const names = request.names.length === 0 ? [undefined] : request.names;
  const isEverything =
    request.names.length === 0 && !request.onlyFailed && request.ccPairId === undefined;
  database.transaction(() => {
    // First: nothing that goes is then looked for among the files.
    if (isEverything) database.exec("DELETE FROM files; DELETE FROM images;");
    if (request.names.length === 0) {
      database.prepare(`DELETE FROM unfinished WHERE ${pair}`).run(...pairValues);
    }
    for (const spellings of names) {
      const [named, values] = spellings ? namedBy(spellings) : ["TRUE", []];
      for (const table of tables) {
        const drop = database.prepare(`DELETE FROM ${table} WHERE ${pair} AND ${named}`);
        drop.run(...pairValues, ...values);
      }
    }
  });
}
