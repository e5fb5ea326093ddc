/**
 * Extracts the service's own error message as one short line, from any of the five
 * shapes of its error bodies (observed-service.md 6.2).
 */

import { describeProblems, dumpedProblems, listedProblems } from "./problems.ts";
import { shorten } from "./shorten.ts";

const maxDumpChars = 160;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function validationWords(message: string): ServiceWords {
  const { problems, total } = dumpedProblems(message);
  // An unknown dump format: keep only the text before anything that may echo the input.
  if (problems.length === 0)
    return { text: shorten(message.split(/['"]?input/i)[0] ?? "", maxDumpChars) };
  return { text: describeProblems(problems, total) };
}

function listWords(list: readonly unknown[]): ServiceWords {
  const { problems, total } = listedProblems(list);
  return { text: describeProblems(problems, total) };
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
