// One pattern for a whole string would overflow the stack on a long string.
const characters = /[^"\\\u0000-\u001f]*/y;
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const blank = /[ \t\n\r]*/y;

/** Where a JSON value ends, or where it stops being JSON. */
type JsonExtent = { end: number } | { errorAt: number };

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

const perhapsLossy = /\d[\d.]{15}|\d[eE][+-]?\d/;
const stringOrNumber = /"|-?\d[\d.eE+-]*/g;

/** Offset after the string that opens at `opening`. Expects valid JSON. */
function endOfString(text: string, opening: number): number {
  for (let end = text.indexOf('"', opening + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end;
    while (text[before - 1] === "\\") before--;
    if ((end - before) % 2 === 0) return end + 1;
  }
  return text.length;
}

/** Replaces numbers that JavaScript would write differently by strings: `1.10`, or 20 digits. */
function keepNumbers(text: string, isKept: (found: string) => boolean): string {
  const parts: string[] = [];
  let from = 0;
  stringOrNumber.lastIndex = 0;
  for (let match = stringOrNumber.exec(text); match; match = stringOrNumber.exec(text)) {
    const [found] = match;
    if (found === '"') stringOrNumber.lastIndex = endOfString(text, match.index);
    else if (isKept(found) && String(Number(found)) !== found) {
      parts.push(text.slice(from, match.index), `"${found}"`);
      from = match.index + found.length;
    }
  }
  return parts.length === 0 ? text : parts.join("") + text.slice(from);
}

/** Offset at which a text stops being one JSON value; undefined for valid JSON. */
export function jsonErrorAt(text: string): number | undefined {
  const extent = scanJson(text, 0);
  if ("errorAt" in extent) return extent.errorAt;
  // Not trim(): it removes more characters than JSON counts as blank.
  blank.lastIndex = extent.end;
  blank.test(text);
  return blank.lastIndex === text.length ? undefined : blank.lastIndex;
}

/** The error message for invalid JSON at an offset from jsonErrorAt(). */
export function jsonProblem(text: string, at: number): string {
  const character = text.codePointAt(at);
  const found =
    character === undefined ? "the end" : JSON.stringify(String.fromCodePoint(character));
  return `JSON is broken at ${found}`;
}

/**
 * Parses one JSON value without losing a digit: a number that JavaScript might change becomes the
 * string of its digits. Throws SyntaxError.
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!perhapsLossy.test(text)) return value;
  return JSON.parse(keepNumbers(text, (found) => perhapsLossy.test(found)));
}

/**
 * Like parseJson(), for values that become text: every number that JavaScript would write
 * differently becomes a string as written.
 */
export function parseJsonAsWritten(text: string): unknown {
  return JSON.parse(keepNumbers(text, () => true));
}
