import { scanJson } from "./json-position.ts";

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
  const rest = text.slice(extent.end).trimStart();
  return rest === "" ? undefined : text.length - rest.length;
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
