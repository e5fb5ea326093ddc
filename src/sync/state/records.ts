import type { Row, SqlValue, Database } from "../../database.ts";
import { CliError } from "../../errors.ts";

/**
 * Result of the last reading of a file. Works like an entry of git's index: while `seen`
 * is unchanged, the file is not read.
 */
export interface FileRecord {
  path: string;
  /** 0, or the number of the row in a file of rows. */
  part: number;
  /** Stamp and mapping key, see seenText(); "" when they cannot be trusted. */
  seen: string;
  /** Hash of the file's bytes. */
  content: string;
  /** The document of the file; undefined when it was skipped. */
  document: { id: string; ccPairId: number | undefined; whole: string } | undefined;
  /** Reason why the file has no document. */
  skipped: string | undefined;
  /** The other files that the document is made of, see partsText(); undefined for none. */
  parts?: string | undefined;
  /**
   * Key of a target that accepted this document from this file. When undefined, look in
   * `accepted`. save() keeps it only after a check.
   */
  target: string | undefined;
}

/**
 * Where the id of an accepted document came from. `path`: prefix and path. `front-matter`: the
 * file names it. `row`, `stdin`: a row of a file, a document of stdin. `adopted`: a document that
 * the service had under the same pair without a record here. `imported`: `state import` brought
 * the record, whatever its origin there.
 */
const idOrigins = ["path", "front-matter", "row", "stdin", "adopted", "imported"] as const;
export type IdOrigin = (typeof idOrigins)[number];

/** A document that the service accepted with HTTP 200 under one target and id. */
export interface AcceptedRecord {
  target: string;
  id: string;
  /** Undefined for a document from stdin. */
  path: string | undefined;
  part: number;
  whole: string;
  fields: string;
  /** The sent `doc_updated_at`. */
  updatedAt: string | undefined;
  /** The id in the response, where it differs from `id`. */
  storedId: string | undefined;
  sentAtMs: number;
  /** Time of the service's response by its `Date`; undefined where it sent none. */
  answeredAtMs?: number | undefined;
  /** Number of its options, see OptionsStore; undefined for a document from stdin. */
  options?: number | undefined;
  /** Undefined counts as an id that its path does not give. */
  origin?: IdOrigin | undefined;
}

/** A document or file that was not sent because of a failure. */
export interface FailureRecord {
  target: string;
  path: string;
  part: number;
  /** "" when unknown. */
  id: string;
  reason: string;
  /** Whether a retry without changes may succeed. */
  retryable: boolean;
  status: number | undefined;
  failedAtMs: number;
  /** As in AcceptedRecord. */
  options?: number | undefined;
}

/** Builds `seen` of a file from its stamp ("" when not trusted) and its mapping key. */
export function seenText(stamp: string, mapping: string): string {
  return stamp === "" ? "" : `${stamp} ${mapping}`;
}

/** Returns the stamp in `seen`; undefined when `seen` has another mapping key or no stamp. */
export function stampIn(seen: string, mapping: string): string | undefined {
  const end = seen.length - mapping.length - 1;
  return end > 0 && seen.endsWith(mapping) && seen.charAt(end) === " "
    ? seen.slice(0, end)
    : undefined;
}

/** Throws CliError `local`: SQLite stores any type in any column, and knowctl only the right ones. */
function refuseValue(name: string): never {
  throw new CliError("local", `the state has a record with an invalid ${name}: not used`, {
    isLasting: true,
    hints: [
      "it was changed by another program: restore the state from a backup",
      "or move it away: the next upload sends all documents again, under the same ids",
    ],
  });
}

function optionalNumber(row: Row, name: string): number | undefined {
  const value = row[name];
  if (value === null || value === undefined) return undefined;
  return Number.isSafeInteger(value) ? (value as number) : refuseValue(name);
}

function optionalText(row: Row, name: string): string | undefined {
  const value = row[name];
  if (value === null || value === undefined) return undefined;
  return typeof value === "string" ? value : refuseValue(name);
}

const numberIn = (row: Row, name: string): number => optionalNumber(row, name) ?? refuseValue(name);
const textIn = (row: Row, name: string): string => optionalText(row, name) ?? refuseValue(name);

/** Milliseconds of a date that JavaScript has: ECMA-262, time values. */
export function timeIn(row: Row, name: string): number {
  const value = numberIn(row, name);
  return Math.abs(value) <= 8.64e15 ? value : refuseValue(name);
}

export function toOrigin(value: Row[string] | undefined): IdOrigin | undefined {
  return idOrigins.find((each) => each === value);
}

