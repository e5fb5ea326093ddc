import { neutraliseLine } from "../terminal/neutralise.ts";
import type { Output } from "../terminal/output.ts";
import type { Spinner } from "../terminal/spinner.ts";
import { bold, dim, joined, type Text } from "../terminal/text.ts";
import { createJsonRenderer, createNdjsonRenderer, createPacketsRenderer } from "./machine.ts";
import { answerHeading, answerSection, modelName, readerText, listSources } from "./sources.ts";
import { openPen, type Pen } from "./pen.ts";
import type { ChatRenderer, RenderOptions } from "./renderer.ts";
import { hasText, isStopped, turnsOf } from "./turn/answer.ts";
import type { Place, ToolEvent, TurnEvent } from "./turn/chat-events.ts";
import { toolLines, toolName, type ToolView } from "./turn/tools.ts";

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

/** A dim line for stderr. */
const quiet = (...parts: Text[]): Text[] => [dim(...parts), "\n"];

/** A streamed text of one kind at one place. */
interface StreamedText {
  place: Place;
  buffer: string;
  lines: number;
}

/** Writes parallel streamed texts line by line, each line with the label of its place. */
function createTexts(pen: Pen, all: boolean, labelOf: (place: Place) => string) {
  const streamed = new Map<string, StreamedText>();
  const writeLine = (text: StreamedText): void => {
    const line = neutraliseLine(text.buffer).trim();
    text.buffer = "";
    if (line === "") return;
    text.lines += 1;
    const label = labelOf(text.place);
    if (all || text.lines <= maxLines) pen.lines(quiet(label, line));
    else if (text.lines === maxLines + 1) pen.lines(quiet(label, restNote));
  };
  /** Writes the rest of the texts of a place; with `isClosed`, later text there is a new text. */
  const end = (place: Place, isClosed: boolean): void => {
    for (const [key, text] of streamed) {
      if (keyOf(text.place) !== keyOf(place)) continue;
      writeLine(text);
      if (isClosed) streamed.delete(key);
    }
  };
  return {
    end,
    add(kind: string, place: Place, piece: string): void {
      const key = `${keyOf(place)} ${kind}`;
      const text = streamed.get(key) ?? { place, buffer: "", lines: 0 };
      streamed.set(key, text);
      const [first = "", ...more] = piece.split("\n");
      text.buffer += first;
      for (const line of more) {
        writeLine(text);
        text.buffer = line;
      }
      if (text.buffer.length > maxBuffered) writeLine(text);
    },
    finish(): void {
      for (const text of streamed.values()) writeLine(text);
      streamed.clear();
    },
  };
}

/**
 * Shows everything besides the answer: reasoning, tools, documents, sub-agents.
 * Parallel texts are shown line by line with labels, so that they stay separate even
 * if their packets are mixed.
 */
