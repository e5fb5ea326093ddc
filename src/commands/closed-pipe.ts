import type { Context, Sink } from "../context.ts";
import { ClosedPipeError } from "../errors.ts";

/** Drops what is written after the reader has gone. */
function dropAfterClose(sink: Sink): Sink {
  return {
    ...sink,
    async write(text) {
      try {
        await sink.write(text);
      } catch (error) {
        if (!(error instanceof ClosedPipeError)) throw error;
      }
    },
  };
}

/**
 * The context of a check: it goes on when the reader of its output ends (`| head`), because its
 * exit code says what it found. Without this, a closed pipe ends a command with exit code 0.
 */
export function goOnAfterClosedPipe(context: Context): Context {
  return {
    ...context,
    stdout: dropAfterClose(context.stdout),
    stderr: dropAfterClose(context.stderr),
  };
}
