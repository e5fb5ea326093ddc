/**
 * Reads the problems of a 422 response: from a dump written by Python, or from a list
 * (observed-service.md 6.3). The service also repeats its input, which may be the whole
 * document: only a short wrong value is kept.
 */
import { bySimilarity } from "../../nearest.ts";
import { shorten } from "./shorten.ts";

/** One problem of a refused request. */
export interface Problem {
  /** Path of the member: `body.document.source`. */
  place: string;
  /** The service's name for the kind of problem; empty if it names none. */
  type: string;
  message: string;
  /** The wrong value, if it is short. */
  input: string | undefined;
}

const maxProblemChars = 160;
const maxShownProblems = 3;
const maxShownNames = 3;
const maxInputChars = 60;

const quoted = (limit: number): string =>
  `'((?:[^'\\\\]|\\\\.){0,${limit}})'|"((?:[^"\\\\]|\\\\.){0,${limit}})"`;

/** One problem of a dump. A list of all sources has some 1,600 characters. */
const dumped = new RegExp(
  `(?:'type': '(\\w{1,60})', )?'loc': \\(([^()]{0,200})\\), 'msg': (?:${quoted(4000)})` +
    `(?:, 'input': (?:${quoted(maxInputChars)}|(-?[\\w.]{1,30}))(?=[,}]))?`,
  "g",
);

/** The problems in a dump; `total` is the number that the dump names, or of those found. */
export function dumpedProblems(dump: string): { problems: Problem[]; total: number } {
  const problems: Problem[] = [];
  for (const match of dump.slice(0, 200_000).matchAll(dumped)) {
    const [, type = "", loc = "", single, double, ...inputs] = match;
    const place = loc.replace(/'/g, "").replace(/,\s*$/, "").split(/,\s*/).join(".");
    const input = inputs.find((each) => each !== undefined);
    problems.push({ place, type, message: single ?? double ?? "", input });
    if (problems.length >= maxShownProblems) break;
  }
  const said = /^(\d+) validation error/.exec(dump.trimStart());
  return { problems, total: Math.max(problems.length, Number(said?.[1] ?? 0)) };
}

function problemOf(item: unknown): Problem {
  const none = { place: "", type: "", message: "", input: undefined };
  if (typeof item === "string") return { ...none, message: item };
  if (typeof item !== "object" || item === null) return none;
  const { loc, msg, type, input } = item as Record<string, unknown>;
  const isShort = typeof input === "string" && input.length <= maxInputChars;
  return {
    place: Array.isArray(loc) ? loc.join(".") : "",
    type: typeof type === "string" ? type : "",
    message: typeof msg === "string" ? msg : "",
    input: isShort || typeof input === "number" ? String(input) : undefined,
  };
}

/** The problems in the list form: `[{type, loc, msg, input}]`. */
export function listedProblems(list: readonly unknown[]): { problems: Problem[]; total: number } {
  const problems = list
    .map(problemOf)
    .filter(({ place, message }) => place !== "" || message !== "");
  return { problems, total: problems.length };
}

const isParsing = /^\w+_parsing$/;
const isChoice = /^(?:enum|literal_error)$/;
/** A wrong name and the valid ones: all if they are few, else the most similar ones. */
function choiceWords({ message, input }: Problem): string | undefined {
  const names = [...message.matchAll(/'([^'\\]{1,80})'/g)].map(([, name = ""]) => name);
  if (names.length === 0) return undefined;
  const found = input === undefined ? "unknown name" : `"${input}" is unknown`;
  if (names.length <= maxShownNames) return `${found}; valid: ${names.join(", ")}`;
  const shown = (input === undefined ? names : bySimilarity(input, names)).slice(0, maxShownNames);
  const which = input === undefined ? "some" : "the nearest";
  return `${found}; ${which} of ${names.length} valid names: ${shown.join(", ")}`;
}

function describe(problem: Problem): string {
  const { place, type, message, input } = problem;
  const found = isParsing.test(type) && input ? `, found "${input}"` : "";
  const words = (isChoice.test(type) ? choiceWords(problem) : undefined) ?? message + found;
  return shorten(place === "" ? words : `${place}: ${words}`, maxProblemChars);
}

/** The first problems as one line, with the number of the others. */
export function describeProblems(problems: readonly Problem[], total: number): string {
  const shown = problems.slice(0, maxShownProblems).map(describe);
  const more = total > shown.length ? ` (and ${total - shown.length} more)` : "";
  return `${shown.join("; ")}${more}`;
}
