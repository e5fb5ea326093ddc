import type { CheckStatus } from "../checks/verify/decide.ts";
import type { VerifiedDocument } from "../checks/verify/evidence.ts";
import type { FormatOptions } from "./formats/formats.ts";
import { checkMembers } from "./formats/members.ts";
import { emptyCounts, type VerifyCounts } from "./verify.ts";

/** The summary of a run: counts by result, and all of them. */
export type VerifySummary = VerifyCounts & { documents: number };

/** What a run ends with. */
export interface VerifyEnd {
  status: CheckStatus;
  /** With `--expect hidden`: the status and exit code count `hidden` as right. */
  expected?: "hidden" | undefined;
  summary: VerifySummary;
}

const membersOf = ({ status, expected, summary }: VerifyEnd): string =>
  JSON.stringify({ status, expected, summary }).slice(1, -1);

/** The object of `--output json` and of a `.json` report, in pieces. */
export function* verifyJson(
  end: VerifyEnd,
  documents: Iterable<VerifiedDocument>,
): Generator<string> {
  yield `{"version":1,"command":"verify",${membersOf(end)},"documents":[`;
  let separator = "\n";
  for (const each of documents) {
    yield separator + JSON.stringify(each);
    separator = ",\n";
  }
  yield "\n]}\n";
}

/** A line of ndjson for one document. */
export function verifiedLine(document: VerifiedDocument): string {
  return `${JSON.stringify({ version: 1, type: "verified", ...document })}\n`;
}

/** The last line of ndjson. */
export function verifyResultLine(end: VerifyEnd): string {
  return `{"version":1,"type":"result","command":"verify",${membersOf(end)}}\n`;
}

/** Members of the JSON, so that an unknown name in --fields is refused before any request. */
const sample = {
  version: 1,
  command: "",
  status: "",
  summary: { ...emptyCounts(), documents: 0 },
  documents: [],
};

/** Throws CliError `usage` for --fields or --jq that select nothing. Call it before any request. */
export const checkVerifyFormat = (options: FormatOptions & { expect?: "hidden" }): void =>
  checkMembers(options, options.expect ? { ...sample, expected: "" } : sample);
