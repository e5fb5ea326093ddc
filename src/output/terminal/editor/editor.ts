import { createArea } from "./area.ts";
import { edits, emptyBuffer, insert, moveLine, type Buffer } from "./buffer.ts";
import { createDrawing } from "./drawing.ts";
import type { Key } from "./keys.ts";
import { createRecall } from "./recall.ts";

/** What was entered: a text, or the wish to leave. */
export type Entry = { type: "text"; text: string; isPasted: boolean } | { type: "end" };

/** What may stand in the place of the text from `from` to the cursor. */
export interface Completion {
  from: number;
  candidates: readonly string[];
}

export interface EditorOptions {
  /** Takes escape sequences of our own and inert text. */
  write(sequence: string): void;
  columns(): number;
  rows(): number;
  hasColour: boolean;
  /** Texts entered before, the oldest first. */
  history(): readonly string[];
  /** What stands quietly above the input; empty for nothing. */
  status(): string;
  /** Never rejects; what comes when the text has changed is dropped. */
  complete(beforeCursor: string): Promise<Completion>;
}

export interface Editor {
  /** Shows the prompt and resolves with what is entered. Keys that came before count. */
  read(): Promise<Entry>;
  press(key: Key): void;
  /** Forgets the keys that came while nothing was read. */
  dropKeys(): void;
  /** Draws again, after a change of the terminal's size. */
  redraw(): void;
  /** Removes what is drawn. */
  close(): void;
}

const mostWaitingKeys = 10_000;
const leaveHint = "Ctrl-C again or Ctrl-D leaves the conversation";

function commonStart(words: readonly string[]): string {
  let start = words[0] ?? "";
  for (const word of words) {
    while (!word.startsWith(start)) start = start.slice(0, -1);
  }
  // Never half a character.
  return start.replace(/[\ud800-\udbff]$/, "");
}

const endsOpen = (text: string): boolean => (/\\+$/.exec(text)?.[0].length ?? 0) % 2 === 1;

/** A line editor for one terminal: several lines, history, completion. */
export function createEditor(options: EditorOptions): Editor {
  const area = createArea(options);
  const drawing = createDrawing(options);
  const recall = createRecall(options.history);
  let buffer = emptyBuffer;
  let hints: readonly string[] = [];
  let wantsEnd = false;
  let finish: ((entry: Entry) => void) | undefined;
  let waiting: Key[] = [];

  const draw = (): void => {
    if (finish) area.show(drawing.picture(buffer, hints));
  };
  const clearText = (): void => {
    buffer = { ...emptyBuffer, cut: buffer.cut };
    recall.reset();
  };
  const end = (entry: Entry): void => {
    const done = finish;
    finish = undefined;
    done?.(entry);
  };
  const submit = (): void => {
    const { text, isPasted } = buffer;
    if (endsOpen(text)) {
      buffer = { ...buffer, text: `${text.slice(0, -1)}\n`, cursor: text.length };
      return;
    }
    if (text.trim() === "") return clearText();
    area.leave(drawing.final(buffer));
    clearText();
    end({ type: "text", text, isPasted });
  };
  const leave = (): void => {
    area.clear();
    end({ type: "end" });
  };
  const interrupt = (): void => {
    if (buffer.text !== "") {
      area.leave(drawing.final(buffer, "^C"));
      clearText();
    } else if (wantsEnd) leave();
    else {
      wantsEnd = true;
      hints = [leaveHint];
    }
  };
  const showCandidates = (asked: Buffer, { from, candidates }: Completion): void => {
    if (buffer !== asked || !finish || candidates.length === 0) return;
    const start = commonStart(candidates);
    if (start.length > asked.cursor - from) {
      const tail = asked.text.slice(asked.cursor);
      const text = asked.text.slice(0, from) + start;
      buffer = { ...asked, text: text + tail, cursor: text.length };
    }
    hints = candidates.length > 1 ? drawing.columnsOf(candidates.map((each) => each.trim())) : [];
    draw();
  };
  const complete = (): void => {
    const asked = buffer;
    void options
      .complete(asked.text.slice(0, asked.cursor))
      .then((found) => showCandidates(asked, found));
  };
  const replace = (found: Buffer | undefined): void => {
    if (found) buffer = found;
  };
  const actions: Readonly<Record<string, () => void>> = {
    enter: submit,
    "ctrl-c": interrupt,
    "ctrl-d": () => {
      if (buffer.text === "") leave();
      else buffer = edits["ctrl-d"]!(buffer);
    },
    "ctrl-l": () => area.clearScreen(),
    tab: complete,
    up: () => replace(moveLine(buffer, -1) ?? recall.older(buffer)),
    down: () => replace(moveLine(buffer, 1) ?? recall.newer(buffer)),
    "ctrl-p": () => replace(recall.older(buffer)),
    "ctrl-n": () => replace(recall.newer(buffer)),
    "ctrl-r": () => {
      const found = recall.search(buffer);
      hints = [found.hint];
      replace(found.buffer);
    },
  };
  // As in a shell, what is typed after Ctrl-R is searched for.
  const type = (text: string): void => {
    const found = recall.refine(buffer, text);
    if (!found) buffer = insert(buffer, text);
    else {
      hints = [found.hint];
      replace(found.buffer);
    }
  };
  const handle = (key: Key): void => {
    hints = [];
    if (key.type !== "press" || key.name !== "ctrl-c") wantsEnd = false;
    const isSearched = key.type === "text" || (key.type === "press" && key.name === "ctrl-r");
    if (!isSearched) recall.endSearch();
    if (key.type === "text") type(key.text);
    else if (key.type === "paste") {
      buffer = insert(buffer, key.text, true);
      if (key.isCut) hints = ["the paste was too long and is cut: send it as a file with /file"];
    } else if (Object.hasOwn(actions, key.name)) actions[key.name]!();
    else if (Object.hasOwn(edits, key.name)) buffer = edits[key.name]!(buffer);
  };
  const takeWaiting = (): void => {
    while (finish && waiting.length > 0) handle(waiting.shift()!);
  };
  return {
    read() {
      return new Promise((resolve) => {
        finish = resolve;
        wantsEnd = false;
        hints = [];
        takeWaiting();
        draw();
      });
    },
    press(key) {
      if (waiting.length < mostWaitingKeys) waiting.push(key);
      if (!finish) return;
      takeWaiting();
      draw();
    },
    dropKeys() {
      waiting = [];
    },
    redraw: draw,
    close() {
      area.clear();
      finish = undefined;
    },
  };
}