/** For each member of a record its column, and how it is read. */
type Members<Each> = {
  readonly [Name in keyof Each]-?: readonly [
    column: string,
    read: (row: Row, column: string) => Each[Name],
  ];
};

/** The records of one table. */
interface Records<Each> {
  columns: readonly string[];
  /** In the order of `columns`. */
  values: (record: Each) => SqlValue[];
  /** Throws CliError `local` for a row that knowctl did not write. */
  read: (row: Row) => Each;
}

const toValue = (value: unknown): SqlValue =>
  typeof value === "boolean" ? Number(value) : ((value ?? null) as SqlValue);

function recordsOf<Each extends object>(members: Members<Each>): Records<Each> {
  const names = Object.keys(members) as (keyof Each)[];
  return {
    columns: names.map((name) => members[name][0]),
    values: (record) => names.map((name) => toValue(record[name])),
    read(row) {
      const record: Partial<Each> = {};
      for (const name of names) {
        const [column, read] = members[name];
        record[name] = read(row, column);
      }
      return record as Each;
    },
  };
}

type FlatFile = Omit<FileRecord, "document"> & Partial<NonNullable<FileRecord["document"]>>;

const files = recordsOf<FlatFile>({
  path: ["path", textIn],
  part: ["part", numberIn],
  seen: ["seen", textIn],
  content: ["content", textIn],
  id: ["id", optionalText],
  ccPairId: ["cc_pair_id", optionalNumber],
  whole: ["whole", optionalText],
  skipped: ["skipped", optionalText],
  parts: ["parts", optionalText],
  target: ["target", optionalText],
});
export const fileColumns = files.columns;

/** By hand: a flat copy of each file of an upload would cost a tenth of the CPU time of the run. */
export const fileValues = (each: FileRecord): SqlValue[] => [
  each.path,
  each.part,
  each.seen,
  each.content,
  each.document?.id ?? null,
  each.document?.ccPairId ?? null,
  each.document?.whole ?? null,
  each.skipped ?? null,
  each.parts ?? null,
  each.target ?? null,
];

export function toFile(row: Row): FileRecord {
  const { id, ccPairId, whole: _, ...rest } = files.read(row);
  const document = id === undefined ? undefined : { id, ccPairId, whole: textIn(row, "whole") };
  return { ...rest, document };
}

export const {
  columns: acceptedColumns,
  values: acceptedValues,
  read: toAccepted,
} = recordsOf<AcceptedRecord>({
  target: ["target", textIn],
  id: ["id", textIn],
  path: ["path", optionalText],
  part: ["part", numberIn],
  whole: ["whole", textIn],
  fields: ["fields", textIn],
  updatedAt: ["updated_at", optionalText],
  storedId: ["stored_id", optionalText],
  sentAtMs: ["sent_at", timeIn],
  answeredAtMs: ["answered_at", optionalNumber],
  options: ["options", optionalNumber],
  origin: ["origin", (row) => toOrigin(row["origin"])],
});

export const {
  columns: failureColumns,
  values: failureValues,
  read: toFailure,
} = recordsOf<FailureRecord>({
  target: ["target", textIn],
  path: ["path", textIn],
  part: ["part", numberIn],
  id: ["id", textIn],
  reason: ["reason", textIn],
  retryable: ["retryable", (row) => row["retryable"] === 1],
  status: ["status", optionalNumber],
  failedAtMs: ["failed_at", timeIn],
  options: ["options", optionalNumber],
});

/** What the record of a removal notice has for its hash: no document's hash looks like this. */
export const tombstoneMark = "removed";

/** Prefix of the fingerprint of a document whose last request got no response. */
export const doubtMark = "~";

/** Whether the version of a document on the service is unknown. */
export function isInDoubt(whole: string): boolean {
  return whole.startsWith(doubtMark);
}

/** A recorded document that the next request changes. */
export interface Doubtful {
  target: string;
  id: string;
  /** The version that the request sends: a record of the same version is not marked. */
  sent?: string;
}

/**
 * Returns a function that marks recorded documents as in doubt. Call it before a request that
 * changes them: if the response is lost, the recorded version must not count as the version on
 * the service. A tombstone stays one: what another pair sends under its id is not a document of
 * this pair. The caller opens the transaction.
 */
export function createDoubt(database: Database): (documents: readonly Doubtful[]) => void {
  const update = database.prepare(
    `UPDATE accepted SET whole = '${doubtMark}' || whole, answered_at = NULL
      WHERE target = ? AND id = ? AND whole NOT IN (?, '${tombstoneMark}')
        AND substr(whole, 1, 1) <> '${doubtMark}'`,
  );
  return (documents) => {
    for (const { target, id, sent = "" } of documents) update.run(target, id, sent);
  };
}
