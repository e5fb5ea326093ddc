import { neutraliseJson } from "../neutralise.ts";
import type { ReportFailure, ReportHead } from "./record.ts";

const inert = (value: unknown, indent?: number): string =>
  neutraliseJson(JSON.stringify(value, undefined, indent));

/** The report as JSON in pieces: the head indented, then a line for each failure. */
export function* jsonReport(
  head: ReportHead,
  failures: Iterable<ReportFailure>,
): Generator<string> {
  const opening = inert(head, 2);
  yield `${opening.slice(0, opening.lastIndexOf("\n"))},\n  "failures": [`;
  let separator = "\n";
  for (const failure of failures) {
    yield `${separator}    ${inert(failure)}`;
    separator = ",\n";
  }
  yield separator === "\n" ? "]\n}\n" : "\n  ]\n}\n";
}
