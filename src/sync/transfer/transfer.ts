import { pathsInParts } from "../../documents/parts/parts.ts";
import type { RecordedOptions } from "../state/options.ts";
import type { AcceptedRecord, FailureRecord, FileRecord } from "../state/records.ts";
import type { BegunRun } from "../state/uploads.ts";
import type { Verification } from "../state/verified.ts";

/** Raise it when a line changes its meaning: a file of another version is refused. */
export const transferVersion = 4;

/** An uploaded image, identified by its content hash so that it is not uploaded twice. */
export interface ImageRecord {
  service: string;
  hash: string;
  fileId: string;
  sentAtMs: number;
}

/** A line of an exported state. */
export type TransferRecord =
  /** Precedes the records that refer to it by key: option numbers differ in each state. */
  | { type: "options"; key: string; options: RecordedOptions }
  | { type: "accepted"; record: AcceptedRecord; options: string | undefined }
  | { type: "failure"; record: FailureRecord; options: string | undefined }
  /** An upload that has ended: its flags count for files that have no record yet. */
  | { type: "upload"; record: BegunRun; options: string | undefined }
  | { type: "file"; record: FileRecord }
  | { type: "image"; record: ImageRecord }
  | { type: "check"; record: Verification }
  /** The last line, with the number of records before it. */
  | { type: "end"; records: number };

const isoTime = (ms: number): string => new Date(ms).toISOString();
const unless0 = (part: number): number | undefined => (part === 0 ? undefined : part);

/** The first line of an exported state. */
export function headerLine(): string {
  return `${JSON.stringify({ type: "knowctl-state", version: transferVersion })}\n`;
}

function membersOf(each: TransferRecord): Record<string, unknown> {
  switch (each.type) {
    case "options":
      return { key: each.key, options: each.options };
    case "accepted": {
      const { sentAtMs, part, ...rest } = each.record;
      const { options } = each;
      return { ...rest, part: unless0(part), sentAt: isoTime(sentAtMs), options };
    }
    case "failure": {
      const { failedAtMs, part, ...rest } = each.record;
      const { options } = each;
      return { ...rest, part: unless0(part), failedAt: isoTime(failedAtMs), options };
    }
    case "upload": {
      const { target, inputs, startedAtMs } = each.record;
      return { target, inputs, startedAt: isoTime(startedAtMs), options: each.options };
    }
    case "file": {
      // Omit `seen` and the stamps of the parts: they are invalid on another machine.
      const { path, part, content, document, skipped, parts } = each.record;
      const partPaths = parts === undefined ? undefined : pathsInParts(parts);
      return { path, part: unless0(part), content, ...document, skipped, parts: partPaths };
    }
    case "image": {
      const { sentAtMs, ...rest } = each.record;
      return { ...rest, sentAt: isoTime(sentAtMs) };
    }
    case "check": {
      const { atMs, ...rest } = each.record;
      return { ...rest, verifiedAt: isoTime(atMs) };
    }
    case "end":
      return { records: each.records };
  }
}

/** A record as a line of an exported state. */
export function transferLine(each: TransferRecord): string {
  return `${JSON.stringify({ type: each.type, ...membersOf(each) })}\n`;
}
