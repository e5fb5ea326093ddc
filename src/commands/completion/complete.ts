import { findCandidates, type Candidate, type Offer } from "./candidates.ts";
import { findPosition } from "./position.ts";
import type { Place } from "./profiles.ts";
import { quoteForBash, quoteForPowerShell, readShellLine } from "./shell-words.ts";
import type { CompletionTable } from "../../config/command-table.ts";

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
