import type { Output } from "../terminal/output.ts";
import { dim, joined, type Text } from "../terminal/text.ts";
import { openDrawing, rendersMarkdown, type RenderMode } from "./markdown.ts";
import type { Drawing } from "./markdown/document.ts";
import { shortenMarkers } from "./sources.ts";

/** Text as it is. Citation markers without a link are shortened to numbers; with `short` all markers. */
function createPlainDrawing(short: boolean): Drawing {
  let isOpen = false;
  let held = "";
  const leave = (): Text[] => {
    const parts = isOpen || held !== "" ? [held, "\n"] : [];
    held = "";
    isOpen = false;
    return parts;
  };
  return {
    async add(text) {
      const { parts, rest } = shortenMarkers(held + text, short);
      held = rest;
      if (parts.length > 0) isOpen = rest !== "" || !text.endsWith("\n");
      return parts;
    },
    leave,
    end: async () => leave(),
    get midRow() {
      return isOpen;
    },
  };
}

/**
 * Writes an answer to stdout and everything beside it to stderr, on separate lines if both are
 * the same terminal. Nothing is written before flush().
 */
export interface Pen {
  /** Adds answer text. It is drawn by the next settle(), endAnswer() or flush(). */
  answer(text: string): void;
  /** Draws the answer text so far. Call it before aside() and lines(). */
  settle(): Promise<void>;
  /** Adds streamed text for people. */
  aside(text: string): void;
  /** Adds complete lines, with their newlines. */
  lines(parts: readonly Text[]): void;
  /** Ends the answer: later text is a new answer. */
  endAnswer(): Promise<void>;
  /** Ends an unfinished line of streamed text. */
  endAside(): void;
  /** Writes everything, consecutive parts of one stream with one write. */
  flush(): Promise<void>;
  readonly midLine: boolean;
  readonly isEmpty: boolean;
}

/** Opens a pen; loads what draws the answer. `short`: shorten citation markers to their numbers. */
export async function openPen(output: Output, mode: RenderMode, short: boolean): Promise<Pen> {
  const drawing = rendersMarkdown(output, mode)
    ? await openDrawing(output, { shortensMarkers: short })
    : createPlainDrawing(short);
  let queue: { stream: "stdout" | "stderr"; parts: Text[] }[] = [];
  let pending = "";
  let openAside = false;
  // On a terminal, an empty line separates the answer from the activity above it.
  let isBelowAside = false;
  const put = (stream: "stdout" | "stderr", parts: readonly Text[]): void => {
    const last = queue.at(-1);
    if (parts.length === 0) return;
    if (last?.stream === stream) last.parts.push(joined(parts));
    else queue.push({ stream, parts: [joined(parts)] });
  };
  const settle = async (): Promise<void> => {
    const text = pending;
    pending = "";
    if (text !== "") put("stdout", await drawing.add(text));
  };
  const endAside = (): void => {
    if (openAside) put("stderr", ["\n"]);
    openAside = false;
  };
  const leaveAnswer = (): void => {
    if (output.isTerminal) put("stdout", drawing.leave());
    isBelowAside = true;
  };
  return {
    settle,
    endAside,
    answer(text) {
      if (text === "") return;
      endAside();
      if (isBelowAside && output.isTerminal) put("stdout", ["\n"]);
      isBelowAside = false;
      pending += text;
    },
    aside(text) {
      if (text === "" || (!openAside && text.trim() === "")) return;
      leaveAnswer();
      openAside = !text.endsWith("\n");
      put("stderr", openAside ? [dim(text)] : [dim(text.slice(0, -1)), "\n"]);
    },
    lines(parts) {
      if (parts.length === 0) return;
      leaveAnswer();
      endAside();
      put("stderr", parts);
    },
    async endAnswer() {
      await settle();
      put("stdout", await drawing.end());
    },
    async flush() {
      await settle();
      const ready = queue;
      queue = [];
      for (const { stream, parts } of ready) {
        if (stream === "stdout") await output.write(joined(parts));
        else await output.aside(joined(parts));
      }
    },
    get midLine() {
      return drawing.midRow || openAside;
    },
    get isEmpty() {
      return queue.length === 0 && pending === "";
    },
  };
}
