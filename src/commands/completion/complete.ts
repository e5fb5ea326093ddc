import { findPosition, type Position } from "./position.ts";
import { type Place, readProfiles, type Profiles } from "./profiles.ts";
import type { CompletionTable, Takes } from "../../config/command-table.ts";
import { neutraliseLine } from "../../output/terminal/neutralise.ts";
import { isOffered, readNames, type Named, type NameKind } from "./names.ts";

/** A candidate for the current word; `text` explains it, neutralised and short. */
interface Candidate {
  value: string;
  text: string;
}

interface Offer {
  candidates: Candidate[];
  /** The shell also completes names of files or folders. */
  paths?: "files" | "directories";
  /** The order has a meaning: last used first. */
  ordered?: true;
}

const longestText = 60;
const mostSessions = 50;

function short(text: string): string {
  const line = neutraliseLine(text.slice(0, 4 * longestText)).trim();
  const characters = [...line];
  return characters.length > longestText
    ? `${characters.slice(0, longestText - 1).join("")}…`
    : line;
}

function words(values: readonly string[]): Offer {
  return { candidates: values.map((value) => ({ value, text: "" })) };
}

function byName(names: readonly Named[]): Candidate[] {
  return names.map(({ id, name, text }) => ({ value: name, text: [id, text].join(" ").trim() }));
}

function byId(names: readonly Named[]): Candidate[] {
  return names.map(({ id, name, text }) => ({
    value: String(id),
    text: [name, text].join("  ").trim(),
  }));
}

async function sessions(place: Place, { profile, baseUrl }: Profiles): Promise<Offer> {
  const last = { value: "last", text: "the session used last" };
  if (baseUrl === undefined) return { candidates: [last] };
  // Loaded on demand: loading costs time.
  const { indexedSessions } = await import("../chat/session/session-index.ts");
  const candidates = [last];
  try {
    for (const { id, title } of indexedSessions(place.env, { profile, baseUrl })) {
      candidates.push({ value: id, text: title });
      if (candidates.length > mostSessions) break;
    }
  } catch {
    // Without a readable folder, there are no candidates.
  }
  return { candidates, ordered: true };
}

/** Completes the last word of a comma-separated list; words already in it are not offered. */
function inList(list: readonly string[], typed: string): Offer {
  const before = typed.slice(0, typed.lastIndexOf(",") + 1);
  const given = new Set(before.split(","));
  return words(list.filter((word) => !given.has(word)).map((word) => before + word));
}

async function ofService(
  kind: Takes,
  typed: string,
  place: Place,
  profiles: Profiles,
): Promise<Offer> {
  const { profile, baseUrl } = profiles;
  const names = (of: NameKind): Named[] =>
    baseUrl === undefined ? [] : readNames(place.env, of, { profile, baseUrl }, place.now);
  if (kind === "session") return await sessions(place, profiles);
  if (kind === "agent") return { candidates: byId(names("agents")) };
  if (kind === "tool") return { candidates: byId(names("tools")) };
  const connectors = names("connectors");
  if (kind === "connector") return { candidates: byName(connectors) };
  if (kind === "source") return words([...new Set(connectors.map(({ text }) => text))]);
  // The argument may be an id or a name: a typed digit selects the ids.
  const isName = kind === "connector-or-pair" && !/^\d/.test(typed);
  return { candidates: isName ? byName(connectors) : byId(connectors) };
}

async function offerValue(
  takes: Takes,
  typed: string,
  place: Place,
  position: Position,
  table: CompletionTable,
): Promise<Offer> {
  if (typeof takes === "object") return "list" in takes ? inList(takes.list, typed) : words(takes);
  if (takes === "file") return { candidates: [], paths: "files" };
  if (takes === "directory") return { candidates: [], paths: "directories" };
  if (takes === "free") return { candidates: [] };
  if (takes === "key") return words(table.keys);
  if (takes === "rule") return words(table.rules);
  const profiles = await readProfiles(place, position.chosen);
  if (takes !== "profile") return await ofService(takes, typed, place, profiles);
  return words(profiles.names);
}

function offerFlags(position: Position): Candidate[] {
  return position.flags.flatMap(({ names, text }) => {
    const long = names.at(-1);
    return long === undefined ? [] : [{ value: long, text }];
  });
}

