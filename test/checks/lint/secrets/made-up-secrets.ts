import { pack } from "../../../../src/checks/lint/secrets/pack.ts";

// No file contains a secret, not even a made-up one: scanners of hosting sites refuse such files.
// Values are made from the expressions of the rules, with fixed random numbers.

export type Random = () => number;

/** Numbers from 0 up to 1, the same for the same seed (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const ascii = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index));
const charactersOf = new Map<string, string[]>();

function pick(random: Random, of: string): string {
  let characters = charactersOf.get(of);
  if (!characters) {
    const one = new RegExp(`^${of}$`);
    // Tokens contain no "=" but at their ends.
    const fitting = ascii.filter((each) => one.test(each) && each !== "=");
    charactersOf.set(of, (characters = fitting));
  }
  return characters[Math.floor(random() * characters.length)] ?? "";
}

function countOf(random: Random, quantifier: string | undefined): number {
  if (!quantifier) return 1;
  const [, least = "0", comma, most] = /^\{(\d+)(,?)(\d*)\}/.exec(quantifier) ?? [];
  if (quantifier.startsWith("?") || quantifier.startsWith("*")) return 0;
  if (quantifier.startsWith("+")) return 8 + Math.floor(random() * 8);
  const low = Number(least);
  if (!comma || most === "") return low;
  return low + Math.floor(random() * (Number(most) - low + 1));
}

const part = /\\b|\^|\(\?!|\(\?:|\(|\)|\||\[\^?(?:\\.|[^\]\\])+\]|\\x[0-9a-f]{2}|\\.|[^]/gy;
const quantifier = /(?:\{\d+,?\d*\}|[?*+])\??/y;

/** A random text that an expression matches: a small part of their language. */
export function textFor(pattern: string, random: Random): string {
  let at = 0;
  const next = (expression: RegExp): string | undefined => {
    expression.lastIndex = at;
    const found = expression.exec(pattern)?.[0];
    at += found?.length ?? 0;
    return found;
  };
  const choice = (): (() => string) => {
    const choices: (() => string)[][] = [[]];
    for (let token = next(part); token !== undefined && token !== ")"; token = next(part)) {
      const atom = token;
      let make: () => string;
      if (atom === "|") {
        choices.push([]);
        continue;
      } else if (atom === "\\b" || atom === "^") make = () => "";
      else if (atom === "(?!") {
        choice();
        make = () => "";
      } else if (atom.startsWith("(")) make = choice();
      else if (atom.length === 1) make = () => atom;
      else make = () => pick(random, atom);
      const count = next(quantifier);
      choices.at(-1)?.push(() => Array.from({ length: countOf(random, count) }, make).join(""));
    }
    return () => {
      const chosen = choices[Math.floor(random() * choices.length)] ?? [];
      return chosen.map((each) => each()).join("");
    };
  };
  return choice()();
}

export interface MadeUpSecret {
  kind: string;
  /** The name of the value, if only the name shows what it is. */
  name?: string;
  value: string;
}

function base64url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

/** A JSON Web Token that expires in 2100. */
export function madeUpToken(random: Random, claims: object = { exp: 4102444800 }): string {
  const header = base64url({ alg: "HS256", typ: "JWT" });
  const subject = { sub: textFor("[a-z0-9]{24}", random), ...claims };
  return `${header}.${base64url(subject)}.${textFor("[A-Za-z0-9_-]{42}[A-Za-z]", random)}`;
}

// Two rules contain a name and its value in one expression.
const assignment = String.raw`[\x60'"\s=\\]{0,5}`;
const namesInPatterns: Record<string, string> = {
  "atlassian-api-token": "jira_token",
  "telegram-bot-api-token": "telegram_token",
};

function knownSecret({ id, pattern }: (typeof pack.known)[number], random: Random): MadeUpSecret {
  if (id === "jwt") return { kind: id, value: madeUpToken(random) };
  const name = namesInPatterns[id];
  if (name === undefined) return { kind: id, value: textFor(pattern, random).trim() };
  const [, value = ""] = pattern.split(assignment);
  return { kind: id, name, value: textFor(value.split("|")[0] ?? "", random) };
}

/** Secrets of all kinds of the pack, `each` of every kind. */
export function madeUpSecrets(seed: number, each: number): MadeUpSecret[] {
  const random = randomFrom(seed);
  const times = Array.from({ length: each });
  return [
    ...pack.known.flatMap((form) => times.map(() => knownSecret(form, random))),
    ...pack.assigned.flatMap(({ id, names, pattern }) =>
      times.map(() => ({
        kind: id,
        name: textFor(names, random),
        value: textFor(pattern, random),
      })),
    ),
  ];
}
