import { hash } from "node:crypto";
import type { Cause, Found, LintPage } from "../rule.ts";
import { longRuns, azureKeys, knownSecrets, privateKeyMarks, privateKeys } from "./known-forms.ts";
import type { Secret, SecretRule } from "./pack.ts";
import { assignedSecrets } from "./assigned-values.ts";
import { curlPasswords, passwords, urlPasswords } from "./passwords.ts";
import type { IngestionDocument } from "../../../api/schemas.ts";

/** Minimum length of a key to search for, in characters: a shorter key could be any word. */
export const shortestKey = 16;

/** The places of keys of profiles in a text, word for word. */
function ownKeys(text: string, keys: readonly string[]): Secret[] {
  const found: Secret[] = [];
  for (const key of keys) {
    if (key.length < shortestKey) continue;
    for (let at = text.indexOf(key); at !== -1; at = text.indexOf(key, at + key.length)) {
      const end = at + key.length;
      found.push({ rule: "secret-own-key", kind: "key of a profile", start: at, end });
    }
  }
  return found;
}

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
  if (keys.length > 0) add(ownKeys(text, keys));
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

/** The texts in a value as lines with their names: `api_key: …` shows what a value is. */
function linesOf(value: unknown, name: string): string {
  if (typeof value === "string") return `${name}: ${value}\n`;
  if (typeof value !== "object" || value === null) return "";
  if (!Array.isArray(value)) return linesOfMembers(value);
  let lines = "";
  for (const each of value) lines += linesOf(each, name);
  return lines;
}

/** The same for the members of an object but one. */
function linesOfMembers(value: object, leftOut?: string): string {
  let lines = "";
  // Neither Object.entries() nor a rest pattern: each costs as much as the lines.
  for (const name of Object.keys(value)) {
    if (name !== leftOut) lines += linesOf((value as Record<string, unknown>)[name], name);
  }
  return lines;
}

/** What an upload sends: the texts of the sections, and all other texts as lines of one. */
function textsOf(document: IngestionDocument): string[] {
  const texts: string[] = [];
  let lines = linesOfMembers(document, "sections");
  for (const section of document.sections) {
    texts.push(section.text ?? "");
    lines += linesOfMembers(section, "text");
  }
  return [lines, ...texts];
}

/** What a message says of a secret: never its value. */
function describe({ rule, kind, start, end }: Secret, text: string): string {
  if (rule === "secret-private-key") return `it contains a private key (${kind})`;
  const shown = `"${text.slice(start, start + 2)}…", ${end - start} characters`;
  if (rule === "secret-own-key") return `it contains a key of a profile (${shown})`;
  if (rule === "secret-service-key") return `it contains a key of the service (${kind}, ${shown})`;
  if (rule === "secret-url-password") return `it contains a password in a URL (${shown})`;
  return `it contains a secret (${kind}, ${shown})`;
}

type FoundSecret = Found & { rule: SecretRule };

/** A value at many places is revoked once. Its digest stands for it. */
const causeOf = (value: string, place: string): Cause => ({
  key: hash("sha256", value),
  each: place,
  least: 1,
  what: "places show it",
});

function secretsIn({ path, source, document, keys = [], onlySent }: LintPage): FoundSecret[] {
  const found: FoundSecret[] = [];
  if (source !== undefined && !onlySent) {
    for (const each of findSecrets(source, keys)) {
      const { rule, start, end } = each;
      const cause = causeOf(source.slice(start, end), `${path} ${start}`);
      found.push({ rule, span: { start, end }, message: describe(each, source), cause });
    }
  }
  if (!document) return found;
  // In `lint` only what the source does not show, such as a secret of an included file.
  const isKnown = (value: string): boolean => !onlySent && source?.includes(value) === true;
  const values = new Set<string>();
  for (const text of textsOf(document)) {
    // Most sections are a part of the source, which was searched.
    if (isKnown(text)) continue;
    for (const each of findSecrets(text, keys)) {
      const value = text.slice(each.start, each.end);
      if (isKnown(value)) continue;
      // A text that the page includes may have it several times, and shows no place.
      if (!onlySent && values.has(value)) continue;
      values.add(value);
      const at = source?.indexOf(value) ?? -1;
      const span = at === -1 ? undefined : { start: at, end: at + value.length };
      const cause = causeOf(value, `${path} ${at}`);
      found.push({ rule: each.rule, span, message: describe(each, text), cause });
    }
  }
  return found;
}

const none: readonly Found[] = [];
// All rules about secrets read the same page, one after the other: it is searched once.
let last: { page: LintPage; found: FoundSecret[] } | undefined;

/** The secrets of a page that a rule is about. The page must not change between two rules. */
export function secretsInPage(page: LintPage, rule: SecretRule): readonly Found[] {
  if (last?.page !== page) last = { page, found: secretsIn(page) };
  return last.found.length === 0 ? none : last.found.filter((each) => each.rule === rule);
}

/** A text for a message: of each secret in it, no more than the first two characters. */
export function hideSecrets(text: string): string {
  let shown = "";
  let at = 0;
  for (const { rule, start, end } of findSecrets(text)) {
    if (start < at) continue;
    if (rule === "secret-private-key") {
      // The span is that of its first line. The key follows, to its last line.
      const last = text.indexOf("-----END", end);
      shown += `${text.slice(at, start)}private key…`;
      at = last === -1 ? text.length : last;
    } else {
      shown += `${text.slice(at, start + 2)}…`;
      at = end;
    }
  }
  return shown + text.slice(at);
}