function offerCommands(position: Position, table: CompletionTable): Candidate[] {
  return position.commands.map((name) => {
    const path = position.path === "" ? name : `${position.path} ${name}`;
    const row = Object.hasOwn(table.commands, path) ? table.commands[path] : undefined;
    const isTopic = position.path === "" && table.topics.includes(name);
    return { value: name, text: row?.text ?? (isTopic ? "topic" : "Show help for a command.") };
  });
}

/**
 * Finds the candidates for a position; `current` is the typed part of the word. Every value
 * is one line without control characters; the shell does its own quoting. After a typed
 * `--flag=`, each value begins with it.
 */
async function findCandidates(
  table: CompletionTable,
  position: Position,
  current: string,
  place: Place,
): Promise<Offer> {
  const { prefix } = position;
  if (prefix === "" && current.startsWith("-") && position.flags.length > 0) {
    return {
      candidates: offerFlags(position).map(({ value, text }) => ({ value, text: short(text) })),
    };
  }
  const typed = current.slice(prefix.length);
  const offer: Offer =
    position.takes === undefined
      ? { candidates: [] }
      : await offerValue(position.takes, typed, place, position, table);
  const all = [...offerCommands(position, table), ...offer.candidates];
  const candidates = all
    .filter(({ value }) => isOffered(value))
    .map(({ value, text }) => ({ value: prefix + value, text: short(text) }));
  return { ...offer, candidates };
}

/** The line up to the cursor, split as in bash. */
interface ShellLine {
  /** Words before the word at the cursor, without quotes; the first is the program. */
  words: string[];
  /** The beginning of the word at the cursor, without quotes. */
  current: string;
  /** Length of the part of `current` that stays as typed; the inserted text follows it. */
  kept: number;
  /** The quotation mark that is still open. */
  quote: "" | '"' | "'";
}

interface Reader extends ShellLine {
  /** A word has begun, even if it is only an empty pair of quotes. */
  inWord: boolean;
}

/** Reads inside quotation marks; returns where they end. */
function readQuoted(reader: Reader, line: string, start: number, quote: '"' | "'"): number {
  reader.quote = quote;
  reader.kept = reader.current.length;
  let at = start;
  for (; at < line.length && line[at] !== quote; at++) {
    const next = line[at + 1];
    const escapes =
      quote === '"' && line[at] === "\\" && next !== undefined && '"\\$`'.includes(next);
    if (escapes) at++;
    reader.current += line[at] ?? "";
  }
  if (at >= line.length) return at;
  reader.quote = "";
  // A closing quote also ends the part that the line editor replaces.
  reader.kept = reader.current.length;
  return at + 1;
}

/**
 * Splits a command line as bash and its line editor do. Returns words without quotes, and
 * the part of the last word that the editor replaces: the part after the last open quote,
 * or after the last unquoted character of `breaks` (COMP_WORDBREAKS). Does not expand
 * substitutions.
 */
export function readShellLine(line: string, breaks: string): ShellLine {
  const reader: Reader = { words: [], current: "", kept: 0, quote: "", inWord: false };
  let at = 0;
  while (at < line.length) {
    const character = line[at] ?? "";
    if (/[ \t\n]/.test(character)) {
      if (reader.inWord) reader.words.push(reader.current);
      Object.assign(reader, { current: "", kept: 0, inWord: false });
      at++;
      continue;
    }
    reader.inWord = true;
    if (character === '"' || character === "'") {
      at = readQuoted(reader, line, at + 1, character);
      continue;
    }
    const escaped = character === "\\";
    reader.current += escaped ? (line[at + 1] ?? "") : character;
    if (!escaped && breaks.includes(character)) reader.kept = reader.current.length;
    at += escaped ? 2 : 1;
  }
  const { words, current, kept, quote } = reader;
  return { words, current, kept, quote };
}

