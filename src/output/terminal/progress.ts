import type { Output } from "./output.ts";
import { createSpinner } from "./spinner.ts";

/** Current counts of an upload. */
export interface UploadCounts {
  created: number;
  updated: number;
  unchanged: number;
  skipped: number;
  failed: number;
  /** With `--verify`: sent documents that the index holds as sent. */
  verified?: number | undefined;
  /** Files with a new path: their documents are among the others. */
  renamed?: number | undefined;
}

export interface ProgressState {
  /** Current activity: `reading`, `uploading`. */
  phase: string;
  done: number;
  /** Unknown while the search for files runs, and for documents from stdin. */
  total: number | undefined;
  counts: UploadCounts;
  retries: number;
  /** Responses that asked to slow down. */
  throttled?: number;
  /** Why the upload is slow now; undefined if it is not. */
  slowBecause: string | undefined;
}

export interface Progress {
  /** Shows the state that `describe` returns, at intervals; replaces an earlier `describe`. */
  follow(describe: () => ProgressState): void;
  stop(): Promise<void>;
}

const refreshMs = 200;

/** A duration as `1m30s` or `5h10m`; from one day on as `2d3h`. */
export function formatDuration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 10) return `${(ms / 1000).toFixed(1)}s`;
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600)
    return `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, "0")}s`;
  if (seconds < 86_400)
    return `${Math.floor(seconds / 3600)}h${Math.floor((seconds % 3600) / 60)}m`;
  return `${Math.floor(seconds / 86_400)}d${Math.floor((seconds % 86_400) / 3600)}h`;
}

/** 1234567 as `1,234,567`. */
export function formatCount(count: number): string {
  // Not Intl: its first use costs 10 ms.
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}

/** `1 document`, `2,000 documents`. */
export function countOf(count: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : plural}`;
}

/** A part of the progress line; on a narrow terminal the lowest priority is dropped first. */
type Part = readonly [text: string, priority: number];

function fitParts(parts: Part[], width: number): string {
  const line = (): string => parts.map(([text]) => text).join("  ");
  while (parts.length > 1 && line().length > width) {
    const lowest = Math.min(...parts.map(([, priority]) => priority));
    const at = parts.findLastIndex(([, priority]) => priority === lowest);
    const [text = ""] = parts[at] ?? [];
    // A reason after a colon is dropped first: `pausing 4 s: the service asks for it`.
    const end = text.indexOf(": ");
    parts.splice(at, 1, ...(end === -1 ? [] : [[text.slice(0, end), lowest] as const]));
  }
  return line();
}

const countPriorities = { created: 2, updated: 2, unchanged: 1, failed: 8 } as const;

/**
 * The progress line: done of total, rate, time left, then the counts that are not
 * zero. Drops the parts of lowest priority until the line fits `width`.
 */
export function progressLine(
  state: ProgressState,
  elapsedMs: number,
  width = Number.POSITIVE_INFINITY,
): string {
  const { done, total, counts, throttled = 0 } = state;
  const noun = state.phase === "reading" ? "files" : "documents";
  const parts: Part[] = [
    total === undefined
      ? [`${state.phase} ${formatCount(done)} ${noun}`, 9]
      : [`${state.phase} ${formatCount(done)}/${formatCount(total)}`, 9],
  ];
  if (state.phase !== "reading" && done > 0 && elapsedMs > 500) {
    const rate = (done / elapsedMs) * 1000;
    parts.push([`${rate >= 10 ? formatCount(Math.round(rate)) : rate.toFixed(1)}/s`, 6]);
    if (total !== undefined && done < total) {
      parts.push([`ETA ${formatDuration(((total - done) / rate) * 1000)}`, 5]);
    }
  }
  for (const name of ["created", "updated", "unchanged", "failed"] as const) {
    if (counts[name] > 0)
      parts.push([`${formatCount(counts[name])} ${name}`, countPriorities[name]]);
  }
  if (state.retries > 0) parts.push([countOf(state.retries, "retry", "retries"), 4]);
  if (throttled > 0) parts.push([`${formatCount(throttled)} throttled`, 3]);
  if (state.slowBecause !== undefined) parts.push([state.slowBecause, 7]);
  return fitParts(parts, width);
}

const noCounts: UploadCounts = { created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0 };

/** Shows how many are done of an activity that sends nothing. */
export function followCount(
  progress: Progress,
  phase: string,
  done: () => number,
  total?: number,
  counts: UploadCounts = noCounts,
): void {
  const fixed = { phase, total, counts, retries: 0, slowBecause: undefined };
  progress.follow(() => ({ ...fixed, done: done() }));
}

/**
 * Shows progress on stderr: a live line on a terminal, else a plain line every
 * 10 s, nothing with --quiet. Call stop() before any other output.
 */
export function startProgress(output: Output, elapsed: () => number): Progress {
  const spinner = createSpinner(output, { delayMs: 100 });
  let timer: NodeJS.Timeout | undefined;
  return {
    follow(describe) {
      clearInterval(timer);
      const startedAt = elapsed();
      const show = (): void => {
        const room = output.canMove ? Math.max(10, output.liveColumns() - 4) : undefined;
        spinner.start(progressLine(describe(), elapsed() - startedAt, room).slice(0, room));
      };
      show();
      // A timer, not events: there are no events while the tool waits for the service.
      timer = setInterval(show, refreshMs);
      timer.unref();
    },
    stop() {
      clearInterval(timer);
      return spinner.stop();
    },
  };
}

const units: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];

/**
 * A relative time ("3 days ago"). `value` is ISO 8601 from the service, `now` is
 * milliseconds since the epoch. Returns other text unchanged.
 */
export function relativeTime(value: unknown, now: number): string {
  const text = String(value);
  // The service may omit the zone; its times are UTC (service-interface.md 2.2).
  const zoned = /(?:Z|[+-]\d\d:?\d\d)$/i.test(text) || !text.includes("T") ? text : `${text}Z`;
  const time = Date.parse(zoned);
  if (Number.isNaN(time) || !/^\d{4}-/.test(text)) return text;
  const seconds = (time - now) / 1000;
  const size = Math.abs(seconds);
  for (const [unit, length] of units) {
    if (size < length) continue;
    const count = Math.trunc(size / length);
    const plural = count === 1 ? unit : `${unit}s`;
    return seconds < 0 ? `${count} ${plural} ago` : `in ${count} ${plural}`;
  }
  return "just now";
}
