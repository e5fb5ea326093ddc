import type { Span } from "../rule.ts";
import { longRuns } from "./long-runs.ts";
import type { Secret } from "./secret.ts";

/** Minimum length of a key to search for, in characters: a shorter key could be any word. */
export const shortestKey = 16;

// Each page is compared with the same few keys.
const keysWithRun = new Map<string, boolean>();

function hasRun(key: string): boolean {
  let has = keysWithRun.get(key);
  if (has === undefined) keysWithRun.set(key, (has = longRuns(key).length > 0));
  return has;
}

/** The places of keys of profiles in a text, word for word. `runs` as from longRuns(text). */
export function ownKeys(text: string, keys: readonly string[], runs: readonly Span[]): Secret[] {
  const found: Secret[] = [];
  for (const key of keys) {
    if (key.length < shortestKey) continue;
    // Where the text has no run, a key with a run is not in it.
    if (runs.length === 0 && hasRun(key)) continue;
    for (let at = text.indexOf(key); at !== -1; at = text.indexOf(key, at + key.length)) {
      const end = at + key.length;
      found.push({ rule: "secret-own-key", kind: "key of a profile", start: at, end });
    }
  }
  return found;
}
