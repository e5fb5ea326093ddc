import type { Span } from "../rule.ts";

/** Shortest value to look at, in characters: nearly every token is longer, most words are shorter. */
const shortest = 16;
const inRun = new Uint8Array(256);
for (const each of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.~") {
  inRun[each.charCodeAt(0)] = 1;
}

/** Whether a run contains a digit or three capital letters: names of pages and files rarely do. */
function mayBeRandom(bytes: Uint8Array, start: number, end: number): boolean {
  let capitals = 0;
  for (let at = start; at < end; at++) {
    const code = bytes[at] ?? 0;
    if (code < 0x30 || code > 0x5a) continue;
    if (code <= 0x39) return true;
    if (code >= 0x41 && ++capitals === 3) return true;
  }
  // Tokens of some services consist of letters alone.
  return end - start > 36;
}

// The text as one byte per UTF-16 unit: reading bytes costs less than reading a string, whose form in
// memory varies. A unit beyond 255 keeps its lower byte, so that a run may be found too long, never
// too short: the expressions read the text itself.
let units = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * The runs of at least 16 letters, digits and `_-.~` that may be random. Any secret that is not a
 * password of a few letters contains one, so that expensive expressions see a small part of the
 * text.
 */
export function longRuns(text: string): Span[] {
  const { length } = text;
  if (length > units.length) units = Buffer.allocUnsafeSlow(length);
  units.write(text, 0, length, "latin1");
  return runsIn(units, length, Infinity);
}

/** Whether UTF-8 text has such a run. */
export const hasLongRun = (bytes: Uint8Array): boolean => runsIn(bytes, bytes.length, 1).length > 0;

/** The first `most` runs. Looks at the last of 16 characters first: most lie beside a space. */
function runsIn(bytes: Uint8Array, length: number, most: number): Span[] {
  const runs: Span[] = [];
  let start = 0;
  let at = shortest - 1;
  while (at < length && runs.length < most) {
    let back = at;
    while (back >= start && inRun[bytes[back] ?? 0] === 1) back--;
    if (back >= start) {
      start = back + 1;
      at = back + shortest;
      continue;
    }
    let end = at + 1;
    while (end < length && inRun[bytes[end] ?? 0] === 1) end++;
    if (mayBeRandom(bytes, start, end)) runs.push({ start, end });
    start = end + 1;
    at = end + shortest;
  }
  return runs;
}
