import type { Context } from "../../../context.ts";
import { messageOf } from "../../../errors.ts";
import type { Turn } from "../../../output/chat/turn/answer.ts";
import type { Output } from "../../../output/terminal/output.ts";
import type { Batch } from "../send.ts";
import type { SessionOwner } from "./session-index.ts";

/** Owner of the session index that records a question; undefined: not recorded (`--no-remember`). */
export type Memory = SessionOwner | undefined;

/** Records one question once, when its session is known. */
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
    // Loaded after the first text is drawn.
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
 * Forwards the batches. Records the question as soon as its session and message are known,
 * so that an answer that is cut later can be found again.
 */
export async function* recorded(
  batches: AsyncIterable<Batch>,
  turn: Turn,
  record: Recorder,
): AsyncGenerator<Batch> {
  for await (const batch of batches) {
    // Drawn first: the first text does not wait for a disk.
    yield batch;
    // Without a message, the session may not exist.
    if (turn.messageId !== null) await record(turn);
  }
}
