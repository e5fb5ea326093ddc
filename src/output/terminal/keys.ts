import { neutralise } from "./neutralise.ts";

/** Input from the terminal: a character of its keys, or the text of a paste. */
export type Input = { type: "key"; text: string } | { type: "paste"; text: string; isCut: boolean };

/** Longest text of one paste, in UTF-16 code units. A longer text should be sent as a file. */
export const longestPaste = 200_000;

const escape = "\u001b";
const pasteBegin = `${escape}[200~`;
const pasteEnd = `${escape}[201~`;

/** Shift+Enter, Alt+Enter and Ctrl+J: a backslash before Enter is what continues a message. */
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
