import type { Output } from "../terminal/output.ts";
import { joined, type Text } from "../terminal/text.ts";
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

export function createSegments(output: Output, drawing: Promise<Drawing> | undefined): Segments {
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
export function createPlainInk({ put }: Segments, short: boolean): Ink {
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
export function createDrawnInk({ step }: Segments, drawing: Promise<Drawing>): Ink {
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
