import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import type { Gate } from "../../../api/retry/gate.ts";
import type { Context } from "../../../context.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { countOf, formatCount, formatDuration } from "../../../output/terminal/progress.ts";
import { createSpinner } from "../../../output/terminal/spinner.ts";
import { isRereadable } from "./input.ts";

export interface BatchCounts {
  ok: number;
  failed: number;
  /** Answered by an earlier run. */
  skipped: number;
  /** Without an answer, and not asked again. */
  open: number;
  /** All non-empty lines that were read. */
  read: number;
  /** Whether all lines were read. */
  isWhole: boolean;
}

const lineFeed = 0x0a;

/** Counts the lines of a regular file, to show how many are left. Undefined for a pipe. */
async function countLines(context: Context, file: string): Promise<number | undefined> {
  if (!isRereadable(context.cwd, file)) return undefined;
  let lines = 0;
  let last = lineFeed;
  for await (const chunk of createReadStream(resolve(context.cwd, file)) as AsyncIterable<Buffer>) {
    for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, at + 1)) lines++;
    last = chunk.at(-1) ?? last;
  }
  return last === lineFeed ? lines : lines + 1;
}

/** The progress line of a batch: `12/40  1 failed  ETA 3m10s`. */
function batchProgressLine(
  { ok, failed, skipped, open }: Omit<BatchCounts, "read" | "isWhole">,
  total: number | undefined,
  elapsedMs: number,
): string {
  const done = ok + failed;
  const all = done + skipped + open;
  const parts = [
    total === undefined
      ? `asking, ${countOf(all, "question")} done`
      : `asking ${formatCount(all)}/${formatCount(total)}`,
  ];
  if (failed > 0) parts.push(`${formatCount(failed)} failed`);
  if (total !== undefined && done > 0 && all < total) {
    parts.push(`ETA ${formatDuration((elapsedMs / done) * (total - all))}`);
  }
  return parts.join("  ");
}

interface BatchProgress {
  /** Call before writing a result: both may share a terminal. */
  pause(): Promise<void>;
  stop(): Promise<void>;
}

const refreshMs = 500;

/** Progress on stderr: a live line on a terminal, elsewhere a plain line every 10 s. */
export async function startBatchProgress(
  context: Context,
  output: Output,
  file: string,
  counts: BatchCounts,
  gate: Gate,
): Promise<BatchProgress> {
  const total = output.quiet ? undefined : await countLines(context, file).catch(() => undefined);
  const spinner = createSpinner(output);
  const startedAt = context.elapsed();
  const show = (): void => {
    const now = context.elapsed();
    const { pausedUntil } = gate.state();
    const wait = pausedUntil > now ? `  waiting ${formatDuration(pausedUntil - now)}` : "";
    spinner.start(batchProgressLine(counts, total, now - startedAt) + wait);
  };
  show();
  const timer = setInterval(show, refreshMs);
  timer.unref();
  return {
    pause: () => spinner.stop(),
    async stop() {
      clearInterval(timer);
      await spinner.stop();
    },
  };
}
