import { pathsInParts, partsOfPaths } from "../../documents/parts/parts.ts";
import { type RecordedOptions, parseOptions } from "../state/options.ts";
import {
  toOrigin,
  type AcceptedRecord,
  type FailureRecord,
  type FileRecord,
} from "../state/records.ts";
import type { BegunRun } from "../state/uploads.ts";
import type { Verification } from "../state/verified.ts";
import { CliError } from "../../errors.ts";

/** Raise it when a line changes its meaning: a file of another version is refused. */
const transferVersion = 4;

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
      // The clock of the service decides between machines of one shared record alone.
      const { sentAtMs, answeredAtMs: _, part, ...rest } = each.record;
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

type Line = Readonly<Record<string, unknown>>;

/** The error for an invalid line of an exported state. */
function invalidLine(message: string): CliError {
  return new CliError("usage", message, {
    hints: ["nothing was imported; name files from `knowctl state export`"],
  });
}

function ownMember(line: Line, name: string): unknown {
  const value = Object.hasOwn(line, name) ? line[name] : undefined;
  return value === null ? undefined : value;
}

// The database would change a lone surrogate or NUL.
const isText = (value: unknown): value is string =>
  typeof value === "string" && !value.includes("\0") && value.isWellFormed();

function optionalText(line: Line, name: string): string | undefined {
  const value = ownMember(line, name);
  if (value === undefined || isText(value)) return value;
  throw invalidLine(`${name}: expected a string`);
}

function text(line: Line, name: string, mayBeEmpty = false): string {
  const value = optionalText(line, name);
  if (value === undefined || (value === "" && !mayBeEmpty)) {
    throw invalidLine(`${name}: expected a string`);
  }
  return value;
}

function optionalNumber(line: Line, name: string): number | undefined {
  const value = ownMember(line, name);
  if (value === undefined) return undefined;
  if (!Number.isSafeInteger(value) || (value as number) < 0) {
    throw invalidLine(`${name}: expected a whole number`);
  }
  return value as number;
}

const isoForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

function time(line: Line, name: string): number {
  const value = text(line, name);
  const ms = isoForm.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(ms)) throw invalidLine(`${name}: expected a time like 2026-01-31T09:30:00Z`);
  return ms;
}

