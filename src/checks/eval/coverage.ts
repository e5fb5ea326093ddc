// Which documents of a folder questions bring up, and the JSON of `eval coverage`: schema/coverage.schema.json.
import * as z from "zod/mini";
import type { ReportedCase } from "./result.ts";

/** A document that came for a question, as far as the service names it. */
interface Source {
  id: string | null;
  path: string | null;
}

/** A question, and the documents that came for it; undefined if nobody knows which. */
export interface AskedQuestion {
  id: string;
  question: string;
  sources: readonly Source[] | undefined;
  /** Why nobody knows. */
  reason?: string | null | undefined;
}

/** A document of the folder. */
export interface FolderDocument {
  path: string;
  /** Its ids as the service may store them. */
  ids: readonly string[];
  /** Whether it was uploaded; undefined if no record tells. */
  isUploaded: boolean | undefined;
}

const count = z.int().check(z.minimum(0));
const CoveredDocument = z.strictObject({
  path: z.string(),
  result: z.enum(["covered", "uncovered", "not-sent"]),
  questions: count,
});
export type CoveredDocument = z.infer<typeof CoveredDocument>;

const headShape = {
  status: z
    .enum(["passed", "partial"])
    .check(z.describe("partial: a question ended in an error, or a run ended early")),
  summary: z.strictObject({
    documents: count,
    covered: count.check(z.describe("documents that a question retrieved or cited")),
    uncovered: count,
    notSent: count.check(z.describe("documents without a record of an upload")),
    questions: count.check(z.describe("questions whose documents are known")),
    withoutSource: count,
    notAsked: count.check(z.describe("questions whose documents are not known")),
  }),
  unknown: z.array(z.string()).check(z.describe("what the result cannot know, a sentence each")),
  withoutSource: z
    .array(z.strictObject({ id: z.string(), question: z.string() }))
    .check(z.describe("questions for which no document came")),
};
const version = z.literal(1);
const command = z.literal("eval coverage");

/** The report of `eval coverage`. */
export const CoverageReport = z.strictObject({
  version,
  command,
  ...headShape,
  documents: z.array(CoveredDocument),
});
export type CoverageReport = z.infer<typeof CoverageReport>;

/** The JSON of `eval coverage`, and the lines of its ndjson. */
export const CoverageOutput = z
  .union([
    CoverageReport,
    z.strictObject({ version, type: z.literal("document"), ...CoveredDocument.shape }),
    z.strictObject({ version, type: z.literal("result"), command, ...headShape }),
  ])
  .check(
    z.meta({
      title: "knowctl eval coverage",
      description:
        "Result of `knowctl eval coverage`: the object of --output json and of --report FILE.json, and " +
        "the lines of --output ndjson (`document`, then one `result`).",
    }),
  );

/** The question of a case with the documents that count: the first k of a search, all of an answer. */
export function questionOf({
  id,
  question,
  k,
  runs,
  outcome,
  reason,
}: ReportedCase): AskedQuestion {
  const known = runs.filter((run) => run.error === undefined || run.retrieved.length > 0);
  if (known.length === 0) return { id, question, sources: undefined, reason: reason ?? outcome };
  const sources = known.flatMap(({ retrieved, cited }) => [...retrieved.slice(0, k), ...cited]);
  return { id, question, sources };
}

/**
 * Counts for each document the questions that brought it up. `unknown` are sentences about what
 * cannot be known; `isPartial`: a run did not end as it should.
 */
export function coverageOf(
  documents: readonly FolderDocument[],
  questions: readonly AskedQuestion[],
  unknown: readonly string[],
  isPartial: boolean,
): CoverageReport {
  const counts = new Map<string, number>();
  const known = questions.filter(({ sources }) => sources !== undefined);
  for (const { sources = [] } of known) {
    const names = new Set(sources.flatMap(({ id, path }) => [`id ${id}`, `path ${path}`]));
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const covered = documents.map(({ path, ids, isUploaded }): CoveredDocument => {
    const names = [`path ${path}`, ...ids.map((id) => `id ${id}`)];
    const most = Math.max(...names.map((name) => counts.get(name) ?? 0));
    const isOpen = most === 0 && isUploaded === false;
    return {
      path,
      result: most > 0 ? "covered" : isOpen ? "not-sent" : "uncovered",
      questions: most,
    };
  });
  const withoutSource = known
    .filter(({ sources }) => sources?.length === 0)
    .map(({ id, question }) => ({ id, question }));
  const number = (result: CoveredDocument["result"]): number =>
    covered.filter((each) => each.result === result).length;
  return {
    version: 1,
    command: "eval coverage",
    status: isPartial ? "partial" : "passed",
    summary: {
      documents: covered.length,
      covered: number("covered"),
      uncovered: number("uncovered"),
      notSent: number("not-sent"),
      questions: known.length,
      withoutSource: withoutSource.length,
      notAsked: questions.length - known.length,
    },
    unknown: [...unknown],
    withoutSource,
    documents: covered,
  };
}
