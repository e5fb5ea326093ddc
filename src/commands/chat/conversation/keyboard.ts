import type { Context } from "../../../context.ts";
import { createKeyReader, type Key } from "../../../output/terminal/editor/keys.ts";

/** The terminal's keys, one by one. */
export interface Keyboard {
  /** Hands the terminal back to the shell until the job is in the foreground again. */
  suspend(): Promise<void>;
  /** Leaves the terminal as it was. */
  close(): void;
}

export interface KeyboardListener {
  onKey(key: Key): void;
  onResize(): void;
  /** Nothing more will come: the terminal has gone. */
  onEnd(): void;
}

const bracketedPasteOn = "\u001b[?2004h";
const bracketedPasteOff = "\u001b[?2004l";

/** Takes the keys of the terminal until it is closed. */
export function openKeyboard(context: Context, listener: KeyboardListener): Keyboard {
  const { stream } = context.stdin;
  const terminal = context.terminal?.();
  const take = (): (() => void) =>
    terminal?.takeKeys(bracketedPasteOn, bracketedPasteOff) ?? (() => {});
  let giveBack = take();
  const readKeys = createKeyReader();
  const onData = (chunk: Uint8Array): void => {
    for (const key of readKeys(chunk)) listener.onKey(key);
  };
  const onEnd = (): void => listener.onEnd();
  stream.on("data", onData).on("end", onEnd).on("error", onEnd).on("close", onEnd);
  const stopResizing = terminal?.onResize(() => listener.onResize());
  return {
    async suspend() {
      if (!terminal) return;
      giveBack();
      await terminal.suspend();
      giveBack = take();
    },
    close() {
      stopResizing?.();
      stream.off("data", onData).off("end", onEnd).off("close", onEnd);
      // An error that comes late must not be thrown: its listener stays.
      stream.pause();
      giveBack();
    },
  };
}
