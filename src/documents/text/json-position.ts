// One pattern for a whole string would overflow the stack on a long string.
const characters = /[^"\\\u0000-\u001f]*/y;
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const blank = /[ \t\n\r]*/y;

/** Where a JSON value ends, or where it stops being JSON. */
export type JsonExtent = { end: number } | { errorAt: number };

type Expected = "value" | "value or end" | "key" | "key or end" | "colon" | "comma or end";

/** Offset after the string that opens at `opening`; undefined for a broken string. */
function stringEnd(text: string, opening: number): number | undefined {
  if (text[opening] !== '"') return undefined;
  for (let at = opening + 1; ; at = escape.lastIndex) {
    characters.lastIndex = at;
    characters.test(text);
    if (text[characters.lastIndex] === '"') return characters.lastIndex + 1;
    escape.lastIndex = characters.lastIndex;
    if (!escape.test(text)) return undefined;
  }
}

/**
 * Scans one JSON value from `start`. JSON.parse does not report the end of the value and, in some
 * Node versions, not the position of an error.
 */
export function scanJson(text: string, start: number): JsonExtent {
  const open: ("{" | "[")[] = [];
  let expected: Expected = "value";
  let at = start;
  const matchPattern = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    if (!pattern.test(text)) return false;
    at = pattern.lastIndex;
    return true;
  };
  const matchString = (): boolean => {
    const end = stringEnd(text, at);
    at = end ?? at;
    return end !== undefined;
  };
  const afterValue = (): Expected | undefined => (open.length === 0 ? undefined : "comma or end");
  for (;;) {
    matchPattern(blank);
    const character = text[at];
    let next: Expected | undefined;
    if (character === undefined) return { errorAt: at };
    if (expected === "colon") {
      if (character !== ":") return { errorAt: at };
      at++;
      next = "value";
    } else if (expected === "comma or end" && character === ",") {
      at++;
      next = open.at(-1) === "{" ? "key" : "value";
    } else if (expected.endsWith("end") && character === (open.at(-1) === "{" ? "}" : "]")) {
      at++;
      open.pop();
      next = afterValue();
    } else if (expected.startsWith("key")) {
      if (!matchString()) return { errorAt: at };
      next = "colon";
    } else if (!expected.startsWith("value")) {
      return { errorAt: at };
    } else if (character === "{" || character === "[") {
      at++;
      open.push(character);
      next = character === "{" ? "key or end" : "value or end";
    } else {
      if (!(character === '"' ? matchString() : matchPattern(scalar))) return { errorAt: at };
      next = afterValue();
    }
    if (next === undefined) return { end: at };
    expected = next;
  }
}