function createActivity(pen: Pen, view: ToolView) {
  const labels = createLabels();
  const texts = createTexts(pen, view.all, labels.of);
  /** The running tool of each place, for a failure packet that does not name its tool. */
  const current = new Map<string, { tool: string; internet: boolean }>();
  let lastText = "";

  const run = (kind: string, place: Place, piece: string): void => {
    if (labels.of(place) !== "") return texts.add(kind, place, piece);
    const text = `${kind} ${keyOf(place)}`;
    if (text !== lastText) pen.aside("\n");
    lastText = text;
    pen.aside(piece);
  };

  const drawTool = (event: ToolEvent): void => {
    const { tool, step, place, internet = false } = event;
    labels.noteTool(place);
    if (step === "text") {
      if (view.show.has("tools")) run(tool ?? "tool", place, event.text ?? "");
      return;
    }
    if (step === "start" && tool !== null) current.set(keyOf(place), { tool, internet });
    const known = tool === null ? current.get(keyOf(place)) : undefined;
    const lines = toolLines(known ? { ...event, ...known } : event, view);
    if (lines.length > 0) texts.end(place, false);
    for (const line of lines) pen.lines(quiet(labels.of(place), ...line));
  };

  return {
    /** Shows an event; ignores events that are not activity. */
    draw(event: TurnEvent): void {
      if (event.type === "start") labels.noteText(event.place);
      else if (event.type === "branches") labels.branch(event.count);
      else if (event.type === "end") texts.end(event.place, true);
      else if (event.type === "tool") drawTool(event);
      else if (event.type === "reasoning" && view.show.has("reasoning")) {
        run("reasoning", event.place, event.text);
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
  const listed = turnsOf(turn).map((each) => ({ each, sources: listSources(each) }));
  const hasSources = listed.some(
    ({ sources: { cited, retrieved } }) => cited.length + retrieved.length > 0,
  );
  if (!hasSources) return;
  const { linesOfSources } = await import("./source-lines.ts");
  const lines = listed.flatMap(({ each, sources }) => {
    const own = linesOfSources(sources, show.has("documents") ? limit : 0, width);
    return own.length > 0 && turn.others.length > 0 ? [[bold(modelName(each))], ...own] : own;
  });
  if (lines.length === 0) return;
  const text = lines.flatMap((line): Text[] => [...line, "\n"]);
  if (output.isTerminal) await output.write("\n", joined(text));
  else await output.aside(joined(text));
}

/** Draws single events; tracks whether the answer has been written. */
function createAnswer(pen: Pen, { turn, live, fileUrl }: RenderOptions) {
  let written = false;
  const writeHeld = (): void => {
    if (!written) pen.answer(readerText(turn, fileUrl));
    written = true;
  };
  return {
    /** Shows an event; false for an event that is not about the answer. */
    async draw(event: TurnEvent): Promise<boolean> {
      if (event.type === "text" && live) {
        if (!written && turn.others.length > 0) pen.answer(answerHeading(turn));
        written = true;
        pen.answer(event.text);
      } else if (event.type === "stop" && !live && turn.others.length === 0) writeHeld();
      else if (event.type === "interim" && live && event.text.trim() !== "") {
        await pen.endAnswer();
        pen.lines(quiet(interimMark));
      } else return false;
      return true;
    },
    /** Writes what was not shown live: images and files, and the answers of further models. */
    writeRest(): void {
      // The text shown so far was interim: it is not part of the answer.
      if (live && !hasText(turn.answer)) written = false;
      if (!live || !hasText(turn.answer)) return writeHeld();
      for (const other of turn.others) pen.answer(`\n\n${answerSection(other, fileUrl).trimEnd()}`);
    },
  };
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
  const open = async () => {
    // Without a list of sources, the reader needs the link in the marker.
    const pen = await openPen(output, options.render ?? "auto", output.isTerminal && sources);
    return { pen, answer: createAnswer(pen, options), activity: createActivity(pen, options) };
  };
  // Loaded while the answer is pending; show() meets a failure.
  const opening = open();
  opening.catch(() => {});
  return {
    async show(events) {
      const { pen, answer, activity } = await opening;
      for (const event of events) {
        // Only the first model's activity: those of parallel models would be mixed.
        if ((event.model ?? 0) > 0) continue;
        if (event.type !== "text") await pen.settle();
        if (!(await answer.draw(event))) activity.draw(event);
      }
      const isOver = isStopped(turn) && turn.others.length === 0;
      // Look-ups follow: the spinner needs a row of its own.
      if (isOver && output.isTerminal) await pen.endAnswer();
      if (!isOver && pen.isEmpty) return;
      await spinner.stop();
      await pen.flush();
      if (pen.midLine) return;
      if (isOver) spinner.start("checking what the service made of the question");
      else if (!isStopped(turn)) spinner.start(waitingFor(events.at(-1)));
    },
    async finish(outcome) {
      const { pen, answer, activity } = await opening;
      await spinner.stop();
      activity.finish();
      answer.writeRest();
      await pen.endAnswer();
      pen.endAside();
      const leftOut = !live && turn.interim.some((text) => text.trim() !== "");
      if (leftOut && show.has("tools")) pen.lines(quiet(leftOutNote));
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
