import type { Context } from "../../../context.ts";
import { messageOf } from "../../../errors.ts";
import type { Turn } from "../../../output/chat/turn/answer.ts";
import type { Output } from "../../../output/terminal/output.ts";
import type { Batch } from "../send.ts";
import type { SessionOwner } from "./session-index.ts";

/** Whose index of sessions takes a question; undefined keeps it out (`--no-remember`). */
export type Memory = SessionOwner | undefined;

/** Records one question, once, as soon as its session is known. */
export type Recorder = (turn: Turn) => Promise<void>;

/** A failure is added to `warnings`, which are shown once the answer is drawn. */
export function createRecorder(
  context: Context,
  { secrets }: Output,
  memory: Memory,
  message: string,
  warnings: string[],
): Recorder {
  let done = memory === undefined;
  return async ({ sessionId, messageId }) => {
    if (done || memory === undefined || sessionId === null) return;
    done = true;
    // Loaded when the first text is drawn.
    const { recordQuestion, titleOf } = await import("./session-index.ts");
    const title = titleOf(secrets.redact(message));
    try {
      recordQuestion(context.env, memory, { sessionId, messageId, title, now: context.now() });
    } catch (error) {
      warnings.push(`the session is not remembered for --continue: ${messageOf(error)}`);
    }
  };
}

/**
 * Passes an answer on and records its question as soon as the service has named
 * its session and message: also an answer that is cut later can be found again.
 */
export async function* recorded(
  batches: AsyncIterable<Batch>,
  turn: Turn,
  record: Recorder,
): AsyncGenerator<Batch> {
  for await (const batch of batches) {
    // Drawn first: the first text need not wait for a disk.
    yield batch;
    // Without a message in it the session may not even exist.
    if (turn.messageId !== null) await record(turn);
  }
}
