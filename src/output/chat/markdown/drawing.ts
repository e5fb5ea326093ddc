import type { Output } from "../../terminal/output.ts";
import type { Text } from "../../terminal/text.ts";
import { createDocument, type Document } from "./document.ts";
import type { Reader } from "./reader.ts";

/** Draws a text as it comes. What its functions return goes to `output.write`, at once and in order. */
export interface Drawing {
  /** A piece of the text. */
  add(text: string): Promise<Text[]>;
  /** Leaves the current row, because something else is about to be written below it. */
  leave(): Text[];
  /** The end of the text; what is added after it is a text of its own. */
  end(): Promise<Text[]>;
  /** An unfinished row stands on the terminal. */
  readonly midRow: boolean;
}

export interface DrawingOptions {
  /** Citation markers `[[1]](…)` become `[1]` without an address: the sources have that. */
  shortensMarkers: boolean;
}

/**
 * Draws Markdown for `output`, which must be written to by nobody else while a
 * row is unfinished (`midRow`). Text is redacted before it is laid out: a secret
 * that stands in two rows would not be found by the gate.
 */
export function createDrawing(output: Output, { shortensMarkers }: DrawingOptions): Drawing {
  const { secrets, hasColour, hasLinks, canRedraw } = output;
  const terminal = { columns: () => output.columns(), canRedraw };
  let createPainter: Reader["painters"] | undefined;
  const begin = (): Document =>
    createDocument(terminal, { hasColour, hasLinks, shortensMarkers }, (language) =>
      createPainter?.(language),
    );
  let document = begin();
  let held = "";
  let tail = "";
  const feed = async (text: string): Promise<void> => {
    tail += text;
    // Languages are many and seldom needed: they are loaded when the first fence comes.
    if (hasColour && /`{3}|~{3}/.test(tail)) {
      createPainter ??= (await import("./code.ts")).createPainter;
    }
    tail = tail.slice(-2);
    document.feed(text);
  };
  return {
    async add(text) {
      const all = held + text;
      const end = all.length - secrets.openTail(all);
      held = all.slice(end);
      await feed(secrets.redact(all.slice(0, end)));
      return document.take();
    },
    leave: () => document.leave(),
    async end() {
      const rest = secrets.redactLast(held);
      held = "";
      await feed(rest);
      document.end();
      const parts = document.take();
      document = begin();
      tail = "";
      return parts;
    },
    get midRow() {
      return document.midRow;
    },
  };
}
