import type { ChatOptions } from "../options.ts";
import { createGate, type Gate } from "../../../api/retry/gate.ts";
import type { Context } from "../../../context.ts";
import { CliError, messageOf, reasonOf } from "../../../errors.ts";
import { batchLine } from "../../../output/chat/machine.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { countOf, formatCount, formatDuration } from "../../../output/terminal/progress.ts";
import { withConnection } from "../../connect.ts";
import { ask, plainView } from "../ask.ts";
import { type Question, endUnasked, type Ending } from "../turn.ts";
import { describeFiles } from "../../files/upload.ts";
import { findSession } from "../session/find-session.ts";
import { lastSession } from "../session/session-index.ts";
import {
  isRereadable,
  readBatch,
  type Asked,
  checkBatch,
  questionDigest,
  questionOf,
  sessionNamed,
  type Run,
} from "./question.ts";
import { inOrder } from "./order.ts";
import { recoverAnswer, readResults, type FindEarlier, type Open } from "./earlier.ts";
import { dim } from "../../../output/terminal/text.ts";
import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { createSpinner } from "../../../output/terminal/spinner.ts";

interface BatchCounts {
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
function batchProgressLine(counts: BatchCounts, total: number | undefined, elapsedMs: number) {
  const { failed } = counts;
  const done = counts.ok + failed;
  const all = done + counts.skipped + counts.open;
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

const refreshMs = 500;

/**
 * Progress on stderr: a live line on a terminal, elsewhere a plain line every 10 s. Pause it
 * before writing a result: both may share a terminal.
 */
async function startBatchProgress(
  context: Context,
  output: Output,
  file: string,
  counts: BatchCounts,
  gate: Gate,
) {
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

async function noteCounts(output: Output, counts: BatchCounts): Promise<void> {
  const { ok, failed, skipped, open } = counts;
  const parts = [`${ok} answered`, `${failed} failed`];
  if (skipped > 0) parts.push(`${skipped} answered before`);
  if (open > 0) parts.push(`${open} not asked again`);
  await output.note(dim(parts.join(", ")));
}

const sourceName = (file: string): string => (file === "-" ? "stdin" : file);

/** Throws CliError `partial` unless each question has an answer. */
function checkCounts(file: string, { failed, open, read }: BatchCounts): void {
  if (read === 0) {
    throw new CliError("usage", `--batch: ${sourceName(file)} holds no question`, {
      hints: ['write one question per line: {"id": "a", "message": "Who is on call?"}'],
    });
  }
  if (failed + open === 0) return;
  const hints = [
    "their results hold the reason; --resume RESULTS recovers answers and asks the rest",
  ];
  if (open > 0)
    hints.push("leave out --no-reask to repeat questions that the service may have received");
  const message = `${failed + open} of ${read} questions were not answered`;
  throw new CliError("partial", message, { hints });
}

/** What a stopped run has left undone; undefined for nothing. */
function leftOf(file: string, counts: BatchCounts): string | undefined {
  const { ok, failed, skipped, open, read, isWhole } = counts;
  const unasked = read - ok - failed - skipped - open;
  const ofAll = (count: number, what: string): string =>
    `${formatCount(count)} of ${formatCount(read)} questions were not ${what}`;
  // Whether a pipe would bring another question is not known.
  if (!isWhole && unasked > 0) {
    return `the remaining questions of ${sourceName(file)} were not asked`;
  }
  if (!isWhole) return `${sourceName(file)} was not read to its end`;
  if (unasked > 0) return ofAll(unasked, "asked");
  return failed + open > 0 ? ofAll(failed + open, "answered") : undefined;
}

const defaultConcurrency = 4;
/** Results buffered behind one slow answer, for each unit of concurrency. */
const bufferedPerQuestion = 8;

/** A line that has no answer yet; `digest` names what it asks, `open` is what an earlier run has told of it. */
type Pending = Asked & { digest: string | undefined; open?: Open };

type Result = Pending & { ending: Ending };

async function answer(run: Run, asked: Pending, counts: BatchCounts): Promise<Result | undefined> {
  const { context, connected, options, gate } = run;
  const where = `${options.batch === "-" ? "stdin" : options.batch}:${asked.line}`;
  const refuse = async (problem: string): Promise<Result> => {
    const failure = new CliError("usage", `${where}: ${problem}`);
    return { ...asked, ending: await endUnasked(context, failure) };
  };
  if ("problem" in asked) return await refuse(asked.problem);
  let question: Question;
  try {
    question = await questionOf(run, asked.question);
  } catch (error) {
    return await refuse(error instanceof CliError ? reasonOf(error) : messageOf(error));
  }
  if (asked.open) {
    const ending = await recoverAnswer(run, asked.open, question);
    if (ending) return { ...asked, ending };
    if (asked.open.mayBeReceived && options.reask === false) {
      counts.open++;
      return undefined;
    }
  }
  const ending = await ask(context, { ...connected, memory: undefined }, question, run.view);
  // The gate has stopped, so the question was not sent; a later run sends it.
  if (gate.state().stopped !== undefined && ending.failure === gate.state().stopped)
    return undefined;
  return { ...asked, ending };
}

/** Order key: questions of one session are asked one after the other. */
function sessionOf(run: Run, asked: Asked): string | undefined {
  return "problem" in asked ? undefined : sessionNamed(run, asked.question);
}

async function* unanswered(
  run: Run,
  questions: AsyncIterable<Asked>,
  earlier: FindEarlier | undefined,
  counts: BatchCounts,
): AsyncGenerator<Pending> {
  for await (const asked of questions) {
    counts.read++;
    const digest = "question" in asked ? questionDigest(run, asked.question) : undefined;
    const known = "question" in asked ? earlier?.(asked, digest) : undefined;
    if (known === "answered") counts.skipped++;
    else yield { ...asked, digest, ...(known === undefined ? {} : { open: known }) };
  }
  counts.isWhole = true;
}

/** Counts the questions that a stopped run has not read, if the file can be read again. */
async function countRest(
  run: Run,
  earlier: FindEarlier | undefined,
  counts: BatchCounts,
): Promise<void> {
  const { context, options } = run;
  const file = options.batch ?? "-";
  if (!isRereadable(context.cwd, file)) return;
  const all = { ...counts, skipped: 0, read: 0 };
  // The signal of the run may be what stopped it.
  const questions = readBatch({ ...context, signal: new AbortController().signal }, file);
  for await (const _ of unanswered(run, questions, earlier, all));
  Object.assign(counts, all);
}

async function askAll(run: Run, earlier: FindEarlier | undefined): Promise<void> {
  const { context, connected, options, gate } = run;
  const { output } = connected;
  const file = options.batch ?? "-";
  const counts: BatchCounts = { ok: 0, failed: 0, skipped: 0, open: 0, read: 0, isWhole: false };
  const progress = await startBatchProgress(context, output, file, counts, gate);
  const concurrency = options.concurrency ?? defaultConcurrency;
  let unwritten: unknown;
  try {
    await inOrder(unanswered(run, readBatch(context, file), earlier, counts), {
      concurrency,
      window: concurrency * bufferedPerQuestion,
      keyOf: (asked) => sessionOf(run, asked),
      work: (asked) => answer(run, asked, counts),
      isOver: () => context.signal.aborted || gate.state().stopped !== undefined,
      async write({ line, id, ending, digest: fingerprint }) {
        await progress.pause();
        try {
          await output.json(batchLine({ line, id, fingerprint }, ending.turn, ending.outcome));
        } catch (error) {
          // Nobody reads the results any more: the questions in flight are aborted.
          unwritten = error;
          run.abortAll(error);
          throw error;
        }
        if (ending.outcome.status === "ok") counts.ok++;
        else counts.failed++;
      },
    });
  } catch (error) {
    // Results that could not be written end the run, too: their questions may have been asked.
    if (error !== context.signal.reason || error === unwritten) throw error;
  } finally {
    await progress.stop();
  }
  const { stopped } = gate.state();
  const isStopped = context.signal.aborted || stopped !== undefined;
  // A file that can no longer be read must not hide why the run stopped.
  if (isStopped && !counts.isWhole) await countRest(run, earlier, counts).catch(() => {});
  await noteCounts(output, counts);
  if (!isStopped) return checkCounts(file, counts);
  const left = leftOf(file, counts);
  if (left !== undefined) {
    await output.problem(
      `${left}; to continue, repeat the command with --resume RESULTS, the file with the results so far`,
    );
  }
  context.signal.throwIfAborted();
  throw stopped;
}

/**
 * `chat --batch`: asks the questions of a file concurrently and writes one result line for
 * each to stdout, in the order of the file. Throws CliError: `partial` if questions have no
 * answer, `usage` without any question, the kind of an error that stops the run (a refused
 * key, an unreachable service), and the reason of an interrupt.
 */
export async function batch(
  given: Context,
  args: readonly string[],
  options: ChatOptions,
): Promise<void> {
  checkBatch(args, options);
  if (given.stdout.closed) throw given.stdout.closed;
  const aborted = new AbortController();
  const signal = AbortSignal.any([given.signal, aborted.signal]);
  const context: Context = { ...given, signal };
  await withConnection(context, options, async (connected) => {
    const { client, config, connection, output } = connected;
    const { resume } = options;
    const earlier = resume === undefined ? undefined : await readResults(context.cwd, resume);
    const owner = { profile: config.profile, baseUrl: connection.baseUrl };
    const place = { env: context.env, client, owner };
    const named = options.session;
    const sessionId = options.continue
      ? lastSession(context.env, owner).id
      : named && (await findSession(place, named));
    const ceiling = options.concurrency ?? defaultConcurrency;
    const gate = createGate({ ceiling, clock: context, signal: context.signal });
    const files = await describeFiles({ context, client, output }, [], options.fileId ?? []);
    const abortAll = (reason: unknown): void => aborted.abort(reason);
    const view = plainView(options, config.chat, output, "silent");
    const run = { context, connected, options, gate, files, sessionId, place, view, abortAll };
    await askAll(run, earlier);
  });
}
