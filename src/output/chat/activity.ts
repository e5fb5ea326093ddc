import type { Place, TurnEvent } from "./turn/turn-event.ts";
import { neutraliseLine } from "../terminal/neutralise.ts";
import type { Pen } from "./pen.ts";
import { quiet } from "./previews.ts";
import { toolLines, toolName, type ToolView } from "./turn/tools.ts";

/** The part of a pen for dim text on stderr. */
export type QuietPen = Pick<Pen, "aside" | "lines">;

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
export function createActivity(view: ToolView) {
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
export function waitingFor(event: TurnEvent | undefined): string {
  return event?.type === "tool" ? toolName(event.tool, event.internet) : "waiting for the answer";
}
