import type { Context } from "../../../context.ts";
import { createInputReader, type Input } from "../../../output/terminal/keys.ts";

/** The terminal's keys, one by one. */
export interface Keyboard {
  /** Returns the terminal to the shell until the job is in the foreground again. */
  suspend(): Promise<void>;
  /** Restores the terminal's modes. */
  close(): void;
}

export interface KeyboardListener {
  onInput(input: Input): void;
  onResize(): void;
  /** The input has ended: the terminal was closed. */
  onEnd(): void;
}

const bracketedPasteOn = "\u001b[?2004h";
const bracketedPasteOff = "\u001b[?2004l";

/** Reads the terminal's keys until it is closed. */
export function openKeyboard(context: Context, listener: KeyboardListener): Keyboard {
  const { stream } = context.stdin;
  const terminal = context.terminal?.();
  const acquireKeys = (): (() => void) =>
    terminal?.takeKeys(bracketedPasteOn, bracketedPasteOff) ?? (() => {});
  let releaseKeys = acquireKeys();
  const readInputs = createInputReader();
  const onData = (chunk: Uint8Array): void => {
    for (const input of readInputs(chunk)) listener.onInput(input);
  };
  const onEnd = (): void => listener.onEnd();
  stream.on("data", onData).on("end", onEnd).on("error", onEnd).on("close", onEnd);
  // A question asked before (trust, a folder) has paused the stream; a listener does not resume it.
  stream.resume();
  const stopResizing = terminal?.onResize(() => listener.onResize());
  return {
    async suspend() {
      if (!terminal) return;
      releaseKeys();
      await terminal.suspend();
      releaseKeys = acquireKeys();
    },
    close() {
      stopResizing?.();
      stream.off("data", onData).off("end", onEnd).off("close", onEnd);
      // The error listener stays: a late error must not be thrown.
      stream.pause();
      releaseKeys();
    },
  };
}
