import type { Output } from "./output.ts";

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
  /** Unknown while files are still being found. */
  total: number | undefined;
  counts: UploadCounts;
  /** Retries so far, and why it is slow now, if it is. */
  retries: number;
  slowBecause: string | undefined;
}

export interface Progress {
  update(state: ProgressState): void;
  stop(): Promise<void>;
}

const terminalIntervalMs = 100;
const lineIntervalMs = 10_000;

/** `90 s` as `1m30s`; what is longer than a day as days and hours. */
export function formatDuration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 10) return `${(ms / 1000).toFixed(1)}s`;
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, "0")}s`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h${Math.floor((seconds % 3600) / 60)}m`;
  return `${Math.floor(seconds / 86_400)}d${Math.floor((seconds % 86_400) / 3600)}h`;
}

/** 1234567 as `1,234,567`. */
export function formatCount(count: number): string {
  return count.toLocaleString("en-US");
}

/** The progress line: done of total, rate, time left, then whatever is not zero. */
export function progressLine(state: ProgressState, elapsedMs: number): string {
  const { done, total, counts } = state;
  const parts = [
    total === undefined
      ? `${state.phase} ${formatCount(done)} files`
      : `${state.phase} ${formatCount(done)}/${formatCount(total)}`,
  ];
  if (total !== undefined && done > 0 && elapsedMs > 500) {
    const rate = (done / elapsedMs) * 1000;
    parts.push(`${rate >= 10 ? formatCount(Math.round(rate)) : rate.toFixed(1)}/s`);
    if (done < total) parts.push(`ETA ${formatDuration(((total - done) / rate) * 1000)}`);
  }
  for (const name of ["created", "updated", "unchanged", "failed"] as const) {
    if (counts[name] > 0) parts.push(`${formatCount(counts[name])} ${name}`);
  }
  if (state.retries > 0) parts.push(`${formatCount(state.retries)} retries`);
  if (state.slowBecause !== undefined) parts.push(state.slowBecause);
  return parts.join("  ");
}

interface Display {
  show(line: string): void;
  stop(): void;
  readonly intervalMs: number;
}

async function createSpinner(output: Output): Promise<Display> {
  const { default: ora } = await import("ora");
  // discardStdin would swallow Ctrl-C and Ctrl-Z (ora 9.4.1).
  const spinner = ora({ discardStdin: false, text: "" }).start();
  return {
    intervalMs: terminalIntervalMs,
    show(line) {
      spinner.text = line.slice(0, Math.max(10, output.columns() - 4));
    },
    stop: () => void spinner.stop(),
  };
}

function createLines(output: Output): Display {
  return {
    intervalMs: lineIntervalMs,
    // A reader that has gone is no reason to stop an upload.
    show: (line) => void output.note(line).catch(() => {}),
    stop: () => {},
  };
}

/**
 * Progress on stderr: a live line on a terminal, elsewhere a plain line at most
 * every 10 s, nothing with --quiet.
 */
export async function startProgress(output: Output, now: () => number): Promise<Progress> {
  if (output.quiet) return { update: () => {}, stop: () => Promise.resolve() };
  const display = output.canMove ? await createSpinner(output) : createLines(output);
  let startedAt = now();
  let phase = "";
  let shownAt = output.canMove ? 0 : startedAt;
  return {
    update(state) {
      const time = now();
      if (state.phase !== phase) {
        phase = state.phase;
        startedAt = time;
      }
      if (time - shownAt < display.intervalMs) return;
      shownAt = time;
      display.show(progressLine(state, time - startedAt));
    },
    stop() {
      display.stop();
      return Promise.resolve();
    },
  };
}
