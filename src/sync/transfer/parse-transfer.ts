import { CliError } from "../../errors.ts";
import { parseOptions } from "../state/options.ts";
import type { AcceptedRecord, FailureRecord, FileRecord } from "../state/records.ts";
import { transferVersion, type ImageRecord, type TransferRecord } from "./transfer.ts";

type Line = Readonly<Record<string, unknown>>;

/** A line that is none of an exported state; the message says what is wrong with it. */
function wrong(message: string): CliError {
  return new CliError("usage", message, {
    hints: ["name files that `knowctl state export` wrote; nothing was imported"],
  });
}

function own(line: Line, name: string): unknown {
  const value = Object.hasOwn(line, name) ? line[name] : undefined;
  return value === null ? undefined : value;
}

function optionalText(line: Line, name: string): string | undefined {
  const value = own(line, name);
  if (value === undefined) return undefined;
  // Half a character or NUL would come back from the database as another text.
  if (typeof value !== "string" || value.includes("\0") || !value.isWellFormed()) {
    throw wrong(`${name}: expected a text`);
  }
  return value;
}

function text(line: Line, name: string, mayBeEmpty = false): string {
  const value = optionalText(line, name);
  if (value === undefined || (value === "" && !mayBeEmpty)) {
    throw wrong(`${name}: expected a text`);
  }
  return value;
}

function optionalNumber(line: Line, name: string): number | undefined {
  const value = own(line, name);
  if (value === undefined) return undefined;
  if (!Number.isSafeInteger(value) || (value as number) < 0) {
    throw wrong(`${name}: expected a whole number`);
  }
  return value as number;
}

const isoForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

function time(line: Line, name: string): number {
  const value = text(line, name);
  const ms = isoForm.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(ms)) throw wrong(`${name}: expected a time like 2026-01-31T09:30:00Z`);
  return ms;
}

/** `https://host/prefix#243` */
function target(line: Line): string {
  const value = text(line, "target");
  if (!/^https?:\/\/[^#\s]+#\d+$/.test(value)) {
    throw wrong("target: expected an address with a pair, as https://host#2");
  }
  return value;
}

function optionsOf(line: Line): TransferRecord {
  const options = parseOptions(own(line, "options"));
  if (options === undefined) throw wrong("options: not the options of an upload");
  return { type: "options", key: text(line, "key"), options };
}

function acceptedOf(line: Line): AcceptedRecord {
  return {
    target: target(line),
    id: text(line, "id"),
    path: optionalText(line, "path"),
    part: optionalNumber(line, "part") ?? 0,
    whole: text(line, "whole"),
    fields: text(line, "fields", true),
    updatedAt: optionalText(line, "updatedAt"),
    storedId: optionalText(line, "storedId"),
    sentAtMs: time(line, "sentAt"),
  };
}

function failureOf(line: Line): FailureRecord {
  const retryable = own(line, "retryable");
  if (typeof retryable !== "boolean") throw wrong("retryable: expected true or false");
  return {
    // "" where rules choose the pairs.
    target: own(line, "target") === "" ? "" : target(line),
    path: text(line, "path", true),
    part: optionalNumber(line, "part") ?? 0,
    id: text(line, "id", true),
    reason: text(line, "reason", true),
    retryable,
    status: optionalNumber(line, "status"),
    failedAtMs: time(line, "failedAt"),
  };
}

function fileOf(line: Line): FileRecord {
  const id = optionalText(line, "id");
  const skipped = optionalText(line, "skipped");
  const ccPairId = optionalNumber(line, "ccPairId");
  return {
    path: text(line, "path"),
    part: optionalNumber(line, "part") ?? 0,
    seen: "",
    content: text(line, "content"),
    document: id === undefined ? undefined : { id, ccPairId, whole: text(line, "whole") },
    skipped,
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

function parseLine(json: string): Line {
  let line: unknown;
  try {
    line = JSON.parse(json);
  } catch {
    // The parser's own words quote the content, which may be anything.
    throw wrong("not a line of JSON");
  }
  if (typeof line === "object" && line !== null && !Array.isArray(line)) return line as Line;
  throw wrong("expected a JSON object");
}

/** Checks the first line. Throws CliError `usage`, also for a version that this tool does not know. */
export function checkHeader(json: string): void {
  const line = parseLine(json);
  if (own(line, "type") !== "knowctl-state") {
    throw wrong('not an exported state: the first line has no "type": "knowctl-state"');
  }
  const version = own(line, "version");
  if (version === 1 || version === transferVersion) return;
  throw new CliError("usage", `an exported state of version ${JSON.stringify(version)}`, {
    hints: [
      `this knowctl reads versions 1 and ${transferVersion}; use the version that wrote it, or a newer one`,
    ],
  });
}

/** Reads any line but the first. Throws CliError `usage` that names the member that is wrong. */
export function parseTransferLine(json: string): TransferRecord {
  const line = parseLine(json);
  switch (own(line, "type")) {
    case "options":
      return optionsOf(line);
    case "accepted":
      return { type: "accepted", record: acceptedOf(line), options: optionalText(line, "options") };
    case "failure":
      return { type: "failure", record: failureOf(line), options: optionalText(line, "options") };
    case "file":
      return { type: "file", record: fileOf(line) };
    case "image":
      return { type: "image", record: imageOf(line) };
    case "end":
      return { type: "end", records: optionalNumber(line, "records") ?? -1 };
    default:
      throw wrong("type: expected options, accepted, failure, file, image or end");
  }
}
