import type { ChatRenderer, RenderOptions } from "./renderer.ts";
import type { Output } from "../terminal/output.ts";
import type { Spinner } from "../terminal/spinner.ts";
import { createJsonRenderer, createNdjsonRenderer, createPacketsRenderer } from "./machine.ts";
import type { TurnEvent, Place } from "./turn/turn-event.ts";
import { bold, dim, joined, type Text } from "../terminal/text.ts";
import { hasText, isStopped, turnsOf } from "./turn/answer.ts";
import { answerHeading, answerSection, modelName, readerText } from "./made.ts";
import { openDrawing, rendersMarkdown } from "./markdown.ts";
import { createPen, type Pen } from "./pen.ts";
import { listSources } from "./sources.ts";
import { neutraliseLine } from "../terminal/neutralise.ts";
import { quiet } from "./previews.ts";
import { toolLines, toolName, type ToolView } from "./turn/tools.ts";

/** The part of a pen for dim text on stderr. */
type QuietPen = Pick<Pen, "aside" | "lines">;

const maxLines = 20;
const restNote = "… (--show all shows the rest)";
/** A streamed text without a line break is broken after this length, to bound the buffer. */
const maxBuffered = 2000;

const keyOf = ({ turn, tab, sub }: Place): string => `${turn}.${tab}.${sub ?? ""}`;

/**
 * Short labels for parallel activity: `[2]` for the second of parallel tools,
 * `[2.1]` for the first step of a sub-agent in it; empty without parallel activity.
 */
function createLabels() {
  let branches = 1;
  // Turn of the parallel tools: the first turn with a tool after the branching packet.
  let turn: number | undefined;
  /** Turn of the last text: it has tab 0, so that the first tool of its step has tab 1. */
  let textTurn: number | undefined;
  return {
    noteText(place: Place): void {
      if (place.sub === null && place.tab === 0) textTurn = place.turn;
    },
    branch(count: number): void {
      branches = count;
      turn = undefined;
    },
    /** Sets the turn of the parallel tools from the place of a tool. */
    noteTool(place: Place): void {
      if (branches > 1) turn ??= place.turn;
    },
    of(place: Place): string {
      const tab = place.tab + (place.tab > 0 && place.turn === textTurn ? 0 : 1);
      const isParallel = tab > 1 || (branches > 1 && place.turn === turn);
      if (place.sub !== null) return `[${tab}.${place.sub + 1}] `;
      return isParallel ? `[${tab}] ` : "";
    },
  };
}

/** A streamed text of one kind at one place. */
interface StreamedText {
  place: Place;
  buffer: string;
  lines: number;
}

/** Writes parallel streamed texts line by line, each line with the label of its place. */
function createTexts(all: boolean, labelOf: (place: Place) => string) {
  const streamed = new Map<string, Map<string, StreamedText>>();
  const writeLine = (pen: QuietPen, text: StreamedText): void => {
    const line = neutraliseLine(text.buffer).trim();
    text.buffer = "";
    if (line === "") return;
    text.lines += 1;
    const label = labelOf(text.place);
    if (all || text.lines <= maxLines) pen.lines(quiet(label, line));
    else if (text.lines === maxLines + 1) pen.lines(quiet(label, restNote));
  };
  return {
    add(pen: QuietPen, kind: string, place: Place, piece: string): void {
      const here = streamed.get(keyOf(place)) ?? new Map<string, StreamedText>();
      streamed.set(keyOf(place), here);
      const text = here.get(kind) ?? { place, buffer: "", lines: 0 };
      here.set(kind, text);
      const [first = "", ...more] = piece.split("\n");
      text.buffer += first;
      for (const line of more) {
        writeLine(pen, text);
        text.buffer = line;
      }
      if (text.buffer.length > maxBuffered) writeLine(pen, text);
    },
    end(pen: QuietPen, place: Place): void {
      for (const text of streamed.get(keyOf(place))?.values() ?? []) writeLine(pen, text);
    },
    /** Ends the texts of a place; later text there is a new text. */
    close(pen: QuietPen, place: Place): void {
      this.end(pen, place);
      streamed.delete(keyOf(place));
    },
    finish(pen: QuietPen): void {
      for (const here of streamed.values()) for (const text of here.values()) writeLine(pen, text);
      streamed.clear();
    },
  };
}

type ToolStep = Extract<TurnEvent, { type: "tool" }>;

/**
 * Shows everything besides the answer: reasoning, tools, documents, sub-agents.
 * Parallel texts are shown line by line with labels, so that they stay separate even
 * if their packets are mixed.
 */
function createActivity(view: ToolView) {
  const labels = createLabels();
  const texts = createTexts(view.all, labels.of);
  /** The running tool of each place, for a failure packet that does not name its tool. */
  const current = new Map<string, { tool: string; internet: boolean }>();
  let lastText = "";

  const run = (pen: QuietPen, kind: string, place: Place, piece: string): void => {
    if (labels.of(place) !== "") return texts.add(pen, kind, place, piece);
    const text = `${kind} ${keyOf(place)}`;
    if (text !== lastText) pen.aside("\n");
    lastText = text;
    pen.aside(piece);
  };

  const drawTool = (event: ToolStep, pen: QuietPen): void => {
    const { tool, step, place, internet = false } = event;
    labels.noteTool(place);
    if (step === "text") {
      if (view.show.has("tools")) run(pen, tool ?? "tool", place, event.text ?? "");
      return;
    }
    if (step === "start" && tool !== null) current.set(keyOf(place), { tool, internet });
    const known = tool === null ? current.get(keyOf(place)) : undefined;
    const lines = toolLines(known ? { ...event, ...known } : event, view);
    if (lines.length > 0) texts.end(pen, place);
    for (const line of lines) pen.lines(quiet(labels.of(place), ...line));
  };

  return {
    /** Shows an event; ignores events that are not activity. */
    draw(event: TurnEvent, pen: QuietPen): void {
      if (event.type === "start") labels.noteText(event.place);
      else if (event.type === "branches") labels.branch(event.count);
      else if (event.type === "end") texts.close(pen, event.place);
      else if (event.type === "tool") drawTool(event, pen);
      else if (event.type === "reasoning" && view.show.has("reasoning")) {
        run(pen, "reasoning", event.place, event.text);
      }
    },
    /** Writes the buffered rest of all texts at the end of the turn. */
    finish: texts.finish,
  };
}

