// What is wrong with a response, in few words: by its shape, or in the service's own words, from any of
// the five shapes of its error bodies (observed-service.md 6.2 and 6.3).
import type * as z from "zod/mini";
import { isObject } from "../chat/common-lines.ts";
import { issueText } from "../../errors.ts";
import { bySimilarity } from "../../nearest.ts";

const maxChars = 500;

/** Collapses white space and cuts the text to `limit` characters without splitting one. */
export function shorten(text: string, limit: number = maxChars): string {
  // Collapsing a huge body costs time, and only its beginning is kept.
  const line = text
    .slice(0, limit * 8)
    .replace(/\s+/g, " ")
    .trim();
  if (line.length <= limit) return line;
  return `${line.slice(0, limit).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** Checks a parsed response, as a zod schema does. */
export interface Shape<T> {
  safeParse(
    value: unknown,
  ):
    | { success: true; data: T }
    | { success: false; error: { issues: readonly z.core.$ZodIssue[] } };
}

/** For a response of which only the status matters. */
export const anything: Shape<unknown> = { safeParse: (data) => ({ success: true, data }) };

/** The first three problems of a parsed response, each in a few words. */
export function describeIssues(issues: readonly z.core.$ZodIssue[]): string {
  const shown = issues.slice(0, 3).map((issue) => {
    const place = issue.path.map(String).join(".");
    const problem = issueText(issue);
    return shorten(place === "" ? problem : `${place}: ${problem}`, 160);
  });
  return shown.join("; ") + (issues.length > 3 ? ` (and ${issues.length - 3} more)` : "");
}

/**
 * One problem of a 422 response: from a dump written by Python, or from a list. The service also repeats
 * its input, which may be the whole document: only a short wrong value is kept.
 */
interface Problem {
  /** Path of the member: `body.document.source`. */
  place: string;
  /** The service's name for the kind of problem; empty if it names none. */
  type: string;
  message: string;
  /** The wrong value, if it is short. */
  input: string | undefined;
}

/** The first problems of a response, and how many it has. */
interface Problems {
  problems: Problem[];
  total: number;
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
function dumpedProblems(dump: string): Problems {
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
function listedProblems(list: readonly unknown[]): Problems {
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
function describeProblems({ problems, total }: Problems): string {
  const shown = problems.slice(0, maxShownProblems).map(describe);
  const more = total > shown.length ? ` (and ${total - shown.length} more)` : "";
  return `${shown.join("; ")}${more}`;
}

const maxDumpChars = 160;

function validationWords(message: string): ServiceWords {
  const found = dumpedProblems(message);
  // An unknown dump format: keep only the text before anything that may echo the input.
  if (found.problems.length === 0)
    return { text: shorten(message.split(/['"]?input/i)[0] ?? "", maxDumpChars) };
  return { text: describeProblems(found) };
}

const listWords = (list: readonly unknown[]): ServiceWords => ({
  text: describeProblems(listedProblems(list)),
});

/** A web page is described by its title only; the rest of a page rarely helps. */
function pageTitle(page: string): string {
  const title = /<title[^>]*>([^<]{0,300})</i.exec(page.slice(0, 20_000))?.[1];
  return title === undefined ? "a web page" : `a web page titled "${shorten(title, 100)}"`;
}

export interface ServiceWords {
  /** One line of at most 500 characters and an ellipsis; empty if the body has no message. */
  text: string;
  /** The service's own code (`CONNECTOR_NOT_FOUND`). */
  code?: string;
  /** The body is a web page: of a proxy, or of the service's web server. */
  isPage?: true;
}

function wordsOfObject(value: Record<string, unknown>, depth = 0): ServiceWords {
  const code =
    typeof value["error_code"] === "string" ? shorten(value["error_code"], 80) : undefined;
  const coded = code === undefined ? {} : { code };
  const { detail, message } = value;
  if (value["status_code"] === 422 && typeof message === "string") {
    return { ...validationWords(message), ...coded };
  }
  if (Array.isArray(detail)) return { ...listWords(detail), ...coded };
  for (const candidate of [detail, message, value["error"], value["error_msg"]]) {
    if (typeof candidate === "string") return { text: shorten(candidate), ...coded };
    if (isObject(candidate) && depth < 3) {
      const inner = wordsOfObject(candidate, depth + 1);
      if (inner.text !== "") return { ...coded, ...inner };
    }
  }
  return { text: code ?? "", ...coded };
}

/** Reads the body of a failed response. `contentType` decides only between a page and plain text. */
export function readServiceWords(body: Buffer, contentType: string, status: number): ServiceWords {
  const words = readWords(body, contentType, status);
  // The service begins some messages with the status, which every error names already.
  const prefix = `${status}: `;
  return words.text.startsWith(prefix)
    ? { ...words, text: words.text.slice(prefix.length) }
    : words;
}

function readWords(body: Buffer, contentType: string, status: number): ServiceWords {
  const text = body.toString("utf8", 0, 512 * 1024);
  if (/^\s*[[{"]/.test(text)) {
    try {
      const value: unknown = JSON.parse(text);
      if (isObject(value)) return wordsOfObject(value);
      if (Array.isArray(value)) return listWords(value);
      if (typeof value === "string") return { text: shorten(value) };
    } catch {
      // Cut or not JSON: treated as text below.
    }
  }
  if (contentType.includes("html") || /^\s*<(!doctype|html)/i.test(text)) {
    return { text: pageTitle(text), isPage: true };
  }
  return status === 422 ? validationWords(text) : { text: shorten(text) };
}
