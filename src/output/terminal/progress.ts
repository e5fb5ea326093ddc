import type { Output } from "./output.ts";
import { createSpinner } from "./spinner.ts";

/** Counts of an upload so far. */
export interface UploadCounts {
  created: number;
  updated: number;
  unchanged: number;
  skipped: number;
  failed: number;
}

export interface ProgressState {
  /** What is going on: `reading`, `uploading`. */
  phase: string;
  done: number;
  /** Unknown while files are still being found, and for what comes from stdin. */
  total: number | undefined;
  counts: UploadCounts;
  /** Retries and answers that asked to slow down so far, and why it is slow now, if it is. */
  retries: number;
  throttled?: number;
  slowBecause: string | undefined;
}

export interface Progress {
  /** Shows what `describe` says, again and again; replaces what was followed before. */
  follow(describe: () => ProgressState): void;
  stop(): Promise<void>;
}

const refreshMs = 200;

/** `90 s` as `1m30s`; what is longer than a day as days and hours. */
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
  // Asking Intl would cost 10 ms at its first use.
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}

/** `1 document`, `2,000 documents`. */
export function countOf(count: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : plural}`;
}

/** A part of the progress line, and how dear it is when there is little room. */
type Part = readonly [text: string, worth: number];

function fitParts(parts: Part[], width: number): string {
  const line = (): string => parts.map(([text]) => text).join("  ");
  while (parts.length > 1 && line().length > width) {
    const least = Math.min(...parts.map(([, worth]) => worth));
    const at = parts.findLastIndex(([, worth]) => worth === least);
    const [text = ""] = parts[at] ?? [];
    // Of `pausing 4 s: the service asks for it` the first half says enough.
    const end = text.indexOf(": ");
    parts.splice(at, 1, ...(end === -1 ? [] : [[text.slice(0, end), least] as const]));
  }
  return line();
}

const countWorths = { created: 2, updated: 2, unchanged: 1, failed: 8 } as const;

/**
 * The progress line: done of total, rate, time left, then whatever is not zero.
 * Past `width` the least needed parts are left out.
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
    if (counts[name] > 0) parts.push([`${formatCount(counts[name])} ${name}`, countWorths[name]]);
  }
  if (state.retries > 0) parts.push([countOf(state.retries, "retry", "retries"), 4]);
  if (throttled > 0) parts.push([`${formatCount(throttled)} throttled`, 3]);
  if (state.slowBecause !== undefined) parts.push([state.slowBecause, 7]);
  return fitParts(parts, width);
}

/**
 * Progress on stderr: a live line on a terminal, elsewhere a plain line every
 * 10 s, nothing with --quiet. Call stop() before anything else is written.
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
      // By the clock, not by what happens: nothing happens while a service is waited for.
      timer = setInterval(show, refreshMs);
      timer.unref();
    },
    stop() {
      clearInterval(timer);
      return spinner.stop();
    },
  };
}
