import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type * as z from "zod/mini";
import { CliError, codeOf, fileProblem, issueText, messageOf } from "../../../errors.ts";
import { formatCount } from "../../terminal/progress.ts";
import { type ReportCounts, RunReport, type RunStatus } from "./record.ts";

/** A million failed documents take less. */
const maxMegabytes = 256;
/** Values of a report. Their objects take many times the memory of their text. */
const maxValues = 20_000_000;

const hints = ["name files that a command wrote with --report FILE.json"];

/** The error for a file that is no report. `path`: as typed. */
export function refuseReport(path: string, problem: string, cause?: unknown): CliError {
  return new CliError("usage", `${path}: ${problem}`, { hints, cause });
}

/** The error for a report whose status is not the one that its counts prove. */
export function refuseContradiction(name: string, contradiction: string): CliError {
  return new CliError("usage", `${name}: the report contradicts itself: ${contradiction}`, {
    hints: ["a report that was edited or cut proves nothing: run the step again"],
  });
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
async function readUpTo(path: string, name: string): Promise<string> {
  const pieces: string[] = [];
  let size = 0;
  for await (const piece of createReadStream(path, "utf8")) {
    pieces.push(piece as string);
    size += (piece as string).length;
    if (size > maxMegabytes * 1024 * 1024) {
      throw refuseReport(name, `larger than ${maxMegabytes} MiB, too large for a report`);
    }
  }
  return pieces.join("");
}

/** The text of a report. Throws CliError `usage` for a file that cannot be read. */
export async function readReportText(path: string, name: string): Promise<string> {
  try {
    const stats = await stat(path);
    // A named pipe without a writer would block the process, even its end.
    if (!stats.isFile() && !stats.isDirectory() && !/^\/(?:dev\/fd|proc)\//.test(path)) {
      throw refuseReport(name, "it is not a regular file");
    }
    const text = await readUpTo(path, name);
    if (hasTooManyValues(text)) throw refuseReport(name, "too many values for a report");
    return text;
  } catch (error) {
    if (error instanceof CliError) throw error;
    const problem = `cannot be read: ${fileProblem(codeOf(error) ?? messageOf(error))}`;
    throw refuseReport(name, problem, error);
  }
}

/** The members that distinguish one report from another. */
export interface Stored {
  version?: unknown;
  type?: unknown;
  command?: unknown;
}

/** The members of a JSON report. Throws CliError `usage` for a text that is not JSON. */
export function parseReportJson(text: string, name: string): Stored {
  try {
    return (JSON.parse(text.replace(/^\ufeff/, "")) as object | null) ?? {};
  } catch (error) {
    // Not the parser's message: it quotes the untrusted content.
    throw refuseReport(name, "not a JSON report", error);
  }
}

/** Objects of files of this program have far fewer members. */
const mostMembers = 10_000;

interface Issue {
  path: readonly PropertyKey[];
  message: string;
}

/**
 * The first thing that is wrong in a value, element by element: a list of millions of invalid elements
 * would fill the memory with what is wrong of each. Undefined also where only a whole parse can tell.
 * Puts the parsed elements in their place.
 */
function firstInvalid(
  shape: z.ZodMiniType,
  value: unknown,
  path: Issue["path"],
): Issue | undefined {
  const { def } = shape as z.ZodMiniObject | z.ZodMiniArray | z.ZodMiniOptional | z.ZodMiniNullable;
  if (def.type === "optional" || def.type === "nullable") {
    return firstInvalid(def.innerType as z.ZodMiniType, value, path);
  }
  if (typeof value !== "object" || value === null) return undefined;
  if (!Array.isArray(value) && Object.keys(value).length > mostMembers) {
    return { path, message: "too many members" };
  }
  if (def.type === "array" && Array.isArray(value)) {
    const element = def.element as z.ZodMiniType;
    for (const [at, each] of value.entries()) {
      const found = firstInvalid(element, each, [...path, at]);
      if (found) return found;
      const { data, error } = element.safeParse(each);
      const [issue] = error?.issues ?? [];
      if (issue) return { path: [...path, at, ...issue.path], message: issueText(issue) };
      value[at] = data;
    }
  }
  if (def.type !== "object") return undefined;
  for (const [name, member] of Object.entries(def.shape as Record<string, z.ZodMiniType>)) {
    const found = firstInvalid(member, (value as Record<string, unknown>)[name], [...path, name]);
    if (found) return found;
  }
  return undefined;
}

/** Elements of a list that are copied with the report: more than any list of bounded length has. */
const mostCopied = 10_000;
const isLong = (value: unknown): value is unknown[] =>
  Array.isArray(value) && value.length > mostCopied;

/**
 * The report as `shape` reads it. Throws CliError `usage` that names the invalid member, and for the
 * report of another version.
 */
export function checkShape<Shape extends z.ZodMiniType>(
  name: string,
  shape: Shape,
  value: Stored,
  version = 1,
): z.infer<Shape> {
  if (value.version !== version) {
    throw new CliError("usage", `${name}: a report of version ${JSON.stringify(value.version)}`, {
      hints: [
        `this knowctl reads version ${version}; use the version that wrote it, or a newer one`,
      ],
    });
  }
  let issue: Issue | undefined;
  try {
    issue = firstInvalid(shape, value, []);
    if (!issue) {
      const long = Object.entries(value).filter((entry): entry is [string, unknown[]] =>
        isLong(entry[1]),
      );
      const starts = long.map(([member, list]) => [member, list.slice(0, mostCopied + 1)]);
      const result = shape.safeParse({ ...value, ...Object.fromEntries(starts) });
      if (result.success) {
        const data = result.data as Record<string, unknown>;
        for (const [member, list] of long) if (Object.hasOwn(data, member)) data[member] = list;
        return data as z.infer<Shape>;
      }
      const [first] = result.error.issues;
      issue = first && { path: first.path, message: issueText(first) };
    }
  } catch (error) {
    // The stack overflows: values nested too deeply.
    if (!(error instanceof RangeError)) throw error;
    throw refuseReport(name, "not a valid report: too many nested values", error);
  }
  const place = (issue?.path ?? []).map(String).join(".") || "the report";
  throw refuseReport(name, `not a valid report: ${place}: ${issue?.message ?? "unknown"}`);
}

/** Why the status of a run is not the one that its counts prove; undefined if it is. */
function wrongStatus(status: RunStatus, counts: ReportCounts, error?: string): string | undefined {
  if (status !== "ok") return undefined;
  if (counts.failed > 0) return `the status is ok, and ${formatCount(counts.failed)} failed`;
  return error === undefined ? undefined : "the status is ok, and an error stopped the run";
}

function wrongRuns({ merged, status, counts }: RunReport): string | undefined {
  if (merged === undefined) return undefined;
  for (const name of ["created", "updated", "unchanged", "skipped", "failed"] as const) {
    const sum = merged.runs.reduce((all, run) => all + run.counts[name], 0);
    if (sum === counts[name]) continue;
    return `${formatCount(counts[name])} ${name}, and ${formatCount(sum)} in its runs`;
  }
  const wrong = merged.runs.map((run) => wrongStatus(run.status, run.counts)).find(Boolean);
  if (wrong !== undefined || status !== "ok") return wrong;
  const open = merged.runs.find((run) => run.status !== "ok");
  if (open) return `the status is ok, and that of a run is ${open.status}`;
  return merged.missing.length > 0 ? "the status is ok, and shards are missing" : undefined;
}

/** What in a report of an upload contradicts its counts or its list of failures. */
function contradictionOf(report: RunReport): string | undefined {
  const { status, counts, error, failures, failuresLeftOut = 0, sent } = report;
  if (failures.length + failuresLeftOut !== counts.failed) {
    return `${formatCount(counts.failed)} failed, and ${formatCount(failures.length)} in its list of failures`;
  }
  const accepted = counts.created + counts.updated;
  if (sent && sent.documents.length + sent.leftOut !== accepted) {
    return `${formatCount(accepted)} created or updated, and another number in its list`;
  }
  return wrongStatus(status, counts, error) ?? wrongRuns(report);
}

/** The report of an upload. Throws CliError `usage` that names the file and the invalid member. */
export function uploadReportOf(value: Stored, name: string): RunReport {
  if (value.type !== "ingest-report") {
    throw refuseReport(name, "JSON, but not a report of knowctl ingest");
  }
  const report = checkShape(name, RunReport, value, 2);
  const contradiction = contradictionOf(report);
  if (contradiction === undefined) return report;
  throw refuseContradiction(name, contradiction);
}

/** Parses the report of an upload. `name` is the file name as typed. Throws as uploadReportOf(). */
export const parseReport = (text: string, name: string): RunReport =>
  uploadReportOf(parseReportJson(text, name), name);

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
