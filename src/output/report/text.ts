import { neutralise } from "../terminal/neutralise.ts";
import { formatCount, formatDuration } from "../terminal/progress.ts";
import type { Report } from "./report.ts";
import type { ReportFailure, ReportHead, RunStatus } from "./stored/record.ts";

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes text for HTML content or a quoted attribute; control characters become visible. */
export function escapeHtml(text: string): string {
  return neutralise(text)
    .toWellFormed()
    .replace(/[&<>"']/g, (character) => entities[character] ?? "");
}

/** The reason without a repeated `path:line:column:` at its start. */
export function bareReason({ path, reason }: Pick<ReportFailure, "path" | "reason">): string {
  if (!reason.startsWith(path) || path === "") return reason;
  const rest = /^(?::\d{1,9}){0,2}:\s*(?=\S)/.exec(reason.slice(path.length));
  return rest ? reason.slice(path.length + rest[0].length) : reason;
}

/** `row 7, sku-7: ` for a row that the service rejected; empty for other failures. */
export function refusedRow({ path, row, id }: ReportFailure): string {
  return row === undefined || id === undefined || path === "stdin" ? "" : `row ${row}, ${id}: `;
}

/** 1536 as `1.5 KiB`. */
export function formatBytes(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** Status as a heading. */
const statusWords: Readonly<Record<RunStatus, string>> = {
  ok: "Done",
  partial: "Done, with failures",
  error: "Stopped",
  interrupted: "Interrupted",
};

const fromBestToWorst: readonly RunStatus[] = ["ok", "partial", "interrupted", "error"];

/** The status of several runs together. */
export function worstStatus(statuses: readonly RunStatus[]): RunStatus {
  return fromBestToWorst.findLast((each) => statuses.includes(each)) ?? "ok";
}

/** The status as a heading; `Incomplete` if reports of shards are missing. */
export function statusText(head: ReportHead): string {
  if (head.dryRun) return head.status === "ok" ? "Dry run" : "Dry run, with failures";
  const isIncomplete = (head.merged?.missing.length ?? 0) > 0;
  return isIncomplete && head.status === "partial" ? "Incomplete" : statusWords[head.status];
}

const plannedWords: Readonly<Record<string, string>> = {
  created: "to create",
  updated: "to update",
};

/** The name of a count for people: a dry run has created nothing. */
export function countWord({ dryRun }: Pick<ReportHead, "dryRun">, name: string): string {
  return (dryRun && plannedWords[name]) || name;
}

/** `shard 3 of 8 is missing`, `shards 3 and 7 of 8 are missing`; empty if none is missing. */
export function missingText(missing: readonly number[], shards: number | null): string {
  if (missing.length === 0) return "";
  const shown = missing.slice(0, 20).map(String);
  const more = missing.length - shown.length;
  const last = more > 0 ? `${more} more` : (shown.pop() ?? "");
  const all = shown.length === 0 ? last : `${shown.join(", ")} and ${last}`;
  const [noun, verb] = missing.length === 1 ? ["shard", "is"] : ["shards", "are"];
  return `${noun} ${all} of ${shards ?? "?"} ${verb} missing`;
}

/** Same as formatDuration(), but milliseconds below a second. */
export function formatTime(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : formatDuration(ms);
}

/** The facts of a report and its duration in one line. */
export function factsText({ facts, seconds }: Pick<Report, "facts" | "seconds">): string {
  const took = seconds === undefined ? [] : [formatTime(seconds * 1000)];
  return [...facts, ...took].join(" · ");
}

/** `2026-01-31 07:30:00 UTC` of an ISO 8601 time. */
export function dateText(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}

/** Documents per second, with one decimal below 10. */
export function formatRate(rate: number): string {
  return rate >= 10 ? formatCount(Math.round(rate)) : rate.toFixed(1);
}
