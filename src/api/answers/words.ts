/**
 * Extracts the service's own error message as one short line, from any of the five
 * shapes of its error bodies (observed-service.md 6.2).
 */

const maxChars = 500;
const maxProblemChars = 160;
const maxProblems = 3;

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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function joinProblems(problems: string[], total: number): string {
  const shown = problems.slice(0, maxProblems).map((problem) => shorten(problem, maxProblemChars));
  const more = total > shown.length ? ` (and ${total - shown.length} more)` : "";
  return `${shown.join("; ")}${more}`;
}

/**
 * Place and text of each problem in a validation dump written by Python. The
 * dump also repeats the input, for a missing member the whole document: the input
 * is dropped (observed-service.md 6.3).
 */
function dumpedProblems(dump: string): string | undefined {
  const problem = /'loc': \(([^()]{0,200})\), 'msg': (?:'([^']{0,300})'|"([^"]{0,300})")/g;
  const problems: string[] = [];
  let total = 0;
  for (const match of dump.slice(0, 200_000).matchAll(problem)) {
    total += 1;
    const place = (match[1] ?? "").replace(/'/g, "").replace(/,\s*$/, "").split(/,\s*/).join(".");
    problems.push(`${place}: ${match[2] ?? match[3] ?? ""}`);
    if (total >= maxProblems) break;
  }
  if (total === 0) return undefined;
  const said = /^(\d+) validation error/.exec(dump.trimStart());
  return joinProblems(problems, Math.max(total, Number(said?.[1] ?? 0)));
}

/** The list form of validation problems: `[{loc, msg, input}]`; the input is left out. */
function listedProblems(list: unknown[]): string {
  const problems = list.map((item) => {
    if (!isObject(item)) return typeof item === "string" ? item : "";
    const place = Array.isArray(item["loc"]) ? item["loc"].join(".") : "";
    const message = typeof item["msg"] === "string" ? item["msg"] : "";
    return place === "" ? message : `${place}: ${message}`;
  });
  return joinProblems(
    problems.filter((problem) => problem !== ""),
    problems.length,
  );
}

function validationWords(message: string): string {
  const problems = dumpedProblems(message);
  if (problems !== undefined) return problems;
  // An unknown dump format: keep only the text before anything that may echo the input.
  return shorten(message.split(/['"]?input/i)[0] ?? "", maxProblemChars);
}

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
}

function wordsOfObject(value: Record<string, unknown>, depth = 0): ServiceWords {
  const code =
    typeof value["error_code"] === "string" ? shorten(value["error_code"], 80) : undefined;
  const coded = code === undefined ? {} : { code };
  const { detail, message } = value;
  if (value["status_code"] === 422 && typeof message === "string") {
    return { text: validationWords(message), ...coded };
  }
  if (Array.isArray(detail)) return { text: listedProblems(detail), ...coded };
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
  const text = body.toString("utf8", 0, 512 * 1024);
  if (/^\s*[[{"]/.test(text)) {
    try {
      const value: unknown = JSON.parse(text);
      if (isObject(value)) return wordsOfObject(value);
      if (Array.isArray(value)) return { text: listedProblems(value) };
      if (typeof value === "string") return { text: shorten(value) };
    } catch {
      // Cut or not JSON: treated as text below.
    }
  }
  if (contentType.includes("html") || /^\s*<(!doctype|html)/i.test(text)) {
    return { text: pageTitle(text) };
  }
  return { text: status === 422 ? validationWords(text) : shorten(text) };
}
