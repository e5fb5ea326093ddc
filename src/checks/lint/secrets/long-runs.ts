import type { Span } from "../rule.ts";

/** Shortest value to look at, in characters: nearly every token is longer, most words are shorter. */
const shortest = 16;
const inRun = new Uint8Array(256);
for (const each of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.~") {
  inRun[each.charCodeAt(0)] = 1;
}

/** Whether a run contains a digit or three capital letters: names of pages and files rarely do. */
function mayBeRandom(bytes: Buffer, start: number, end: number): boolean {
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
 * text. It looks at every sixteenth character, and around it if this one may be part of a run.
 */
export function longRuns(text: string): Span[] {
  const { length } = text;
  if (length > units.length) units = Buffer.allocUnsafeSlow(length);
  units.write(text, 0, length, "latin1");
  const bytes = units;
  const runs: Span[] = [];
  let at = shortest - 1;
  while (at < length) {
    if (inRun[bytes[at] ?? 0] === 0) {
      at += shortest;
      continue;
    }
    let start = at;
    while (start > 0 && inRun[bytes[start - 1] ?? 0] === 1) start--;
    let end = at + 1;
    while (end < length && inRun[bytes[end] ?? 0] === 1) end++;
    if (end - start >= shortest && mayBeRandom(bytes, start, end)) runs.push({ start, end });
    at = end + shortest;
  }
  return runs;
}
