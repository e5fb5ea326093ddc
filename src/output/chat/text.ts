import type { Output } from "../output.ts";
import type { Spinner } from "../spinner.ts";
import { dim, type Text } from "../text.ts";
import type { Turn } from "./answer.ts";
import type { TurnEvent } from "./events.ts";
import type { ChatRenderer, RenderOptions } from "./render.ts";
import { sourceLines } from "./sources.ts";
import { toolLines, toolName } from "./tools.ts";

interface Pen {
  /** Answer text on stdout. */
  answer(text: string): void;
  /** Running text for people on stderr. */
  aside(text: string): void;
  /** Finished lines on stderr; each ends in a newline. */
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

/** Keeps the two streams from sharing a line where both are the same terminal. */
function createPen(output: Output): Pen {
  let segments: { stream: "stdout" | "stderr"; parts: Text[] }[] = [];
  let openAnswer = false;
  let openAside = false;
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
    if (openAnswer) put("stdout", "\n");
    openAnswer = false;
  };
  return {
    answer(text) {
      if (text === "") return;
      endAside();
      put("stdout", text);
      openAnswer = !text.endsWith("\n");
    },
    aside(text) {
      if (text === "" || (!openAside && text.trim() === "")) return;
      if (output.isTerminal) endAnswer();
      put("stderr", dim(text));
      openAside = !text.endsWith("\n");
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

const interimMark = dim("(interim: a tool follows, the text above is not part of the answer)\n");
const leftOutNote = dim("text that came before a tool ran is left out (--live shows it)\n");
const mostRetrieved = 10;

function waitingFor(event: TurnEvent | undefined): string {
  return event?.type === "tool" ? toolName(event.tool, event.internet) : "waiting for the answer";
}

// Off a terminal stdout is the answer alone.
async function writeSources(output: Output, turn: Turn, all: boolean): Promise<void> {
  const lines = sourceLines(turn, all ? Number.POSITIVE_INFINITY : mostRetrieved);
  if (lines.length === 0) return;
  const text = lines.flatMap((line): Text[] => [...line, "\n"]);
  if (output.isTerminal) await output.write("\n", ...text);
  else await output.aside(...text);
}

/**
 * The renderer for people. With `live` the answer is written as it comes and
 * text that a tool follows is marked; else nothing is written before the stop
 * packet says that the text is the answer.
 */
export function createTextRenderer(
  output: Output,
  spinner: Spinner,
  options: RenderOptions,
): ChatRenderer {
  const { turn, live, show, sources, all } = options;
  const pen = createPen(output);
  let written = false;
  let branches = 1;

  const writeHeld = (): void => {
    if (live || written) return;
    written = true;
    pen.answer(turn.answer);
  };

  const draw = (event: TurnEvent): void => {
    if (event.type === "text" && live) pen.answer(event.text);
    else if (event.type === "reasoning" && show.has("reasoning")) pen.aside(event.text);
    else if (event.type === "branches") branches = event.count;
    else if (event.type === "stop") writeHeld();
    else if (event.type === "interim" && live && event.text.trim() !== "") {
      pen.endAnswer();
      pen.lines([interimMark]);
    } else if (event.type === "tool") {
      if (event.step === "text" && show.has("tools")) pen.aside(event.text ?? "");
      pen.lines(toolLines(event, show, branches, all));
    }
  };

  return {
    async show(events) {
      for (const event of events) draw(event);
      if (pen.isEmpty) return;
      await spinner.stop();
      await pen.flush();
      if (!turn.stopped && !pen.midLine) spinner.start(waitingFor(events.at(-1)));
    },
    async finish(outcome) {
      await spinner.stop();
      writeHeld();
      pen.end();
      const leftOut = !live && turn.interim.some((text) => text.trim() !== "");
      if (leftOut && show.has("tools")) pen.lines([leftOutNote]);
      await pen.flush();
      if (outcome.status === "ok" && sources) await writeSources(output, turn, all);
      await output.flush();
    },
  };
}
