import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type * as z from "zod/mini";
import { formatCount } from "../../terminal/progress.ts";
import { CliError, codeOf, fileProblem, messageOf } from "../../../errors.ts";
import { type ReportCounts, RunReport, type RunStatus } from "./record.ts";

/** Elements that are checked at once: each invalid one costs memory. */
const most = 1000;

type Members = Record<string, unknown>;
interface LongList {
  path: readonly string[];
  list: readonly unknown[];
}

/** The long lists among the members of an object, and of their members. */
function longListsOf(value: object, path: readonly string[] = []): LongList[] {
  const found: LongList[] = [];
  for (const [name, each] of Object.entries(value) as [string, unknown][]) {
    const at = [...path, name];
    if (Array.isArray(each)) {
      if (each.length > most) found.push({ path: at, list: each });
    } else if (path.length === 0 && typeof each === "object" && each !== null) {
      found.push(...longListsOf(each, at));
    }
  }
  return found;
}

function withList(value: Members, path: readonly string[], list: readonly unknown[]): Members {
  const [name = "", ...rest] = path;
  return {
    ...value,
    [name]: rest.length === 0 ? list : withList(value[name] as Members, rest, list),
  };
}

/** Objects of files of this program have far fewer members. */
const mostMembers = 10_000;

/**
 * The first thing that is wrong in the long lists of a value, which are checked in pieces: a list of
 * millions of invalid elements would fill the memory with what is wrong of each.
 */
function firstInvalidIn(
  shape: z.ZodMiniType,
  value: unknown,
): { path: readonly PropertyKey[]; message: string } | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) return { path: [], message: "a list" };
  for (const each of [value, ...Object.values(value)]) {
    if (typeof each !== "object" || each === null || Array.isArray(each)) continue;
    if (Object.keys(each).length > mostMembers) return { path: [], message: "too many members" };
  }
  const lists = longListsOf(value);
  let rest = value as Members;
  for (const { path } of lists) rest = withList(rest, path, []);
  for (const { path, list } of lists) {
    for (let from = 0; from < list.length; from += most) {
      const result = shape.safeParse(withList(rest, path, list.slice(from, from + most)));
      const issue = result.error?.issues[0];
      if (!issue) continue;
      const isInList = path.every((name, index) => issue.path[index] === name);
      const at = issue.path[path.length];
      if (!isInList || typeof at !== "number") return issue;
      const after = issue.path.slice(path.length + 1);
      return { path: [...path, from + at, ...after], message: issue.message };
    }
  }
  return undefined;
}

/** A million failed documents take less. */
const maxMegabytes = 256;
/** Values of a report. Their objects take many times the memory of their text. */
const maxValues = 20_000_000;

const hints = ["name files that a command wrote with --report FILE.json"];

/** The error for a file that is no report. `path`: as typed. */
export function refuseReport(path: string, problem: string, cause?: unknown): CliError {
  return new CliError("usage", `${path}: ${problem}`, { hints, cause });
}

/** A value begins after each of these; counted in texts as well, of which a report has few. */
function hasTooManyValues(text: string): boolean {
  if (text.length < maxValues) return false;
  let count = 0;
  for (const separator of ["[", "{", ","]) {
    for (let at = text.indexOf(separator); at >= 0; at = text.indexOf(separator, at + 1)) count++;
  }
  return count > maxValues;
}

/** Reads a file, or a pipe that the shell opened (`<(…)`), up to the limit. */
async function readUpTo(path: string, name: string, most: number): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of createReadStream(path)) {
    pieces.push(piece as Uint8Array);
    size += (piece as Uint8Array).length;
    if (size > most) {
      throw refuseReport(name, `larger than ${maxMegabytes} MiB, too large for a report`);
    }
  }
  return Buffer.concat(pieces).toString("utf8");
}

/** The text of a report. Throws CliError `usage` for a file that cannot be read. */
export async function readReportText(path: string, name: string): Promise<string> {
  try {
    const stats = await stat(path);
    // A named pipe without a writer would block the process, even its end.
    if (!stats.isFile() && !stats.isDirectory() && !/^\/(?:dev\/fd|proc)\//.test(path)) {
      throw refuseReport(name, "it is not a regular file");
    }
    const text = await readUpTo(path, name, maxMegabytes * 1024 * 1024);
    if (hasTooManyValues(text)) throw refuseReport(name, "too many values for a report");
    return text;
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw refuseReport(
      name,
      `cannot be read: ${fileProblem(codeOf(error) ?? messageOf(error))}`,
      error,
    );
  }
}

