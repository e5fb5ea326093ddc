import { createGate } from "../../../api/gate.ts";
import type { Context } from "../../../context.ts";
import { CliError, messageOf } from "../../../errors.ts";
import { createTurn } from "../../../output/chat/answer.ts";
import { batchLine } from "../../../output/chat/machine.ts";
import type { Output } from "../../../output/output.ts";
import { dim } from "../../../output/text.ts";
import { connect } from "../../connect.ts";
import { ask, plainView, type Question } from "../ask.ts";
import { describeFiles } from "../files.ts";
import type { ChatOptions } from "../options.ts";
import { conclude, type Ending } from "../turn.ts";
import { lastSession } from "../session-index.ts";
import { readBatch, type Asked } from "./input.ts";
import { inOrder } from "./order.ts";
import { startBatchProgress, type BatchCounts } from "./progress.ts";
import { checkBatch, questionOf, type Run } from "./question.ts";
import { readResults, type Earlier } from "./results.ts";

const defaultConcurrency = 4;
/** Results held back for one slow answer, per question that is asked at once. */
const windowPerQuestion = 8;

type Result = Asked & { ending: Ending };

const silent = { show: async () => {}, finish: async () => {} };

/** The result of a line that asked nothing. */
async function unasked(context: Context, failure: unknown): Promise<Ending> {
  const timings = { firstTextMs: null, totalMs: 0 };
  const end = { failure, outputFailure: undefined, timings, turn: createTurn() };
  return conclude(context, undefined, silent, { ...end, warnings: [], requestedModel: null });
}

async function answer(run: Run, asked: Asked): Promise<Result | undefined> {
  const { context, connected, options, gate } = run;
  const { output, config } = connected;
  const where = `${options.batch === "-" ? "stdin" : options.batch}:${asked.line}`;
  const refuse = async (problem: string): Promise<Result> => {
    const failure = new CliError("usage", `${where}: ${problem}`);
    return { ...asked, ending: await unasked(context, failure) };
  };
  if ("problem" in asked) return await refuse(asked.problem);
  let question: Question;
  try {
    question = questionOf(run, asked.question);
  } catch (error) {
    return await refuse(messageOf(error));
  }
  const view = { ...plainView(options, config.chat, output, "text"), format: "silent" as const };
  const ending = await ask(context, { ...connected, memory: undefined }, question, view);
  // The gate has turned it away: it was not asked, a later run does that.
  if (gate.state().stopped !== undefined && ending.failure === gate.state().stopped)
    return undefined;
  return { ...asked, ending };
}

/** Questions of one session are asked one after the other. */
function sessionOf(run: Run, asked: Asked): string | undefined {
  if ("problem" in asked) return undefined;
  const { session, agent, project } = asked.question;
  return session ?? ((agent ?? project) === undefined ? run.sessionId : undefined);
}

async function* unanswered(
  questions: AsyncIterable<Asked>,
  earlier: Earlier | undefined,
  counts: BatchCounts,
): AsyncGenerator<Asked> {
  for await (const asked of questions) {
    if (earlier?.has(asked)) counts.skipped++;
    else yield asked;
  }
}

async function askAll(run: Run, earlier: Earlier | undefined): Promise<void> {
  const { context, connected, options, gate } = run;
  const { output } = connected;
  const file = options.batch ?? "-";
  const counts: BatchCounts = { ok: 0, failed: 0, skipped: 0 };
  const progress = await startBatchProgress(context, output, file, counts, gate);
  const concurrency = options.concurrency ?? defaultConcurrency;
  try {
    await inOrder(unanswered(readBatch(context, file), earlier, counts), {
      concurrency,
      window: concurrency * windowPerQuestion,
      keyOf: (asked) => sessionOf(run, asked),
      work: (asked) => answer(run, asked),
      isOver: () => context.signal.aborted || gate.state().stopped !== undefined,
      async tell({ line, id, ending }) {
        if (ending.outcome.status === "ok") counts.ok++;
        else counts.failed++;
        await progress.pause();
        try {
          await output.json(batchLine({ line, id }, ending.turn, ending.outcome));
        } catch (error) {
          // Nobody reads the results any more: what is being asked ends.
          run.abandon(error);
          throw error;
        }
      },
    });
  } finally {
    await progress.stop();
  }
  const { ok, failed, skipped } = counts;
  const parts = [`${ok} answered`, `${failed} failed`, ...(skipped ? [`${skipped} skipped`] : [])];
  await output.note(dim(parts.join(", ")));
  context.signal.throwIfAborted();
  const { stopped } = gate.state();
  if (stopped) throw stopped;
  if (failed === 0) return;
  throw new CliError("partial", `${failed} of ${ok + failed} questions were not answered`, {
    hints: ["their results say why; --resume RESULTS asks again those that failed"],
  });
}

async function readEarlier(
  context: Context,
  output: Output,
  resume: string | undefined,
): Promise<Earlier | undefined> {
  if (resume === undefined) return undefined;
  const earlier = await readResults(context.cwd, resume);
  if (earlier.unknown > 0) {
    await output.warn(
      `${earlier.unknown} questions whose answer was cut or interrupted are not asked again: the service may have answered them; see \`knowctl sessions\`, or remove their lines from ${resume}`,
    );
  }
  return earlier;
}

/**
 * `chat --batch`: asks the questions of a file side by side; a result line each
 * on stdout, in the order of the file. Throws CliError: `partial` where some
 * were not answered, what stops the whole run (a refused key, a service that
 * cannot be reached) by its kind, and the reason of an interrupt.
 */
export async function batch(
  given: Context,
  args: readonly string[],
  options: ChatOptions,
): Promise<void> {
  checkBatch(args, options);
  const abandoned = new AbortController();
  const signal = AbortSignal.any([given.signal, abandoned.signal]);
  const context: Context = { ...given, signal };
  const connected = await connect(context, options);
  const { client, config, connection, output } = connected;
  try {
    const earlier = await readEarlier(context, output, options.resume);
    const owner = { profile: config.profile, baseUrl: connection.baseUrl };
    const sessionId = options.continue ? lastSession(context.env, owner).id : options.session;
    const ceiling = options.concurrency ?? defaultConcurrency;
    const gate = createGate({ ceiling, clock: context, signal: context.signal });
    const files = await describeFiles({ context, client, output }, [], options.fileId ?? []);
    const abandon = (reason: unknown): void => abandoned.abort(reason);
    await askAll({ context, connected, options, gate, files, sessionId, abandon }, earlier);
  } finally {
    await client.close();
  }
}
