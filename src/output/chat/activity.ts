import type { Place, TurnEvent } from "./turn/turn-event.ts";
import { neutraliseLine } from "../terminal/neutralise.ts";
import type { Pen } from "./pen.ts";
import { quiet } from "./previews.ts";
import { toolLines, toolName, type ToolView } from "./turn/tools.ts";

/** Where quiet text goes. */
export type QuietPen = Pick<Pen, "aside" | "lines">;

const longestText = 20;
const restNote = "… (--show all shows the rest)";
/** A running text without a line break is broken here, so that no branch holds back much. */
const longestHeld = 2000;

const keyOf = ({ turn, tab, sub }: Place): string => `${turn}.${tab}.${sub ?? ""}`;

/**
 * Short labels for what runs at the same time: `[2]` for the second of parallel
 * tools, `[2.1]` for the first step of the sub-agent that runs there; none where
 * nothing is parallel.
 */
function createLabels() {
  let branches = 1;
  // The turn of the parallel tools: the one of the packet, or the first after it that has a tool.
  let turn: number | undefined;
  return {
    branch(count: number): void {
      branches = count;
      turn = undefined;
    },
    /** `place` is that of a tool. */
    claim(place: Place): void {
      if (branches > 1) turn ??= place.turn;
    },
    of(place: Place): string {
      const isParallel = place.tab > 0 || (branches > 1 && place.turn === turn);
      const tab = place.tab + 1;
      if (place.sub !== null) return `[${tab}.${place.sub + 1}] `;
      return isParallel ? `[${tab}] ` : "";
    },
  };
}

/** A running text of one place, of one kind. */
interface Running {
  place: Place;
  held: string;
  lines: number;
}

/** Texts that run at the same time, line by line with the label of their place. */
function createTexts(all: boolean, labelOf: (place: Place) => string) {
  const running = new Map<string, Map<string, Running>>();
  const writeLine = (pen: QuietPen, text: Running): void => {
    const line = neutraliseLine(text.held).trim();
    text.held = "";
    if (line === "") return;
    text.lines += 1;
    const label = labelOf(text.place);
    if (all || text.lines <= longestText) pen.lines(quiet(label, line));
    else if (text.lines === longestText + 1) pen.lines(quiet(label, restNote));
  };
  return {
    add(pen: QuietPen, kind: string, place: Place, piece: string): void {
      const here = running.get(keyOf(place)) ?? new Map<string, Running>();
      running.set(keyOf(place), here);
      const text = here.get(kind) ?? { place, held: "", lines: 0 };
      here.set(kind, text);
      const [first = "", ...more] = piece.split("\n");
      text.held += first;
      for (const line of more) {
        writeLine(pen, text);
        text.held = line;
      }
      if (text.held.length > longestHeld) writeLine(pen, text);
    },
    end(pen: QuietPen, place: Place): void {
      for (const text of running.get(keyOf(place))?.values() ?? []) writeLine(pen, text);
    },
    /** The next text of this place is another one. */
    close(pen: QuietPen, place: Place): void {
      this.end(pen, place);
      running.delete(keyOf(place));
    },
    finish(pen: QuietPen): void {
      for (const here of running.values()) for (const text of here.values()) writeLine(pen, text);
      running.clear();
    },
  };
}

type ToolStep = Extract<TurnEvent, { type: "tool" }>;

/**
 * Shows what is not the answer: reasoning, tools, documents, sub-agents. Texts
 * that run at the same time are shown line by line, each with its label, so that
 * they stay apart however their packets are mixed.
 */
export function createActivity(view: ToolView) {
  const labels = createLabels();
  const texts = createTexts(view.all, labels.of);
  /** The tool that runs at a place, for a failure that does not say which one failed. */
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
    labels.claim(place);
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
    /** Shows an event; those that are not activity are passed over. */
    draw(event: TurnEvent, pen: QuietPen): void {
      if (event.type === "branches") labels.branch(event.count);
      else if (event.type === "end") texts.close(pen, event.place);
      else if (event.type === "tool") drawTool(event, pen);
      else if (event.type === "reasoning" && view.show.has("reasoning")) {
        run(pen, "reasoning", event.place, event.text);
      }
    },
    /** What is left of running texts, at the end of the turn. */
    finish: texts.finish,
  };
}

/** What is going on, for the spinner. */
export function waitingFor(event: TurnEvent | undefined): string {
  return event?.type === "tool" ? toolName(event.tool, event.internet) : "waiting for the answer";
}
