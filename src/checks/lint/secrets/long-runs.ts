import type { Span } from "../rule.ts";

/** Shortest value to look at, in characters: nearly every token is longer, most words are shorter. */
const shortest = 16;
// A place for each UTF-16 unit, so that no look needs a comparison.
const inRun = new Uint8Array(0x10000);
for (const each of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.~") {
  inRun[each.charCodeAt(0)] = 1;
}

/** Whether a run contains a digit or three capital letters: names of pages and files rarely do. */
function mayBeRandom(text: string, start: number, end: number): boolean {
  let capitals = 0;
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x30 || code > 0x5a) continue;
    if (code <= 0x39) return true;
    if (code >= 0x41 && ++capitals === 3) return true;
  }
  // Tokens of some services consist of letters alone.
  return end - start > 36;
}

/**
 * The runs of at least 16 letters, digits and `_-.~` that may be random. Any secret that is not a
 * password of a few letters contains one, so that expensive expressions see a small part of the
 * text. It looks at every sixteenth character, and around it if this one may be part of a run.
 */
export function longRuns(text: string): Span[] {
  const runs: Span[] = [];
  let at = shortest - 1;
  while (at < text.length) {
    if (inRun[text.charCodeAt(at)] === 0) {
      at += shortest;
      continue;
    }
    let start = at;
    while (start > 0 && inRun[text.charCodeAt(start - 1)] === 1) start--;
    let end = at + 1;
    while (end < text.length && inRun[text.charCodeAt(end)] === 1) end++;
    if (end - start >= shortest && mayBeRandom(text, start, end)) runs.push({ start, end });
    at = end + shortest;
  }
  return runs;
}
