import type { VerifiedDocument } from "../../checks/verify/evidence.ts";
import { redactAll } from "../terminal/redact.ts";
import { countOf, formatCount } from "../terminal/progress.ts";
import { countsText, verifyResults } from "../verify.ts";
import { verifyJson, type VerifyEnd } from "../verify-json.ts";
import type { Annotation } from "../workflow-commands.ts";
import { redactEach, reportFormatOf, writeFilePieces, type ReportFormat } from "./file.ts";
import { maxAnnotations } from "./ci/github.ts";
import { pageEnd, pageStart } from "./html/page.ts";
import { inertPieces } from "./json.ts";
import { attributes, properties, xmlText } from "./junit.ts";
import { escapeHtml } from "./text.ts";

/** A finished check. */
export interface VerifyRun extends VerifyEnd {
  documents: readonly VerifiedDocument[];
  /** Files that could not be read, with the reason: their documents were not checked. */
  unread: readonly string[];
  /** Number of documents that a stopped check did not reach. */
  unchecked?: number;
  /** Whether a document is as expected. */
  isFine: (document: VerifiedDocument) => boolean;
}

const uncheckedText = (count: number): string => `${countOf(count, "document")} not checked`;

const placeOf = ({ path, id }: VerifiedDocument): string => path ?? id;

/** Every document that is not as expected is a failed test; an undecided one is skipped. A file that could not be read is an error. */
function* junit({ summary, documents, isFine, ...run }: VerifyRun): Generator<string> {
  const { unchecked = 0 } = run;
  const unread = [...run.unread, ...(unchecked > 0 ? [uncheckedText(unchecked)] : [])];
  const bad = documents.filter((each) => !isFine(each));
  const unknown = bad.filter(({ result }) => result === "unknown").length;
  const fine = documents.length - bad.length;
  const name = "knowctl verify";
  const tests = bad.length + unread.length + (fine > 0 ? 1 : 0);
  const failures = bad.length - unknown;
  const totals = { tests, failures, errors: unread.length, skipped: unknown };
  yield `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites${attributes({ name, ...totals })}>\n`;
  const counts = Object.fromEntries(verifyResults.map((each) => [each, summary[each]]));
  yield `  <testsuite${attributes({ name, ...totals })}>\n${properties(counts)}`;
  if (fine > 0) {
    const title = `${formatCount(fine)} as expected`;
    yield `    <testcase${attributes({ classname: "verify", name: title })}/>\n`;
  }
  for (const each of bad) {
    const file = each.path ?? undefined;
    const opening = attributes({ classname: "verify", name: placeOf(each), file });
    const { result, reason } = each;
    const message = attributes({ message: `${result}: ${reason}`, type: result });
    const inner =
      result === "unknown"
        ? `<skipped${attributes({ message: reason })}/>`
        : `<failure${message}>${xmlText(reason)}</failure>`;
    yield `    <testcase${opening}>${inner}</testcase>\n`;
  }
  for (const reason of unread) {
    const opening = attributes({ classname: "verify", name: reason });
    const message = attributes({ message: reason, type: "unreadable" });
    yield `    <testcase${opening}><error${message}>${xmlText(reason)}</error></testcase>\n`;
  }
  yield "  </testsuite>\n</testsuites>\n";
}

function* html({
  summary,
  documents,
  unread,
  isFine,
  unchecked = 0,
}: VerifyRun): Generator<string> {
  const rest = unchecked > 0 ? `, ${uncheckedText(unchecked)}` : "";
  const counts = countsText(summary) + rest;
  yield pageStart({ title: `knowctl verify: ${counts}`, command: "verify" });
  const lacks = unread.map((reason) => `\n<p>${escapeHtml(reason)}</p>`);
  const title =
    unread.length === 0 ? counts : `${counts}, ${countOf(unread.length, "file")} not read`;
  yield `<header><h1>${escapeHtml(title)}</h1>${lacks.join("")}</header>\n`;
  if (documents.every(isFine)) return yield pageEnd();
  yield '<section><h2>Not as expected</h2><table><thead><tr><th scope="col">document</th><th scope="col">result</th><th scope="col">reason</th></tr></thead><tbody>\n';
  for (const each of documents) {
    if (isFine(each)) continue;
    const cells = [placeOf(each), each.result, each.reason].map(
      (text) => `<td>${escapeHtml(text)}</td>`,
    );
    yield `<tr>${cells.join("")}</tr>\n`;
  }
  yield "</tbody></table></section>\n";
  yield pageEnd();
}

const formats: Record<ReportFormat, (run: VerifyRun) => Iterable<string>> = {
  ".json": (run) => inertPieces(verifyJson(run, run.documents)),
  ".xml": junit,
  ".html": html,
};

/**
 * Writes a report in the format of the extension of `path`. Throws CliError `usage` for an unknown
 * extension, `local` when the file cannot be written.
 */
export async function writeVerifyReport(
  path: string,
  run: VerifyRun,
  redact: (text: string) => string,
): Promise<void> {
  const render = formats[reportFormatOf(path)];
  const documents = [...redactEach(run.documents, redact)];
  const unread = run.unread.map(redact);
  const safe = { ...run, summary: redactAll(run.summary, redact), documents, unread };
  await writeFilePieces(path, render(safe));
}

/** An annotation on the local file of each of the first ten documents. */
export function verifyAnnotations(
  bad: readonly VerifiedDocument[],
  prefix: string | undefined,
): Annotation[] {
  return bad.slice(0, maxAnnotations).map((each) => {
    const { path, result, reason } = each;
    const isPlaced = prefix !== undefined && path !== null;
    const text = reason === "" ? result : `${result}: ${reason}`;
    return {
      level: result === "unknown" ? "warning" : "error",
      ...(isPlaced ? { file: `${prefix}${path}` } : {}),
      title: "Not in the index as uploaded",
      message: isPlaced ? text : `${placeOf(each)}: ${text}`,
    };
  });
}
