import type { Row, SqlValue } from "../../database.ts";
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

export function toFile(row: Row): FileRecord {
  const id = optionalText(row, "id");
  const ccPairId = optionalNumber(row, "cc_pair_id");
  return {
    path: textIn(row, "path"),
    part: numberIn(row, "part"),
    seen: textIn(row, "seen"),
    content: textIn(row, "content"),
    skipped: optionalText(row, "skipped"),
    parts: optionalText(row, "parts"),
    target: optionalText(row, "target"),
    document: id === undefined ? undefined : { id, ccPairId, whole: textIn(row, "whole") },
  };
}

export function toAccepted(row: Row): AcceptedRecord {
  return {
    target: textIn(row, "target"),
    id: textIn(row, "id"),
    path: optionalText(row, "path"),
    part: numberIn(row, "part"),
    whole: textIn(row, "whole"),
    fields: textIn(row, "fields"),
    updatedAt: optionalText(row, "updated_at"),
    storedId: optionalText(row, "stored_id"),
    sentAtMs: timeIn(row, "sent_at"),
    options: optionalNumber(row, "options"),
    origin: toOrigin(row["origin"]),
  };
}

export function toFailure(row: Row): FailureRecord {
  return {
    target: textIn(row, "target"),
    path: textIn(row, "path"),
    part: numberIn(row, "part"),
    id: textIn(row, "id"),
    reason: textIn(row, "reason"),
    retryable: row["retryable"] === 1,
    status: optionalNumber(row, "status"),
    failedAtMs: timeIn(row, "failed_at"),
    options: optionalNumber(row, "options"),
  };
}

/** Columns of the table `files`, in the order of fileValues(). */
export const fileColumns = [
  "path",
  "part",
  "seen",
  "content",
  "id",
  "cc_pair_id",
  "whole",
  "skipped",
  "parts",
  "target",
] as const;

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

/** Columns of the table `accepted`, in the order of acceptedValues(). */
export const acceptedColumns = [
  "target",
  "id",
  "path",
  "part",
  "whole",
  "fields",
  "updated_at",
  "stored_id",
  "sent_at",
  "options",
  "origin",
] as const;

export const acceptedValues = (each: AcceptedRecord): SqlValue[] => [
  each.target,
  each.id,
  each.path ?? null,
  each.part,
  each.whole,
  each.fields,
  each.updatedAt ?? null,
  each.storedId ?? null,
  each.sentAtMs,
  each.options ?? null,
  each.origin ?? null,
];

/** Columns of the table `failures`, in the order of failureValues(). */
export const failureColumns = [
  "target",
  "path",
  "part",
  "id",
  "reason",
  "retryable",
  "status",
  "failed_at",
  "options",
] as const;

export const failureValues = (each: FailureRecord): SqlValue[] => [
  each.target,
  each.path,
  each.part,
  each.id,
  each.reason,
  each.retryable ? 1 : 0,
  each.status ?? null,
  each.failedAtMs,
  each.options ?? null,
];

/** What the record of a removal notice has for its hash: no document's hash looks like this. */
export const tombstoneMark = "removed";
