import { neutralise, neutraliseLine } from "./neutralise.ts";
import { createInterface, type Interface } from "node:readline";
import { PassThrough, Writable } from "node:stream";
import { fit } from "./width.ts";

/** Input from the terminal: a character of its keys, or the text of a paste. */
export type Input = { type: "key"; text: string } | { type: "paste"; text: string; isCut: boolean };

/** Longest text of one paste, in UTF-16 code units. A longer text should be sent as a file. */
export const longestPaste = 200_000;

const escape = "\u001b";
const pasteBegin = `${escape}[200~`;
const pasteEnd = `${escape}[201~`;

/** Shift-Enter, Alt-Enter and Ctrl-J: a backslash before Enter is what continues a message. */
const newline = /\u001b(?:[\r\n]|\[13;[23]u|\[27;2;13~)|\n/g;
const incompleteSequence = /\u001b(?:\[[\d;]{0,16})?$/;
/** Text on both sides of a line end: nobody types that fast, so it is a paste. */
const unbracketedPaste = /[^\u0000-\u001f\u007f][\r\n]+[^\u0000-\u001f\u007f]/;
const c1 = /[\u0080-\u009f]/g;

/** Cleans pasted text: line ends become newlines, other control characters become visible. */
export function inertPaste(text: string): string {
  return neutralise(text.replace(/\r\n?/g, "\n"));
}

function keysOf(text: string): Input[] {
  // A terminal executes C1 characters, and no key sends them.
  const keys = text.replace(newline, "\\\r").replace(c1, "");
  return Array.from(keys, (each) => ({ type: "key", text: each }));
}

/** Length of the end of `text` that may be the start of `mark`. */
function partialMarkLength(text: string, mark: string): number {
  for (let length = Math.min(mark.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(mark.slice(0, length))) return length;
  }
  return 0;
}

/**
 * Divides the chunks of a terminal in raw mode, split at any position, into keys and pastes.
 * A single Escape is not a key, because it may be the start of a sequence.
 */
export function createInputReader(): (chunk: Uint8Array) => Input[] {
  const decoder = new TextDecoder();
  let held = "";
  let pasted: string | undefined;
  let isCut = false;

  const readPaste = (text: string, inputs: Input[]): string => {
    const all = held + text;
    const end = all.indexOf(pasteEnd);
    // A paste whose end was lost must not block the keyboard: a single Ctrl-C ends it.
    const isAborted = text === "\u0003";
    const until = end >= 0 ? end : all.length - partialMarkLength(all, pasteEnd);
    const piece = isAborted ? "" : all.slice(0, until);
    isCut ||= (pasted?.length ?? 0) + piece.length > longestPaste;
    pasted = `${pasted ?? ""}${piece}`.slice(0, longestPaste);
    held = all.slice(until);
    if (end < 0 && !isAborted) return "";
    inputs.push({ type: "paste", text: inertPaste(pasted), isCut });
    pasted = undefined;
    isCut = false;
    held = "";
    return isAborted ? "" : all.slice(end + pasteEnd.length);
  };

  const readKeys = (text: string, inputs: Input[]): string => {
    // Escape, and a letter in a later chunk: two typed keys, not a sequence.
    const all = held === escape && !/^[[O\r\n]/.test(text) ? text : held + text;
    const begin = all.indexOf(pasteBegin);
    let keys = begin < 0 ? all : all.slice(0, begin);
    held = begin < 0 ? (incompleteSequence.exec(keys)?.[0] ?? "") : "";
    keys = keys.slice(0, keys.length - held.length);
    if (begin < 0 && unbracketedPaste.test(keys)) {
      const end = /[\r\n]$/.test(keys) ? keys.length - 1 : keys.length;
      inputs.push({ type: "paste", text: inertPaste(keys.slice(0, end)), isCut: false });
      keys = keys.slice(end);
    }
    inputs.push(...keysOf(keys));
    if (begin < 0) return "";
    pasted = "";
    return all.slice(begin + pasteBegin.length);
  };

  return (chunk) => {
    const inputs: Input[] = [];
    let text = decoder.decode(chunk, { stream: true });
    while (text !== "")
      text = pasted === undefined ? readKeys(text, inputs) : readPaste(text, inputs);
    return inputs;
  };
}

/** An entered text, or the end of the conversation (Ctrl-C, Ctrl-D). */
export type Entry = { type: "text"; text: string; isPasted: boolean } | { type: "end" };

/** Replacements for the text from `from` to the cursor. */
export interface Completion {
  from: number;
  candidates: readonly string[];
}

interface EditorOptions {
  /** Writes our own escape sequences and inert text. */
  write(sequence: string): void;
  columns(): number;
  hasColour: boolean;
  /** Texts entered earlier, the oldest first. */
  history(): readonly string[];
  /** Dim line above the input; empty for none. */
  status(): string;
  /** Never rejects. The result is ignored if the text has changed meanwhile. */
  complete(beforeCursor: string): Promise<Completion>;
}

export interface Editor {
  /** Shows the prompt and resolves with the entry. Takes the keys pressed earlier first. */
  read(): Promise<Entry>;
  press(input: Input): void;
  /** Drops the keys pressed while no read() was pending. */
  dropKeys(): void;
  /** Redraws after a change of the terminal's size. */
  redraw(): void;
  /** Erases the prompt. */
  close(): void;
}

const leaveHint = "press Ctrl-C again or Ctrl-D to leave the conversation";
const maxQueued = 10_000;
/** A longer text is shown as its number of lines. */
const maxShown = 1000;
const lineMark = "↵";
const tabMark = "⇥";

const continues = (line: string): boolean => (/\\+$/.exec(line)?.[0].length ?? 0) % 2 === 1;

/** Texts as readline holds them: in one line, which is short. */
function createShortTexts() {
  const texts = new Map<string, string>();
  return {
    shorten(text: string, note = ""): string {
      if (text.length <= maxShown && note === "") {
        return neutralise(text).replaceAll("\n", lineMark).replaceAll("\t", tabMark);
      }
      const lines = text.split("\n").length;
      const name = `[text ${texts.size + 1}: ${lines} ${lines === 1 ? "line" : "lines"}${note}]`;
      texts.set(name, text);
      return name;
    },
    restore: (line: string): string =>
      line
        .replaceAll(lineMark, "\n")
        .replaceAll(tabMark, "\t")
        .replaceAll(/\[text \d+: [^\]]*\]/g, (name) => texts.get(name) ?? name),
  };
}

/** A line editor for one terminal, over readline: several lines, pastes, history, completion. */
export function createEditor(options: EditorOptions): Editor {
  const { write, hasColour } = options;
  const style = (code: number, text: string): string =>
    hasColour ? `\u001b[${code}m${text}\u001b[0m` : text;
  const output = Object.defineProperty(
    new Writable({
      decodeStrings: false,
      write(chunk, _encoding, done) {
        write(String(chunk));
        done();
      },
    }),
    "columns",
    { get: options.columns },
  );
  let reading: { rl: Interface; keys: PassThrough; end(entry: Entry): void } | undefined;
  let queue: Input[] = [];
  let { shorten, restore } = createShortTexts();
  let entries: readonly string[] = [];
  /** Lines that are entered of a message that continues. */
  let lines: string[] = [];
  let isPasted = false;
  let isInterrupted = false;
  let search: { text: string; at: number } | undefined;

  const eraseInput = (rl: Interface): void => {
    const { rows } = rl.getCursorPos();
    write(`${rows > 0 ? `\u001b[${rows}A` : ""}\r\u001b[J`);
  };
  const setLine = (rl: Interface, text: string): void => {
    rl.write(null, { ctrl: true, name: "e" });
    rl.write(null, { ctrl: true, name: "u" });
    if (text !== "") rl.write(text);
  };
  const finish = (entry: Entry): void => {
    const { rl, end } = reading!;
    reading = undefined;
    rl.close();
    end(entry);
  };
  const clear = (rl: Interface): void => {
    setLine(rl, "");
    lines = [];
    rl.setPrompt(style(1, "> "));
    rl.prompt();
  };
  const enter = (rl: Interface, line: string): void => {
    if (continues(line)) {
      lines.push(line.slice(0, -1));
      rl.setPrompt("  ");
      return rl.prompt();
    }
    const text = restore([...lines, line].join("\n"));
    if (text.trim() === "") clear(rl);
    else finish({ type: "text", text, isPasted });
  };
  const interrupt = (rl: Interface): void => {
    const isEmpty = rl.line === "" && lines.length === 0;
    if (isEmpty && isInterrupted) {
      eraseInput(rl);
      return finish({ type: "end" });
    }
    if (isEmpty) {
      eraseInput(rl);
      write(`${style(2, leaveHint)}\r\n`);
    }
    isInterrupted = isEmpty;
    clear(rl);
  };
  /** As in a shell, the next older entry that contains what was typed. */
  const searchBack = (rl: Interface): void => {
    search ??= { text: rl.line, at: entries.length };
    const { text, at } = search;
    const found = at > 0 ? entries.findLastIndex((each, i) => i < at && each.includes(text)) : -1;
    if (found < 0) return;
    setLine(rl, shorten(entries[found]!));
    search = { text, at: found };
  };
  const paste = (rl: Interface, text: string, isCut: boolean): void => {
    if (rl.cursor === 0 && lines.length === 0) isPasted = true;
    const note = isCut ? ", cut: send it as a file with /file" : "";
    const shown = shorten(text, note);
    if (shown !== "") rl.write(shown);
  };
  const handle = ({ rl, keys }: NonNullable<typeof reading>, input: Input): void => {
    const { text } = input;
    const isEmpty = rl.line === "" && lines.length === 0;
    if (isEmpty) isPasted = false;
    if (text !== "\u0003") isInterrupted = false;
    if (text !== "\u0012") search = undefined;
    if (input.type === "paste") paste(rl, text, input.isCut);
    else if (text === "\u0003") interrupt(rl);
    else if (text === "\u0012") searchBack(rl);
    else if (text === "\u0004" && isEmpty) {
      eraseInput(rl);
      finish({ type: "end" });
    } else keys.emit("data", Buffer.from(text >= "\u0080" ? neutralise(text) : text));
  };
  const handleQueued = (): void => {
    while (reading && queue.length > 0) handle(reading, queue.shift()!);
  };
  const completeLine = (
    line: string,
    show: (error: null, result: [string[], string]) => void,
  ): void => {
    void options.complete(line).then(({ from, candidates }) => {
      const isSame = reading?.rl.line.slice(0, reading.rl.cursor) === line;
      show(null, [isSame ? candidates.map(neutraliseLine) : [], line.slice(from)]);
    });
  };
  const open = (end: (entry: Entry) => void): void => {
    ({ shorten, restore } = createShortTexts());
    entries = options.history();
    lines = [];
    isPasted = false;
    isInterrupted = false;
    search = undefined;
    const keys = new PassThrough();
    const rl = createInterface({
      input: keys,
      output,
      terminal: true,
      prompt: style(1, "> "),
      history: entries.map((text) => shorten(text)).toReversed(),
      historySize: entries.length + maxQueued,
      completer: completeLine,
    });
    rl.on("line", (line) => enter(rl, line));
    reading = { rl, keys, end };
    const status = fit(neutraliseLine(options.status()), options.columns() - 1);
    if (status !== "") write(`${style(2, status)}\r\n`);
    rl.prompt();
  };
  return {
    read: () =>
      new Promise((resolve) => {
        open(resolve);
        handleQueued();
      }),
    press(input) {
      if (queue.length < maxQueued) queue.push(input);
      handleQueued();
    },
    dropKeys() {
      queue = [];
    },
    redraw: () => void output.emit("resize"),
    close() {
      if (!reading) return;
      eraseInput(reading.rl);
      reading.rl.close();
      reading = undefined;
    },
  };
}
