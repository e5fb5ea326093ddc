import { assignedSecrets } from "./assigned-values.ts";
import { knownSecrets } from "./known-forms.ts";
import { longRuns } from "./long-runs.ts";
import { ownKeys } from "./own-keys.ts";
import { passwords } from "./passwords.ts";
import { privateKeyMarks, privateKeys } from "./private-keys.ts";
import type { Secret } from "./secret.ts";
import { urlPasswords } from "./url-passwords.ts";

/**
 * The secrets in a text in order. They do not overlap. `keys` are those of profiles, which are found
 * word for word. The time is linear in the length of the text.
 */
export function findSecrets(text: string, keys: readonly string[] = []): Secret[] {
  const runs = longRuns(text);
  // Of two at one place, the first one names it best.
  const found: Secret[] = [];
  if (keys.length > 0) found.push(...ownKeys(text, keys, runs));
  if (privateKeyMarks.some((each) => text.includes(each))) found.push(...privateKeys(text));
  if (runs.length > 0) found.push(...knownSecrets(text, runs));
  if (text.includes("@") && text.includes("://")) found.push(...urlPasswords(text));
  if (runs.length > 0) found.push(...assignedSecrets(text, runs));
  found.push(...passwords(text));
  if (found.length < 2) return found;
  const kept: Secret[] = [];
  for (const each of found.toSorted((a, b) => a.start - b.start)) {
    const last = kept.at(-1);
    if (!last || each.start >= last.end) kept.push(each);
    else if (found.indexOf(each) < found.indexOf(last)) kept[kept.length - 1] = each;
  }
  return kept;
}
