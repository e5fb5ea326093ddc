import type { Output } from "../output.ts";
import { dim, type Text } from "../text.ts";
import { shortenMarkers } from "./markers.ts";

export interface Pen {
  /** Answer text on stdout. */
  answer(text: string): void;
  /** Running text for people on stderr. */
  aside(text: string): void;
  /** Finished lines on stderr, with their newlines. */
  lines(parts: readonly Text[]): void;
  /** Ends an unfinished line of the answer. */
  endAnswer(): void;
  /** Ends every unfinished line. */
  end(): void;
  /** Writes what was collected: one write as long as the stream stays the same. */
  flush(): Promise<void>;
  readonly midLine: boolean;
  readonly isEmpty: boolean;
}

/**
 * Keeps the two streams from sharing a line where both are the same terminal.
 * With `short` the citation markers of the answer are shown as their numbers.
 */
export function createPen(output: Output, short: boolean): Pen {
  let segments: { stream: "stdout" | "stderr"; parts: Text[] }[] = [];
  let openAnswer = false;
  let openAside = false;
  let heldMarker = "";
  const put = (stream: "stdout" | "stderr", ...parts: Text[]): void => {
    const last = segments.at(-1);
    if (last?.stream === stream) last.parts.push(...parts);
    else segments.push({ stream, parts });
  };
  const endAside = (): void => {
    if (openAside) put("stderr", "\n");
    openAside = false;
  };
  const endAnswer = (): void => {
    if (heldMarker !== "") {
      put("stdout", heldMarker);
      heldMarker = "";
      openAnswer = true;
    }
    if (openAnswer) put("stdout", "\n");
    openAnswer = false;
  };
  return {
    answer(text) {
      if (text === "") return;
      endAside();
      const { parts, rest } = short
        ? shortenMarkers(heldMarker + text)
        : { parts: [text], rest: "" };
      heldMarker = rest;
      if (parts.length === 0) return;
      put("stdout", ...parts);
      openAnswer = rest !== "" || !text.endsWith("\n");
    },
    aside(text) {
      if (text === "" || (!openAside && text.trim() === "")) return;
      if (output.isTerminal) endAnswer();
      openAside = !text.endsWith("\n");
      if (openAside) put("stderr", dim(text));
      else put("stderr", dim(text.slice(0, -1)), "\n");
    },
    lines(parts) {
      if (parts.length === 0) return;
      if (output.isTerminal) endAnswer();
      endAside();
      put("stderr", ...parts);
    },
    endAnswer,
    end() {
      endAnswer();
      endAside();
    },
    async flush() {
      const ready = segments;
      segments = [];
      for (const { stream, parts } of ready) {
        if (stream === "stdout") await output.write(...parts);
        else await output.aside(...parts);
      }
    },
    get midLine() {
      return openAnswer || openAside;
    },
    get isEmpty() {
      return segments.length === 0;
    },
  };
}
