import type { Output } from "../terminal/output.ts";
import { dim, type Text } from "../terminal/text.ts";
import type { Drawing } from "./markdown/drawing.ts";
import { createDrawnInk, createPlainInk, createSegments } from "./segments.ts";

export interface Pen {
  /** Answer text on stdout. */
  answer(text: string): void;
  /** Running text for people on stderr. */
  aside(text: string): void;
  /** Finished lines on stderr, with their newlines. */
  lines(parts: readonly Text[]): void;
  /** Ends the answer: text that comes after it is another one. */
  endAnswer(): void;
  /** Ends every unfinished line. */
  end(): void;
  /** Writes what was collected: one write as long as the stream stays the same. */
  flush(): Promise<void>;
  readonly midLine: boolean;
  readonly isEmpty: boolean;
}

export interface PenOptions {
  /** Citation markers of the answer are shown as their numbers; a drawing does that itself. */
  short: boolean;
  /** Draws the answer as Markdown; else it is written as it is. */
  drawing?: Promise<Drawing> | undefined;
}

/** Keeps the two streams from sharing a line where both are the same terminal. */
export function createPen(output: Output, { short, drawing }: PenOptions): Pen {
  const segments = createSegments(output, drawing);
  const ink = drawing ? createDrawnInk(segments, drawing) : createPlainInk(segments, short);
  const { put } = segments;
  let openAside = false;
  // On a terminal the answer stands apart from what the service did for it.
  let isBelowAside = false;
  const endAside = (): void => {
    if (openAside) put("stderr", "\n");
    openAside = false;
  };
  return {
    answer(text) {
      if (text === "") return;
      endAside();
      if (isBelowAside && output.isTerminal) put("stdout", "\n");
      isBelowAside = false;
      ink.add(text);
    },
    aside(text) {
      if (text === "" || (!openAside && text.trim() === "")) return;
      if (output.isTerminal) ink.leave();
      isBelowAside = true;
      openAside = !text.endsWith("\n");
      if (openAside) put("stderr", dim(text));
      else put("stderr", dim(text.slice(0, -1)), "\n");
    },
    lines(parts) {
      if (parts.length === 0) return;
      if (output.isTerminal) ink.leave();
      endAside();
      isBelowAside = true;
      put("stderr", ...parts);
    },
    endAnswer: () => ink.end(),
    end() {
      ink.end();
      endAside();
    },
    flush: () => segments.flush(),
    get midLine() {
      return ink.midLine || openAside;
    },
    get isEmpty() {
      return segments.isEmpty;
    },
  };
}
