import type { Output } from "../terminal/output.ts";
import { dim, type Text } from "../terminal/text.ts";
import type { Drawing } from "./markdown/drawing.ts";
import { createDrawnInk, createPlainInk, createSegments } from "./segments.ts";

/** Buffers text for stdout and stderr; flush() writes it. */
export interface Pen {
  /** Adds answer text on stdout. */
  answer(text: string): void;
  /** Adds streamed text for people on stderr. */
  aside(text: string): void;
  /** Adds complete lines on stderr, with their newlines. */
  lines(parts: readonly Text[]): void;
  /** Ends the answer: later text is a new answer. */
  endAnswer(): void;
  /** Ends every unfinished line. */
  end(): void;
  /** Writes the buffered text, consecutive parts of one stream with one write. */
  flush(): Promise<void>;
  readonly midLine: boolean;
  readonly isEmpty: boolean;
}

export interface PenOptions {
  /** Shorten citation markers of the answer to their numbers; a drawing does that itself. */
  short: boolean;
  /** Draws the answer as Markdown; without it, the answer is written unchanged. */
  drawing?: Promise<Drawing> | undefined;
}

/** Keeps stdout and stderr on separate lines if both are the same terminal. */
export function createPen(output: Output, { short, drawing }: PenOptions): Pen {
  const segments = createSegments(output, drawing);
  const ink = drawing ? createDrawnInk(segments, drawing) : createPlainInk(segments, short);
  const { put } = segments;
  let openAside = false;
  // On a terminal, an empty line separates the answer from the activity above it.
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
