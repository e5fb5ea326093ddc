import data from "./pack.json" with { type: "json" };

// pack.json contains rules of gitleaks (MIT licence, notice in LICENSES.txt), converted by
// scripts/secret-rules.js.

interface PackRule {
  /** The name that gitleaks gives it. */
  id: string;
  pattern: string;
  flags?: string;
  /** A value with less information per character is no secret. */
  entropy?: number;
  /** The group of `pattern` that is the secret; default: the first one with text, else all. */
  group?: number;
  /** Values that are no secrets. */
  allow?: readonly string[];
}

/** A secret with a form of its own, such as `ghp_…`. */
export interface KnownForm extends PackRule {
  /** In lower case. Where none is near, `pattern` does not match. */
  keywords: readonly string[];
}

/** A value that is a secret if the name of a service is assigned to it, such as `datadog_key = …`. */
export interface AssignedForm extends PackRule {
  /** The names, as an expression. Case does not matter. */
  names: string;
}

interface Pack {
  known: readonly KnownForm[];
  assigned: readonly AssignedForm[];
  generic: {
    /** Names with "key" or "token" that are not names of secrets. */
    otherNames: string;
    /** Parts of values that are no secrets, separated by spaces. */
    stopwords: string;
  };
}

export const pack: Pack = data;

/** Rules of lint about secrets, as the configuration names them. */
export type SecretRule =
  | "secret-own-key"
  | "secret-service-key"
  | "secret-private-key"
  | "secret-url-password"
  | "secret-token"
  | "secret-assigned";

/** A secret in a text. Offsets are UTF-16 units from 0; `end` is the first offset after it. */
export interface Secret {
  rule: SecretRule;
  /** What it is, without its value: the name of the rule of the pack, or our own. */
  kind: string;
  start: number;
  end: number;
}

/** Bits of information per character (Shannon). */
export function entropyOf(value: string): number {
  const counts = new Map<string, number>();
  for (const each of value) counts.set(each, (counts.get(each) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values())
    bits -= (count / value.length) * Math.log2(count / value.length);
  return bits;
}

const words =
  /example|sample|placeholder|dummy|fake|change.?me|your|redacted|replace|insert|notreal|not-a-real|foobar|lorem|deadbeef|qwerty|asdf|abc123|mytoken|mysecret/i;
const sequences = /0123456|1234567|2345678|9876543|8765432|abcdefg|a1b2c3|1a2b3c/i;
const repeated = /(.)\1{5}|(.{2})\2{3}|(.{3,8})\3{2}/;
// Parts of values that documents of their services show to everybody: RFC 6749; the account keys of
// Azurite and of the emulator of Cosmos DB; Stripe, GitHub, Kubernetes (its password, as Base64 too);
// xkcd.com/936; play.min.io; Dynatrace (its token, as Base64 too).
const published =
  /2YotnFZFEjr1|tGzv3JOkF0XG|7Fjfp0ZBr1Kt|gX1fBat3bV|Eby8vdM02xNO|C2y6yDjf5|4eC39HqLyjWD|26PHem9AhJZv|16C7e42F292c6912|UyFCXCpkJHpE|S!B\\\*d\$zDsb|Tr0ub4dor|zuf\+tfteSlsw|ST2EY72KQINMH574|MkVZNzJLUUlOTUg1NzRX/;
// In Base64 a row of "A" is a row of zero bytes.
const zeros = /A{5,24}/g;

/**
 * Whether a value is a placeholder or an example of documentation: it contains a word that says so,
 * counts up, repeats itself, or is published.
 */
export function isMadeUp(value: string): boolean {
  return (
    words.test(value) ||
    sequences.test(value) ||
    published.test(value) ||
    repeated.test(value.replace(zeros, "A"))
  );
}

const letters: Record<string, string> = {
  "@": "a",
  "4": "a",
  "0": "o",
  "1": "i",
  "!": "i",
  "3": "e",
  $: "s",
  "5": "s",
  "7": "t",
};

/** A value with letters in place of signs that stand for them: `Pa55w0rd`. */
export const inLetters = (value: string): string =>
  value.replaceAll(/[@40!13$57]/g, (each) => letters[each] ?? each);

/** Whether a value says that it is a password, as a random one hardly does: `MyStr0ngP@ss1`. */
export const saysPassword = (value: string): boolean => /pass|strong/i.test(inLetters(value));

// Many words: V8 takes milliseconds to compile one expression of them, and few values get this far.
const stopwords = pack.generic.stopwords.toLowerCase().split(" ");

/** Whether a value contains a word, which random values rarely do. */
export function hasStopword(text: string): boolean {
  const lower = text.toLowerCase();
  return stopwords.some((each) => lower.includes(each));
}