/** The members of a JSON report. Throws CliError `usage` for a text that is not JSON. */
export function parseReportJson(
  text: string,
  name: string,
): { version?: unknown; type?: unknown; command?: unknown } {
  try {
    return (JSON.parse(text.replace(/^\ufeff/, "")) as object | null) ?? {};
  } catch (error) {
    // Not the parser's message: it quotes the untrusted content.
    throw refuseReport(name, "not a JSON report", error);
  }
}

/** The error for a report of another version. `known`: the versions that this program reads. */
export function refuseVersion(name: string, version: unknown, known: string): CliError {
  return new CliError("usage", `${name}: a report of version ${JSON.stringify(version)}`, {
    hints: [`this knowctl reads ${known}; use the version that wrote it, or a newer one`],
  });
}

/** The report as `shape` reads it. Throws CliError `usage` that names the invalid member. */
export function checkShape<Shape extends z.ZodMiniType>(
  name: string,
  shape: Shape,
  value: unknown,
): z.infer<Shape> {
  let issue: { path: readonly PropertyKey[]; message: string } | undefined;
  try {
    issue = firstInvalidIn(shape, value);
    if (!issue) {
      const result = shape.safeParse(value);
      if (result.success) return result.data;
      [issue] = result.error.issues;
    }
  } catch (error) {
    // The stack overflows: values nested too deeply, or a million invalid ones.
    if (!(error instanceof RangeError)) throw error;
    throw refuseReport(name, "not a valid report: too many invalid or nested values", error);
  }
  const place = (issue?.path ?? []).map(String).join(".") || "the report";
  throw refuseReport(name, `not a valid report: ${place}: ${issue?.message ?? "unknown"}`);
}

/** The error for a report whose status is not the one that its counts prove. */
export function refuseContradiction(name: string, contradiction: string): CliError {
  return new CliError("usage", `${name}: the report contradicts itself: ${contradiction}`, {
    hints: ["a report that was edited or cut proves nothing: run the step again"],
  });
}

/** Why the status of a run is not the one that its counts prove; undefined if it is. */
function wrongStatus(status: RunStatus, counts: ReportCounts, error?: string): string | undefined {
  if (status === "ok" && counts.failed > 0) {
    return `the status is ok, and ${formatCount(counts.failed)} failed`;
  }
  return status === "ok" && error !== undefined
    ? "the status is ok, and an error stopped the run"
    : undefined;
}

function wrongRuns({ merged, status, counts }: RunReport): string | undefined {
  if (merged === undefined) return undefined;
  for (const name of ["created", "updated", "unchanged", "skipped", "failed"] as const) {
    const sum = merged.runs.reduce((all, run) => all + run.counts[name], 0);
    if (sum === counts[name]) continue;
    return `${formatCount(counts[name])} ${name}, and ${formatCount(sum)} in its runs`;
  }
  if (status !== "ok") return undefined;
  const open = merged.runs.find((run) => run.status !== "ok");
  if (open) return `the status is ok, and that of a run is ${open.status}`;
  return merged.missing.length > 0 ? "the status is ok, and shards are missing" : undefined;
}

/** What in a report of an upload contradicts its counts or its list of failures. */
function contradictionOf(report: RunReport): string | undefined {
  const { status, counts, error, failures, merged } = report;
  if (failures.length !== counts.failed) {
    return `${formatCount(counts.failed)} failed, and ${formatCount(failures.length)} in its list of failures`;
  }
  const accepted = counts.created + counts.updated;
  if (report.sent && report.sent.documents.length + report.sent.leftOut !== accepted) {
    return `${formatCount(accepted)} created or updated, and another number in its list`;
  }
  return (
    wrongStatus(status, counts, error) ??
    wrongRuns(report) ??
    merged?.runs
      .map((run) => wrongStatus(run.status, run.counts))
      .find((each) => each !== undefined)
  );
}

/**
 * Parses a report. `name` is the file name as typed. Throws CliError `usage` that
 * names the file and the invalid member.
 */
export function parseReport(text: string, name: string): RunReport {
  const value = parseReportJson(text, name);
  const { type, version } = value;
  if (type !== "ingest-report")
    throw refuseReport(name, "JSON, but not a report of knowctl ingest");
  if (version !== 1 && version !== 2) throw refuseVersion(name, version, "versions 1 and 2");
  const report = checkShape(name, RunReport, value);
  const contradiction = contradictionOf(report);
  if (contradiction === undefined) return report;
  throw refuseContradiction(name, contradiction);
}

/**
 * Reads the JSON report of an upload. Throws like parseReport(), and for a file that cannot be read
 * and for the report of a dry run.
 */
export async function readReport(path: string, name = path): Promise<RunReport> {
  const report = parseReport(await readReportText(path, name), name);
  if (!report.dryRun) return report;
  throw new CliError("usage", `${name}: the report of a dry run: nothing was sent`, {
    hints: ["run `knowctl ingest` without --dry-run, and name the report of that run"],
  });
}