function escapeForBash(text: string, quote: ShellLine["quote"]): string {
  if (quote === "'") return text.replaceAll("'", "'\\''");
  // bash expands `!` inside double quotes, and no escape inside them prevents it.
  if (quote === '"') return text.replace(/[\\"$`]/g, "\\$&").replaceAll("!", '"\\!"');
  return text.replace(/[^\w./,+%@-]/gu, (each) => (each > "\u007f" ? each : `\\${each}`));
}

/** Quotes a text for a bash line, after the open quotation mark. */
export function quoteForBash(text: string, quote: ShellLine["quote"]): string {
  const word = escapeForBash(text, quote);
  // The line editor adds the closing quote, unless the text ends with this quote.
  return quote !== "" && word.endsWith(quote) ? word + quote : word;
}

/** Quotes a text as one PowerShell word. */
export function quoteForPowerShell(text: string): string {
  if (/^[A-Za-z0-9_][\w./:\\=+-]*$/.test(text) || /^--[\w-]+$/.test(text)) return text;
  // PowerShell reads typographic quotes as plain quotes.
  return `'${text.replace(/['\u2018\u2019\u201a\u201b]/g, "$&$&")}'`;
}

type Find = (words: readonly string[], current: string) => Promise<Offer & { prefix: string }>;

// Completion types in which bash shows a list and inserts only the common prefix.
const listing = new Set(["63", "33", "64"]);

function modeOf({ candidates, paths, ordered }: Offer): string {
  if (paths !== undefined) return candidates.length > 0 ? "both" : paths;
  return ordered ? "ordered" : "words";
}

async function forBash(args: readonly string[], find: Find): Promise<string> {
  const [type = "", breaks = "", text = ""] = args;
  const { words, current, kept, quote } = readShellLine(text, breaks);
  const offer = await find(words.slice(1), current);
  const left = offer.candidates.filter(({ value }) => value.startsWith(current));
  // With file names among the candidates, the line editor quotes the whole text.
  const showTexts = left.length > 1 && offer.paths === undefined && listing.has(type);
  const lines = left.map(({ value, text: more }) => {
    const word = quoteForBash(value.slice(kept), quote);
    return showTexts && more !== "" ? `${word}  (${more})` : word;
  });
  return [modeOf({ ...offer, candidates: left }), ...lines].join("\n");
}

/** One line for each candidate: the value, a tab, the shown text. */
function inColumns(candidates: readonly Candidate[], skipped: number): string[] {
  const shown = candidates.map(({ value, text }) => ({ value: value.slice(skipped), text }));
  const width = Math.min(40, Math.max(0, ...shown.map(({ value }) => value.length)));
  return shown.map(({ value, text }) =>
    text === "" ? `${value}\t${value}` : `${value}\t${value.padEnd(width)}  -- ${text}`,
  );
}

// zsh and fish filter the candidates themselves, by the user's settings.
async function forZsh([current = "", ...words]: readonly string[], find: Find): Promise<string> {
  const offer = await find(words, current);
  return [modeOf(offer), ...inColumns(offer.candidates, offer.prefix.length)].join("\n");
}

async function forFish([current = "", ...words]: readonly string[], find: Find): Promise<string> {
  const offer = await find(words, current.replace(/^["']/, ""));
  const lines = offer.candidates.map(({ value, text }) => (text ? `${value}\t${text}` : value));
  return [modeOf(offer), ...lines].join("\n");
}

// Windows PowerShell damages quotes in arguments and letters in output: base64 in, ASCII out.
async function forPowerShell([coded = ""]: readonly string[], find: Find): Promise<string> {
  const words = Buffer.from(coded, "base64").toString("utf8").split("\0");
  const current = (words.pop() ?? "").replace(/^["']/, "");
  const offer = await find(words, current);
  const left = offer.candidates.filter(({ value }) => value.startsWith(current));
  const results = left.map(({ value, text }) => ({
    value: quoteForPowerShell(value),
    shown: value,
    text: text || value,
  }));
  return JSON.stringify(results).replace(
    /[\u007f-\uffff]/g,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

const shells: Readonly<Record<string, (args: readonly string[], find: Find) => Promise<string>>> = {
  bash: forBash,
  zsh: forZsh,
  fish: forFish,
  powershell: forPowerShell,
};

/**
 * Returns the output for a shell's script (`knowctl __complete SHELL …`): the first line
 * is the mode (`words`, `ordered`, `files`, `directories`, `both`), each further line a
 * candidate. Sends no request, reads no key, and never throws: a Tab has no place for an
 * error.
 */
export async function complete(
  args: readonly string[],
  table: CompletionTable,
  place: Place,
): Promise<string> {
  const [shell = "", ...rest] = args;
  const answer = Object.hasOwn(shells, shell) ? shells[shell] : undefined;
  if (!answer) return "";
  const find: Find = async (words, current) => {
    const position = findPosition(table, words, current);
    if (!position) return { candidates: [], prefix: "" };
    return { ...(await findCandidates(table, position, current, place)), prefix: position.prefix };
  };
  try {
    return `${await answer(rest, find)}\n`;
  } catch {
    return "";
  }
}
