import type { Output } from "../terminal/output.ts";
import { dim, type Text, joined } from "../terminal/text.ts";
import type { Drawing } from "./markdown/drawing.ts";
import { shortenMarkers } from "./markers.ts";

type Stream = "stdout" | "stderr";

interface Step {
  step: "add" | "leave" | "end";
  text: string;
}

/** Queue of output: finished text, or a step of an answer that is drawn at flush(). */
export interface Segments {
  put(stream: Stream, ...parts: Text[]): void;
  step(step: Step["step"], text?: string): void;
  /** Writes everything; consecutive parts of one stream with one write. */
  flush(): Promise<void>;
  readonly isEmpty: boolean;
}

async function draw(drawing: Promise<Drawing> | undefined, { step, text }: Step): Promise<Text[]> {
  const loaded = await drawing;
  return (await (step === "add" ? loaded?.add(text) : loaded?.[step]())) ?? [];
}

function createSegments(output: Output, drawing: Promise<Drawing> | undefined): Segments {
  let segments: ({ stream: Stream; parts: Text[] } | Step)[] = [];
  return {
    get isEmpty() {
      return segments.length === 0;
    },
    put(stream, ...parts) {
      const last = segments.at(-1);
      if (last && "stream" in last && last.stream === stream) last.parts.push(...parts);
      else segments.push({ stream, parts });
    },
    step(step, text = "") {
      const last = segments.at(-1);
      if (step === "add" && last && "step" in last && last.step === step) last.text += text;
      else segments.push({ step, text });
    },
    async flush() {
      const ready = segments;
      segments = [];
      let answer: Text[] = [];
      const write = async (): Promise<void> => {
        if (answer.length > 0) await output.write(joined(answer));
        answer = [];
      };
      for (const segment of ready) {
        if ("step" in segment) answer.push(joined(await draw(drawing, segment)));
        else if (segment.stream === "stdout") answer.push(joined(segment.parts));
        else {
          await write();
          await output.aside(joined(segment.parts));
        }
      }
      await write();
    },
  };
}

/** Writes an answer's text to stdout. */
export interface Ink {
  add(text: string): void;
  /** Ends an unfinished line, because other output follows. */
  leave(): void;
  /** Ends the answer: later text is a new answer. */
  end(): void;
  readonly midLine: boolean;
}

/** Plain text. Citation markers without a link are shortened to numbers; with `short` all markers. */
function createPlainInk({ put }: Segments, short: boolean): Ink {
  let isOpen = false;
  let heldMarker = "";
  const leave = (): void => {
    if (heldMarker !== "") put("stdout", heldMarker);
    if (isOpen || heldMarker !== "") put("stdout", "\n");
    heldMarker = "";
    isOpen = false;
  };
  return {
    add(text) {
      const { parts, rest } = shortenMarkers(heldMarker + text, short);
      heldMarker = rest;
      if (parts.length === 0) return;
      put("stdout", ...parts);
      isOpen = rest !== "" || !text.endsWith("\n");
    },
    leave,
    end: leave,
    get midLine() {
      return isOpen;
    },
  };
}

/** Text drawn as Markdown; the drawing code is loaded while the answer is pending. */
function createDrawnInk({ step }: Segments, drawing: Promise<Drawing>): Ink {
  let isStarted = false;
  let loaded: Drawing | undefined;
  // draw() handles a failure to load.
  drawing.then(
    (each) => (loaded = each),
    () => {},
  );
  return {
    add(text) {
      isStarted = true;
      step("add", text);
    },
    leave() {
      if (isStarted) step("leave");
    },
    end() {
      if (isStarted) step("end");
      isStarted = false;
    },
    get midLine() {
      return loaded?.midRow === true;
    },
  };
}

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
