import type { Output } from "../../terminal/output.ts";
import type { Text } from "../../terminal/text.ts";
import { createDocument, type Document } from "./document.ts";
import type { createPainter as CreatePainter } from "./code.ts";

/** Draws a streamed text. Pass the returned texts to `output.write` at once and in order. */
export interface Drawing {
  /** Adds a piece of the text. */
  add(text: string): Promise<Text[]>;
  /** Leaves the current row, because other output follows below it. */
  leave(): Text[];
  /** Ends the text; later text is a new one. */
  end(): Promise<Text[]>;
  /** An unfinished row is on the terminal. */
  readonly midRow: boolean;
}

export interface DrawingOptions {
  /** Shorten citation markers `[[1]](…)` to `[1]`, because the list of sources has the address. */
  shortensMarkers: boolean;
}

/**
 * Draws Markdown for `output`. While a row is unfinished (`midRow`), nothing else may
 * write to `output`. Text is redacted before layout: the gate cannot find a secret that
 * is wrapped over two rows.
 */
export function createDrawing(output: Output, { shortensMarkers }: DrawingOptions): Drawing {
  const { secrets, hasColour, hasLinks, canRedraw } = output;
  const terminal = { columns: () => output.columns(), canRedraw };
  let createPainter: typeof CreatePainter | undefined;
  const startDocument = (): Document =>
    createDocument(terminal, { hasColour, hasLinks, shortensMarkers }, (language) =>
      createPainter?.(language),
    );
  let document = startDocument();
  let held = "";
  let tail = "";
  const feed = async (text: string): Promise<void> => {
    tail += text;
    // The parsers are large and rarely needed: they are loaded at the first fence.
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
      document = startDocument();
      tail = "";
      return parts;
    },
    get midRow() {
      return document.midRow;
    },
  };
}
