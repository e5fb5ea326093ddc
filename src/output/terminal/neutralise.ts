// Control characters except newline and tab: C0, DEL, C1. A terminal executes them.
// Bidirectional overrides and isolates: they display text in a false order (CVE-2021-42574).
const dangerous =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const isDangerous = new RegExp(dangerous.source);

function visible(character: string): string {
  const code = character.charCodeAt(0);
  // The CR of a CRLF is noise; a single CR would overwrite its line.
  if (code === 0x0d) return "";
  if (code < 0x20) return `^${String.fromCharCode(code + 0x40)}`;
  if (code === 0x7f) return "^?";
  return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}

/**
 * Makes untrusted text inert for a terminal. Control characters (except newline and
 * tab) and bidirectional overrides become visible text (`ESC` is `^[`); a carriage
 * return is dropped. Works on single characters, so a sequence may be split over
 * two calls.
 */
export function neutralise(text: string): string {
  return isDangerous.test(text) ? text.replace(dangerous, visible) : text;
}

/** Whether neutralise() keeps a text unchanged, and it is one line. */
export function isInert(text: string): boolean {
  return !isDangerous.test(text) && !/[\n\t]/.test(text);
}

/** Same as neutralise(), on one line: newlines and tabs become spaces. For cells and messages. */
export function neutraliseLine(text: string): string {
  // Not `\s*\n\s*`: it takes quadratic time on white space without a newline.
  return neutralise(text.replace(/\s+/g, (run) => (/[\n\t]/.test(run) ? " " : run)));
}

// JSON.stringify escapes only C0; a terminal that shows the JSON would execute the others.
// C0 is listed because untrusted text may be invalid JSON.
const dangerousInJson =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

function jsonEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/**
 * Escapes dangerous characters that JSON leaves unescaped; the data stays the same.
 * In JSON a raw carriage return is only white space between members.
 */
export function neutraliseJson(json: string): string {
  return json.replace(dangerousInJson, jsonEscape).replaceAll("\r", " ");
}
