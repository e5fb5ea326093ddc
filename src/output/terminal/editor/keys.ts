/**
 * Input from the terminal. `press` is a key by name (`left`, `ctrl-a`, `alt-b`,
 * `enter`), `text` is typed text, `paste` the text of a bracketed paste. Both texts
 * contain no control characters except newlines and tabs.
 */
export type Key =
  | { type: "press"; name: string }
  | { type: "text"; text: string }
  | { type: "paste"; text: string; isCut: boolean };

/** Longest text of one paste, in UTF-16 code units. A longer text should be sent as a file. */
export const longestPaste = 200_000;

const escape = "\u001b";
const pasteBegin = `${escape}[200~`;
const pasteEnd = `${escape}[201~`;

// Sequences of xterm, and those of other terminals for the same keys.
const sequences: Readonly<Record<string, string>> = {
  "[A": "up",
  "[B": "down",
  "[C": "right",
  "[D": "left",
  "[H": "home",
  "[F": "end",
  "[1~": "home",
  "[4~": "end",
  "[7~": "home",
  "[8~": "end",
  "[3~": "delete",
  "[3;5~": "alt-d",
  "[1;5C": "alt-f",
  "[1;3C": "alt-f",
  "[1;5D": "alt-b",
  "[1;3D": "alt-b",
  // Shift+Enter and Alt+Enter, in terminals that distinguish them from Enter.
  "[13;2u": "newline",
  "[13;3u": "newline",
  "[27;2;13~": "newline",
  OA: "up",
  OB: "down",
  OC: "right",
  OD: "left",
  OH: "home",
  OF: "end",
  "\r": "newline",
  "\n": "newline",
  b: "alt-b",
  f: "alt-f",
  d: "alt-d",
  "\u007f": "ctrl-w",
  "\b": "ctrl-w",
};

const controls: Readonly<Record<string, string>> = {
  "\r": "enter",
  "\n": "newline",
  "\t": "tab",
  "\b": "backspace",
  "\u007f": "backspace",
};

// One escape sequence at the start. The parameters are bounded, so that garbage does not block.
const sequence = /^\u001b(?:\[[0-?]{0,16}[ -/]{0,4}[@-~]|O[@-~]|[^[O])/u;
const incompleteSequence = /^\u001b(?:\[[0-?]{0,16}[ -/]{0,4}|O)?$/;
const control = /[\u0000-\u001f\u007f-\u009f]/;

function pressOf(character: string): Key {
  const name = controls[character];
  if (name !== undefined) return { type: "press", name };
  const letter = String.fromCharCode(character.charCodeAt(0) + 0x60);
  return { type: "press", name: `ctrl-${letter}` };
}

function visible(character: string): string {
  const code = character.charCodeAt(0);
  if (character === "\n" || character === "\t") return character;
  if (code < 0x20) return `^${String.fromCharCode(code + 0x40)}`;
  return code === 0x7f ? "^?" : `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}

/** Cleans pasted text: line ends become newlines, other control characters become visible. */
export function inertPaste(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(new RegExp(control.source, "g"), visible);
}

/** Whether a chunk has text on both sides of a line end: nobody types that fast, so it is a paste. */
function isUnbracketedPaste(text: string): boolean {
  return /[^\u0000-\u001f\u007f][\r\n]+[^\u0000-\u001f\u007f]/.test(text);
}

/** Appends the keys in `text` to `keys`; returns an incomplete sequence at its end. */
function parseKeys(text: string, keys: Key[]): string {
  let rest = text;
  while (rest !== "") {
    const at = rest.search(control);
    if (at !== 0) {
      const typed = at < 0 ? rest : rest.slice(0, at);
      keys.push({ type: "text", text: typed });
      rest = rest.slice(typed.length);
    } else if (rest.startsWith(escape)) {
      if (incompleteSequence.test(rest)) return rest;
      const found = sequence.exec(rest)?.[0] ?? escape;
      const name = sequences[found.slice(1)];
      if (name !== undefined) keys.push({ type: "press", name });
      rest = rest.slice(found.length);
    } else {
      // C1 characters are not keys.
      if (rest < "\u0080") keys.push(pressOf(rest.charAt(0)));
      rest = rest.slice(1);
    }
  }
  return "";
}

/** Length of the end of `text` that may be the start of `mark`. */
function partialMarkLength(text: string, mark: string): number {
  for (let length = Math.min(mark.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(mark.slice(0, length))) return length;
  }
  return 0;
}

/**
 * Parses the chunks of a terminal in raw mode, split at any position. A single
 * Escape is not a key, because it may be the start of a sequence.
 */
export function createKeyReader(): (chunk: Uint8Array) => Key[] {
  const decoder = new TextDecoder();
  let held = "";
  let pasted: string | undefined;
  let isCut = false;

  const parsePaste = (text: string, keys: Key[]): string => {
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
    keys.push({ type: "paste", text: inertPaste(pasted), isCut });
    pasted = undefined;
    isCut = false;
    held = "";
    return isAborted ? "" : all.slice(end + pasteEnd.length);
  };

  return (chunk) => {
    const keys: Key[] = [];
    let text = decoder.decode(chunk, { stream: true });
    while (text !== "") {
      if (pasted !== undefined) {
        text = parsePaste(text, keys);
        continue;
      }
      // Escape, and a letter in a later chunk: two typed keys, not a sequence.
      if (held === escape && !/^[[O\r\n]/.test(text)) held = "";
      text = held + text;
      held = "";
      const begin = text.indexOf(pasteBegin);
      const before = begin < 0 ? text : text.slice(0, begin);
      if (begin < 0 && isUnbracketedPaste(before)) {
        const end = /[\r\n]$/.test(before) ? before.length - 1 : before.length;
        keys.push({ type: "paste", text: inertPaste(before.slice(0, end)), isCut: false });
        held = parseKeys(before.slice(end), keys);
      } else held = parseKeys(before, keys);
      if (begin >= 0) {
        pasted = "";
        held = "";
        text = text.slice(begin + pasteBegin.length);
      } else text = "";
    }
    return keys;
  };
}
