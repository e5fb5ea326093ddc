import type { Database, Row, Statement, Synchronous } from "../../database.ts";
import { serviceInKey, serviceTargets } from "./target.ts";
import { timeIn, toAccepted, tombstoneMark, type AcceptedRecord } from "./records.ts";

/** Why `verify` looks at a document first. */
export type Suspicion =
  /** The service already had it, although it was never recorded here. */
  | "existed"
  /** Only fields beside the text changed, which a service may skip. */
  | "metadata";

/** The result of a check of one document. */
export interface Verification {
  target: string;
  id: string;
  result: string;
  atMs: number;
}

/** An accepted document and its last check since its upload. */
export interface VerifiableRecord extends AcceptedRecord {
  isSuspect: boolean;
  verified: { result: string; atMs: number } | undefined;
  /** It was sent to be checked, or after a check did not find it, and no check came since. */
  isUnchecked: boolean;
}

/** Whether a check with this result found the document. */
export function isFound(result: string): boolean {
  return result === "current" || result === "present";
}

/** Whether an upload mends what a check with this result found. A hidden document is there. */
export function isMissing(result: string): boolean {
  return result === "missing" || result === "listed-only" || result === "stale";
}

/** When each document was last verified, and as what. */
export interface VerifiedStore {
  /**
   * Records checks. A check ends a suspicion. A service has one document per id: what it lacks of a
   * version is recorded for each pair with this version.
   */
  save(verifications: readonly Verification[]): void;
  /**
   * Records as `unknown` the documents that no check has come to since `sentAtMs`. With an `atMs`
   * before their upload they are to be checked.
   */
  leaveOpen(
    documents: readonly { target: string; id: string; sentAtMs: number }[],
    atMs: number,
    synchronous?: Synchronous,
  ): void;
  suspect(documents: readonly { target: string; id: string; why: Suspicion }[]): void;
  /** The accepted documents of a target in the order of their files, without removal notices. */
  list(target: string): IterableIterator<VerifiableRecord>;
}

export const noVerifiedStore: VerifiedStore = {
  save: () => {},
  leaveOpen: () => {},
  suspect: () => {},
  list: () => [].values(),
};

function toVerifiable(row: Row): VerifiableRecord {
  const record = toAccepted(row);
  const atMs = row["verified_at"] === null ? undefined : timeIn(row, "verified_at");
  // A check before the last upload says nothing about this version.
  const isValid = atMs !== undefined && atMs >= record.sentAtMs;
  return {
    ...record,
    isSuspect: row["suspect"] !== null,
    isUnchecked: atMs !== undefined && !isValid && !isFound(String(row["result"])),
    verified: isValid ? { result: String(row["result"]), atMs } : undefined,
  };
}

const leaveOpen = `INSERT INTO verified (target, id, verified_at, result) VALUES (?, ?, ?, 'unknown')
  ON CONFLICT (target, id) DO UPDATE SET verified_at = excluded.verified_at, result = excluded.result
  WHERE verified_at IS NULL OR verified_at < ?`;

/** The store in the database of a state; `guarded` runs what writes, and names its faults. */
export function createVerifiedStore(
  database: Database,
  guarded: (work: () => void) => void,
): VerifiedStore {
  // An upload with --verify calls leaveOpen() for each document.
  let open: Statement | undefined;
  return {
    save(verifications) {
      if (verifications.length === 0) return;
      const put = database.prepare(
        "INSERT OR REPLACE INTO verified (target, id, verified_at, result) VALUES (?, ?, ?, ?)",
      );
      const hasVersion = database.prepare(
        `SELECT 1 AS yes FROM accepted a JOIN accepted b ON b.id = a.id AND b.whole = a.whole
          WHERE a.target = ? AND a.id = ? AND b.target = ?`,
      );
      guarded(() =>
        database.transaction(() => {
          for (const { target, id, atMs, result } of verifications) {
            put.run(target, id, atMs, result);
            if (!isMissing(result)) continue;
            for (const other of serviceTargets(database, serviceInKey(target))) {
              if (other !== target && hasVersion.get(target, id, other)) {
                put.run(other, id, atMs, result);
              }
            }
          }
        }),
      );
    },
    leaveOpen(documents, atMs, synchronous) {
      const put = (open ??= database.prepare(leaveOpen));
      guarded(() =>
        database.transaction(() => {
          for (const { target, id, sentAtMs } of documents) put.run(target, id, atMs, sentAtMs);
        }, synchronous),
      );
    },
    suspect(documents) {
      if (documents.length === 0) return;
      const put = database.prepare(
        `INSERT INTO verified (target, id, suspect) VALUES (?, ?, ?)
          ON CONFLICT (target, id) DO UPDATE SET suspect = excluded.suspect`,
      );
      guarded(() =>
        database.transaction(() => {
          for (const { target, id, why } of documents) put.run(target, id, why);
        }),
      );
    },
    *list(target) {
      const rows = database.prepare(
        `SELECT a.*, v.verified_at AS verified_at, v.result AS result, v.suspect AS suspect
          FROM accepted a LEFT JOIN verified v ON v.target = a.target AND v.id = a.id
          WHERE a.target = ? AND a.whole <> '${tombstoneMark}' ORDER BY a.path, a.part, a.id`,
      );
      for (const row of rows.iterate(target)) yield toVerifiable(row);
    },
  };
}
