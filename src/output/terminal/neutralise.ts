// Control characters but newline and tab: C0, DEL, C1. A terminal acts on them.
// Bidirectional overrides and isolates: they make text read as what it is not (CVE-2021-42574).
const dangerous =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const isDangerous = new RegExp(dangerous.source);

function visible(character: string): string {
  const code = character.charCodeAt(0);
  // CR of a CRLF would only be noise; alone it would let a line overwrite itself.
  if (code === 0x0d) return "";
  if (code < 0x20) return `^${String.fromCharCode(code + 0x40)}`;
  if (code === 0x7f) return "^?";
  return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}

/**
 * Makes outside text inert for a terminal: every control character (but newline
 * and tab) and bidirectional override becomes visible text (`ESC` is `^[`), a
 * carriage return is dropped. Works character by character, so a sequence that
 * is split over two calls comes out the same as unsplit.
 */
export function neutralise(text: string): string {
  return isDangerous.test(text) ? text.replace(dangerous, visible) : text;
}

/** Whether a text would pass neutralise() unchanged, and is one line. */
export function isInert(text: string): boolean {
  return !isDangerous.test(text) && !/[\n\t]/.test(text);
}

/** As neutralise(), and on one line: newlines and tabs become spaces. For cells and messages. */
export function neutraliseLine(text: string): string {
  // One run of white space at a time: `\s*\n\s*` would take quadratic time on a run without a newline.
  return neutralise(text.replace(/\s+/g, (run) => (/[\n\t]/.test(run) ? " " : run)));
}

// JSON.stringify escapes C0 only; the others would still reach a terminal that shows the JSON.
// C0 is listed for a JSON text that came from outside as it is and may be none.
const dangerousInJson =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

function jsonEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/**
 * Escapes, in a text that is JSON already, what JSON leaves raw; the data stays
 * the same. A carriage return can only be white space between members there.
 */
export function neutraliseJson(json: string): string {
  return json.replace(dangerousInJson, jsonEscape).replaceAll("\r", " ");
}
