import { neutraliseJson } from "../terminal/neutralise.ts";
import type { ReportFailure, ReportHead } from "./record.ts";

const inert = (value: unknown, indent?: number): string =>
  neutraliseJson(JSON.stringify(value, undefined, indent));

/** Pieces of JSON without control characters: a report may be shown on a terminal. */
export function* inertPieces(pieces: Iterable<string>): Generator<string> {
  for (const piece of pieces) yield neutraliseJson(piece);
}

/**
 * An object as JSON in pieces, with `failures` as its last member. With `isIndented`
 * the head is indented and each failure has a line; else all is on one line.
 */
export function* jsonWithFailures(
  head: object,
  failures: Iterable<ReportFailure>,
  isIndented: boolean,
): Generator<string> {
  const opening = inert(head, isIndented ? 2 : undefined);
  const [line, start, end] = isIndented ? ["\n    ", ",\n  ", "\n  "] : ["", ",", ""];
  yield `${opening.slice(0, opening.lastIndexOf("}")).trimEnd()}${start}"failures":${isIndented ? " " : ""}[`;
  let count = 0;
  for (const failure of failures) yield `${count++ > 0 ? "," : ""}${line}${inert(failure)}`;
  yield `${count > 0 ? end : ""}]${isIndented ? "\n" : ""}}\n`;
}

/** The report as JSON in pieces: the head indented, then a line for each failure. */
export function jsonReport(head: ReportHead, failures: Iterable<ReportFailure>): Generator<string> {
  return jsonWithFailures(head, failures, true);
}