/** Current activity, as text for the spinner. */
function waitingFor(event: TurnEvent | undefined): string {
  return event?.type === "tool" ? toolName(event.tool, event.internet) : "waiting for the answer";
}

const interimMark = "(interim: a tool follows, the text above is not part of the answer)";
const leftOutNote = "text before tool calls is not shown (--live shows it)";
const maxRetrieved = 10;

// If stdout is not a terminal, it contains only the answer; sources go to stderr.
async function writeSources(output: Output, { turn, show, all }: RenderOptions): Promise<void> {
  const limit = all ? Number.POSITIVE_INFINITY : maxRetrieved;
  const width = output.isTerminal ? output.columns() : Number.POSITIVE_INFINITY;
  const hasSources = turnsOf(turn).some((each) => {
    const { cited, retrieved } = listSources(each);
    return cited.length + retrieved.length > 0;
  });
  if (!hasSources) return;
  const { sourceLines } = await import("./source-lines.ts");
  const lines = turnsOf(turn).flatMap((each) => {
    const own = sourceLines(each, show.has("documents") ? limit : 0, width);
    return own.length > 0 && turn.others.length > 0 ? [[bold(modelName(each))], ...own] : own;
  });
  if (lines.length === 0) return;
  const text = lines.flatMap((line): Text[] => [...line, "\n"]);
  if (output.isTerminal) await output.write("\n", joined(text));
  else await output.aside(joined(text));
}

/** Draws single events; tracks whether the answer has been written. */
function createDrawing(pen: Pen, options: RenderOptions) {
  const { turn, live, fileUrl } = options;
  const activity = createActivity(options);
  let written = false;
  const writeHeld = (): void => {
    if (written) return;
    written = true;
    pen.answer(readerText(turn, fileUrl));
  };
  const drawLive = (text: string): void => {
    if (!written && turn.others.length > 0) pen.answer(answerHeading(turn));
    written = true;
    pen.answer(text);
  };
  /** Writes what was not shown live: images and files, and the answers of further models. */
  const writeRest = (): void => {
    // The text shown so far was interim: it is not part of the answer.
    if (live && !hasText(turn.answer)) written = false;
    if (!live || !hasText(turn.answer)) return writeHeld();
    for (const other of turn.others) pen.answer(`\n\n${answerSection(other, fileUrl).trimEnd()}`);
  };
  const draw = (event: TurnEvent): void => {
    // Only the first model's activity: those of parallel models would be mixed.
    if ((event.model ?? 0) > 0) return;
    if (event.type === "text" && live) drawLive(event.text);
    else if (event.type === "stop" && !live && turn.others.length === 0) writeHeld();
    else if (event.type === "interim" && live && event.text.trim() !== "") {
      pen.endAnswer();
      pen.lines([dim(interimMark), "\n"]);
    } else activity.draw(event, pen);
  };
  return { draw, writeRest, finish: () => activity.finish(pen) };
}

/**
 * The renderer for people. With `live`, text is written at once, and text before a tool
 * call is marked as interim. Else text is written only after the stop packet confirms
 * that it is the answer.
 */
function createTextRenderer(
  output: Output,
  spinner: Spinner,
  options: RenderOptions,
): ChatRenderer {
  const { turn, live, show, sources } = options;
  // Without a list of sources, the reader needs the link in the marker.
  const short = output.isTerminal && sources;
  const pen = createPen(output, {
    short,
    drawing: rendersMarkdown(output, options.render)
      ? openDrawing(output, { shortensMarkers: short })
      : undefined,
  });
  const { draw, writeRest, finish } = createDrawing(pen, options);
  return {
    async show(events) {
      for (const event of events) draw(event);
      if (pen.isEmpty) return;
      await spinner.stop();
      await pen.flush();
      if (!isStopped(turn) && !pen.midLine) spinner.start(waitingFor(events.at(-1)));
    },
    async finish(outcome) {
      await spinner.stop();
      finish();
      writeRest();
      pen.end();
      const leftOut = !live && turn.interim.some((text) => text.trim() !== "");
      if (leftOut && show.has("tools")) pen.lines([dim(leftOutNote), "\n"]);
      await pen.flush();
      if (outcome.status === "ok" && sources) await writeSources(output, options);
      await output.flush();
    },
  };
}

type CreateRenderer = (output: Output, spinner: Spinner, options: RenderOptions) => ChatRenderer;

/** The formats of `chat --output`. */
export const chatRenderers = {
  text: createTextRenderer,
  json: createJsonRenderer,
  ndjson: createNdjsonRenderer,
  packets: createPacketsRenderer,
} as const satisfies Record<string, CreateRenderer>;

export type ChatFormat = keyof typeof chatRenderers;