/** `https://host/prefix#243` */
function target(line: Line): string {
  const value = text(line, "target");
  if (!/^https?:\/\/[^#\s]+#\d+$/.test(value)) {
    throw invalidLine("target: expected a URL with a pair, e.g. https://host#2");
  }
  return value;
}

function optionsOf(line: Line): TransferRecord {
  const options = parseOptions(ownMember(line, "options"));
  if (options === undefined) throw invalidLine("options: invalid upload options");
  return { type: "options", key: text(line, "key"), options };
}

function acceptedOf(line: Line, isOwn: boolean): AcceptedRecord {
  return {
    target: target(line),
    id: text(line, "id"),
    path: ownMember(line, "path") === undefined ? undefined : pathIn(line, false),
    part: optionalNumber(line, "part") ?? 0,
    whole: text(line, "whole"),
    fields: text(line, "fields", true),
    updatedAt: optionalText(line, "updatedAt"),
    storedId: optionalText(line, "storedId"),
    sentAtMs: time(line, "sentAt"),
    // Whatever a file says: only an upload of this project shows where an id comes from.
    origin: isOwn ? toOrigin(optionalText(line, "origin")) : "imported",
  };
}

function failureOf(line: Line): FailureRecord {
  const retryable = ownMember(line, "retryable");
  if (typeof retryable !== "boolean") throw invalidLine("retryable: expected true or false");
  return {
    // "" when rules choose the pair.
    target: ownMember(line, "target") === "" ? "" : target(line),
    path: pathIn(line, true),
    part: optionalNumber(line, "part") ?? 0,
    id: text(line, "id", true),
    reason: text(line, "reason", true),
    retryable,
    status: optionalNumber(line, "status"),
    failedAtMs: time(line, "failedAt"),
  };
}

const isPlainPath = (path: string): boolean =>
  path.split("/").every((name) => name !== "" && name !== "." && name !== "..");

/** A path that an upload could have recorded: below the project root. "." is the root itself. */
function pathIn(line: Line, mayBeEmpty: boolean): string {
  const path = text(line, "path", mayBeEmpty);
  if (isPlainPath(path) || path === "." || (path === "" && mayBeEmpty)) return path;
  throw invalidLine("path: expected a path below the project root");
}

/** Root-relative paths. */
function partsOf(line: Line): string | undefined {
  const paths = ownMember(line, "parts");
  if (paths === undefined) return undefined;
  if (!Array.isArray(paths) || !paths.every(isText)) {
    throw invalidLine("parts: expected a list of strings");
  }
  return partsOfPaths(paths);
}

/** Whether an input of an upload is a path or glob below the project root, or the root itself. */
export function isBelowRoot(input: string): boolean {
  return input === "" || isPlainPath(input);
}

function uploadOf(line: Line, isOwn: boolean): BegunRun {
  const inputs = ownMember(line, "inputs");
  if (!Array.isArray(inputs) || !inputs.every(isText) || !inputs.every(isBelowRoot)) {
    throw invalidLine("inputs: expected a list of paths below the project root");
  }
  return {
    target: ownMember(line, "target") === "" ? "" : target(line),
    inputs,
    part: "",
    startedAtMs: time(line, "startedAt"),
    ...(isOwn ? {} : { isImported: true }),
  };
}

function fileOf(line: Line): FileRecord {
  const id = optionalText(line, "id");
  const skipped = optionalText(line, "skipped");
  const ccPairId = optionalNumber(line, "ccPairId");
  return {
    path: pathIn(line, false),
    part: optionalNumber(line, "part") ?? 0,
    seen: "",
    content: text(line, "content"),
    document: id === undefined ? undefined : { id, ccPairId, whole: text(line, "whole") },
    skipped,
    parts: partsOf(line),
    target: undefined,
  };
}

function imageOf(line: Line): ImageRecord {
  return {
    service: text(line, "service"),
    hash: text(line, "hash"),
    fileId: text(line, "fileId"),
    sentAtMs: time(line, "sentAt"),
  };
}

function checkOf(line: Line): Verification {
  return {
    target: target(line),
    id: text(line, "id"),
    result: text(line, "result"),
    atMs: time(line, "verifiedAt"),
  };
}

function parseLine(json: string): Line {
  let line: unknown;
  try {
    line = JSON.parse(json);
  } catch {
    // The message of JSON.parse quotes the content, which may be secret.
    throw invalidLine("not valid JSON");
  }
  if (typeof line === "object" && line !== null && !Array.isArray(line)) return line as Line;
  throw invalidLine("expected a JSON object");
}

/** Checks the first line. Throws CliError `usage`, also for an unknown version. */
export function checkHeader(json: string): void {
  const line = parseLine(json);
  if (ownMember(line, "type") !== "knowctl-state") {
    throw invalidLine('not an exported state: the first line has no "type": "knowctl-state"');
  }
  const version = ownMember(line, "version");
  if (version === transferVersion) return;
  throw new CliError(
    "usage",
    `the exported state has the unsupported version ${JSON.stringify(version)}`,
    {
      hints: [
        `this knowctl reads version ${transferVersion}; export the state again with this knowctl`,
      ],
    },
  );
}

/**
 * Parses any line after the first. `isOwn`: it is of a machine of the same project, whose uploads count
 * as those of this one. Throws CliError `usage` with the name of the invalid member. */
export function parseTransferLine(json: string, isOwn = false): TransferRecord {
  const line = parseLine(json);
  switch (ownMember(line, "type")) {
    case "options":
      return optionsOf(line);
    case "accepted":
      return {
        type: "accepted",
        record: acceptedOf(line, isOwn),
        options: optionalText(line, "options"),
      };
    case "failure":
      return { type: "failure", record: failureOf(line), options: optionalText(line, "options") };
    case "upload":
      return {
        type: "upload",
        record: uploadOf(line, isOwn),
        options: optionalText(line, "options"),
      };
    case "file":
      return { type: "file", record: fileOf(line) };
    case "image":
      return { type: "image", record: imageOf(line) };
    case "check":
      return { type: "check", record: checkOf(line) };
    case "end":
      return { type: "end", records: optionalNumber(line, "records") ?? -1 };
    default:
      throw invalidLine(
        "type: expected options, accepted, failure, upload, file, image, check or end",
      );
  }
}
