import { createArea } from "./area.ts";
import { edits, emptyBuffer, insert, moveLine, type Buffer } from "./buffer.ts";
import { createDrawing } from "./drawing.ts";
import type { Key } from "./keys.ts";
import { createRecall } from "./recall.ts";

/** An entered text, or the end of the conversation (Ctrl-C, Ctrl-D). */
export type Entry = { type: "text"; text: string; isPasted: boolean } | { type: "end" };

/** Replacements for the text from `from` to the cursor. */
export interface Completion {
  from: number;
  candidates: readonly string[];
}

export interface EditorOptions {
  /** Writes our own escape sequences and inert text. */
  write(sequence: string): void;
  columns(): number;
  rows(): number;
  hasColour: boolean;
  /** Texts entered earlier, the oldest first. */
  history(): readonly string[];
  /** Dim line above the input; empty for none. */
  status(): string;
  /** Never rejects. The result is ignored if the text has changed meanwhile. */
  complete(beforeCursor: string): Promise<Completion>;
}

export interface Editor {
  /** Shows the prompt and resolves with the entry. Processes keys pressed earlier first. */
  read(): Promise<Entry>;
  press(key: Key): void;
  /** Drops the keys pressed while no read() was pending. */
  dropKeys(): void;
  /** Redraws after a change of the terminal's size. */
  redraw(): void;
  /** Erases the prompt. */
  close(): void;
}

const maxQueuedKeys = 10_000;
const leaveHint = "press Ctrl-C again or Ctrl-D to leave the conversation";

function commonStart(words: readonly string[]): string {
  let start = words[0] ?? "";
  for (const word of words) {
    while (!word.startsWith(start)) start = start.slice(0, -1);
  }
  // Not half of a surrogate pair.
  return start.replace(/[\ud800-\udbff]$/, "");
}

const endsWithContinuation = (text: string): boolean =>
  (/\\+$/.exec(text)?.[0].length ?? 0) % 2 === 1;

/** A line editor for one terminal: several lines, history, completion. */
export function createEditor(options: EditorOptions): Editor {
  const area = createArea(options);
  const drawing = createDrawing(options);
  const recall = createRecall(options.history);
  let buffer = emptyBuffer;
  let hints: readonly string[] = [];
  let isInterrupted = false;
  let resolveRead: ((entry: Entry) => void) | undefined;
  let queuedKeys: Key[] = [];

  const draw = (): void => {
    if (resolveRead) area.show(drawing.picture(buffer, hints));
  };
  const clearText = (): void => {
    buffer = { ...emptyBuffer, cut: buffer.cut };
    recall.reset();
  };
  const end = (entry: Entry): void => {
    const resolve = resolveRead;
    resolveRead = undefined;
    resolve?.(entry);
  };
  const submit = (): void => {
    const { text, isPasted } = buffer;
    if (endsWithContinuation(text)) {
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
    } else if (isInterrupted) leave();
    else {
      isInterrupted = true;
      hints = [leaveHint];
    }
  };
  const showCandidates = (completed: Buffer, { from, candidates }: Completion): void => {
    if (buffer !== completed || !resolveRead || candidates.length === 0) return;
    const start = commonStart(candidates);
    if (start.length > completed.cursor - from) {
      const tail = completed.text.slice(completed.cursor);
      const text = completed.text.slice(0, from) + start;
      buffer = { ...completed, text: text + tail, cursor: text.length };
    }
    hints = candidates.length > 1 ? drawing.columnsOf(candidates.map((each) => each.trim())) : [];
    draw();
  };
  const complete = (): void => {
    const current = buffer;
    void options
      .complete(current.text.slice(0, current.cursor))
      .then((found) => showCandidates(current, found));
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
  // As in a shell, text typed after Ctrl-R extends the search.
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
    if (key.type !== "press" || key.name !== "ctrl-c") isInterrupted = false;
    const continuesSearch = key.type === "text" || (key.type === "press" && key.name === "ctrl-r");
    if (!continuesSearch) recall.endSearch();
    if (key.type === "text") type(key.text);
    else if (key.type === "paste") {
      buffer = insert(buffer, key.text, true);
      if (key.isCut) hints = ["the paste was too long and was cut: send it as a file with /file"];
    } else if (Object.hasOwn(actions, key.name)) actions[key.name]!();
    else if (Object.hasOwn(edits, key.name)) buffer = edits[key.name]!(buffer);
  };
  const handleQueued = (): void => {
    while (resolveRead && queuedKeys.length > 0) handle(queuedKeys.shift()!);
  };
  return {
    read() {
      return new Promise((resolve) => {
        resolveRead = resolve;
        isInterrupted = false;
        hints = [];
        handleQueued();
        draw();
      });
    },
    press(key) {
      if (queuedKeys.length < maxQueuedKeys) queuedKeys.push(key);
      if (!resolveRead) return;
      handleQueued();
      draw();
    },
    dropKeys() {
      queuedKeys = [];
    },
    redraw: draw,
    close() {
      area.clear();
      resolveRead = undefined;
    },
  };
}
