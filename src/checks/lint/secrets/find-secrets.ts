import { assignedSecrets } from "./assigned-values.ts";
import { azureKeys } from "./azure-keys.ts";
import { knownSecrets } from "./known-forms.ts";
import { longRuns } from "./long-runs.ts";
import { ownKeys } from "./own-keys.ts";
import { curlPasswords } from "./passwords/curl-passwords.ts";
import { passwords } from "./passwords/named-passwords.ts";
import { urlPasswords } from "./passwords/url-passwords.ts";
import { privateKeyMarks, privateKeys } from "./private-keys.ts";
import type { Secret } from "./secret.ts";

/**
 * The secrets in a text in order. They do not overlap. `keys` are those of profiles, which are found
 * word for word. The time is linear in the length of the text.
 */
export function findSecrets(text: string, keys: readonly string[] = []): Secret[] {
  const runs = longRuns(text);
  const found: Secret[] = [];
  // One by one: more arguments than fit on the stack may be found.
  const add = (secrets: Iterable<Secret>): void => {
    for (const each of secrets) found.push(each);
  };
  // Of two at one place, the first one names it best.
  if (keys.length > 0) add(ownKeys(text, keys, runs));
  if (privateKeyMarks.some((each) => text.includes(each))) add(privateKeys(text));
  add(azureKeys(text));
  if (runs.length > 0) add(knownSecrets(text, runs));
  if (text.includes("@") && text.includes("://")) add(urlPasswords(text));
  if (runs.length > 0) add(assignedSecrets(text, runs));
  add(passwords(text));
  add(curlPasswords(text));
  return found.length < 2 ? found : withoutOverlap(found);
}

function withoutOverlap(found: readonly Secret[]): Secret[] {
  const ranks = new Map(found.map((each, rank) => [each, rank]));
  const rankOf = (each: Secret): number => ranks.get(each) ?? 0;
  const kept: Secret[] = [];
  for (const each of found.toSorted((a, b) => a.start - b.start)) {
    const last = kept.at(-1);
    if (!last || each.start >= last.end) kept.push(each);
    else if (rankOf(each) < rankOf(last)) kept[kept.length - 1] = each;
  }
  return kept;
}
