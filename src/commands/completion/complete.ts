import { findCandidates, type Candidate, type Offer } from "./candidates.ts";
import { findPosition } from "./position.ts";
import type { Place } from "./profiles.ts";
import { quoteForBash, quoteForPowerShell, readShellLine } from "./shell-words.ts";
import type { CompletionTable } from "../../config/command-table.ts";

type Find = (words: readonly string[], current: string) => Promise<Offer & { prefix: string }>;

// Types of completion in which bash shows a list and inserts no more than what all have in common.
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
  // With names of files among them the line editor quotes what it is given.
  const showTexts = left.length > 1 && offer.paths === undefined && listing.has(type);
  const lines = left.map(({ value, text: more }) => {
    const word = quoteForBash(value.slice(kept), quote);
    return showTexts && more !== "" ? `${word}  (${more})` : word;
  });
  return [modeOf({ ...offer, candidates: left }), ...lines].join("\n");
}

/** A line a candidate: the value, a tab, what is shown of it. */
function inColumns(candidates: readonly Candidate[], skipped: number): string[] {
  const shown = candidates.map(({ value, text }) => ({ value: value.slice(skipped), text }));
  const width = Math.min(40, Math.max(0, ...shown.map(({ value }) => value.length)));
  return shown.map(({ value, text }) =>
    text === "" ? `${value}\t${value}` : `${value}\t${value.padEnd(width)}  -- ${text}`,
  );
}

// zsh and fish choose among the candidates themselves, in ways that users set.
async function forZsh([current = "", ...words]: readonly string[], find: Find): Promise<string> {
  const offer = await find(words, current);
  return [modeOf(offer), ...inColumns(offer.candidates, offer.prefix.length)].join("\n");
}

async function forFish([current = "", ...words]: readonly string[], find: Find): Promise<string> {
  const offer = await find(words, current.replace(/^["']/, ""));
  const lines = offer.candidates.map(({ value, text }) => (text ? `${value}\t${text}` : value));
  return [modeOf(offer), ...lines].join("\n");
}

// Windows PowerShell spoils quotation marks in arguments and letters in answers: base64 in, ASCII out.
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
 * Answers the script of a shell (`knowctl __complete SHELL …`): the first line
 * says how the shell goes on (`words`, `ordered`, `files`, `directories`,
 * `both`), each further line is a candidate. Asks no service, reads no key, and
 * never throws: a shell that waits for a Tab has no place for an error.
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
