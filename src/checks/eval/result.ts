// The report of a run as JSON: what is written, read again as a baseline, and schema/eval.schema.json.
import * as z from "zod/mini";

const described = <Schema extends z.ZodMiniType>(schema: Schema, description: string): Schema =>
  schema.check(z.describe(description)) as Schema;
const text = (description: string) => described(z.string(), description);
const textOrNull = (description: string) => described(z.nullable(z.string()), description);
const count = (description: string) => z.int().check(z.minimum(0), z.describe(description));
const amount = (description: string) => z.number().check(z.minimum(0), z.describe(description));
const share = z.nullable(z.number().check(z.minimum(0), z.maximum(1)));

const version = described(z.literal(1), "version of this format");
const command = z.enum(["eval retrieval", "eval answers"]);
const EvalKind = z.enum(["retrieval", "answers"]);
export type EvalKind = z.infer<typeof EvalKind>;
const Outcome = described(
  z.enum(["passed", "failed", "error", "flaky", "skipped"]),
  "error: it could not be judged; flaky: some of its runs passed, too few; skipped: not asked",
);
export type Outcome = z.infer<typeof Outcome>;

const DocumentRef = described(
  z.union([
    z.strictObject({ path: z.string() }),
    z.strictObject({ id: z.string() }),
    z.strictObject({ link: z.string() }),
  ]),
  "the document as the suite names it",
);
/** How a suite names a document. A path is relative to the project root. */
export type DocumentRef = z.infer<typeof DocumentRef>;

const path = textOrNull("local file, relative to the project root; null if unknown");
const retrievedShape = {
  rank: z.int().check(z.minimum(1)),
  id: z.nullable(z.string()),
  title: z.nullable(z.string()),
  link: z.nullable(z.string()),
  path,
  snippet: textOrNull("text that the service showed, shortened"),
};
/** A document that the service returned, best first. */
export const RetrievedDocument = z.strictObject(retrievedShape);
export type RetrievedDocument = z.infer<typeof RetrievedDocument>;

const ReportedDocument = z.strictObject({
  ...retrievedShape,
  role: described(z.nullable(z.enum(["expected", "unwanted"])), "what the case says of it"),
});
/** A retrieved or cited document, with what the case says of it. */
export type ReportedDocument = z.infer<typeof ReportedDocument>;

const Check = z.strictObject({
  word: text("the expectation: must_retrieve, contains, not-cites, …"),
  value: described(z.unknown(), "what the suite expects"),
  passed: z.boolean(),
  detail: z.optional(text("what was found instead")),
});
/** One expectation, judged. */
export type Check = z.infer<typeof Check>;

const EvalRun = z.strictObject({
  outcome: z.enum(["passed", "failed", "error"]),
  error: z.optional(text("why it could not be judged")),
  answer: z.optional(text("answers only")),
  retrieved: z.array(RetrievedDocument),
  cited: z.array(RetrievedDocument),
  checks: z.array(Check),
  elapsedMs: amount("duration in milliseconds"),
  calls: count("model calls, as far as known"),
});
/** One attempt at a case. */
export type EvalRun = z.infer<typeof EvalRun>;

const rank = described(
  z.nullable(z.int().check(z.minimum(1))),
  "place among the retrieved documents, from 1, also beyond k; null if it was not retrieved",
);
const CaseMetrics = described(
  z.strictObject({ hit: share, recall: share, mrr: share, ndcg: share }),
  "null if the case wants no document",
);
export type CaseMetrics = z.infer<typeof CaseMetrics>;

const caseShape = {
  id: text("id in the suite"),
  kind: EvalKind,
  group: z.nullable(z.string()),
  question: z.string(),
  outcome: Outcome,
  provisional: z.optional(
    described(
      z.enum(["passed", "failed", "error", "flaky"]),
      "result of a draft that --drafts asked: the outcome is skipped, and it counts nowhere",
    ),
  ),
  reason: textOrNull("why, for error and skipped"),
  place: described(
    z.strictObject({ file: z.string(), line: count("from 1"), column: count("from 1") }),
    "place in the suite",
  ),
  profile: textOrNull("profile of the person who asks; null for the profile of the run"),
  digest: z.optional(text("of what decides the result: equal cases can be compared")),
  k: z.optional(count("documents that count, best first; without it all")),
  runs: described(z.array(EvalRun), "one for each repetition"),
  expected: z.array(
    z.strictObject({
      document: DocumentRef,
      relevance: amount("weight for nDCG"),
      path,
      rank,
    }),
  ),
  unwanted: z.array(z.strictObject({ document: DocumentRef, path, rank })),
  retrieved: described(
    z.array(ReportedDocument),
    "best first; of the first run that shows the outcome, as cited and checks",
  ),
  cited: z.array(ReportedDocument),
  checks: z.array(Check),
  metrics: CaseMetrics,
};
const ReportedCase = z.strictObject(caseShape);
/** A judged case. */
export type ReportedCase = z.infer<typeof ReportedCase>;

const Estimate = described(
  z.strictObject({ value: share, low: share, high: share, n: count("number of cases") }),
  "value with its 95 % interval; null if no case counts",
);
export type Estimate = z.infer<typeof Estimate>;

const measuredShape = {
  cases: count("number of all cases"),
  passed: count("cases"),
  failed: count("cases"),
  error: count("cases that could not be judged; they count 0 in every metric"),
  flaky: count("cases"),
  skipped: count("cases that were not asked"),
  metrics: z.strictObject({
    passed: described(Estimate, "share of the cases that passed"),
    hit: described(Estimate, "share of the cases with a wanted document among the first k"),
    recall: described(Estimate, "mean share of the wanted documents among the first k"),
    mrr: described(Estimate, "mean of 1 / rank of the first wanted document"),
    ndcg: described(Estimate, "mean nDCG with linear gain"),
  }),
};
const Measured = z.strictObject(measuredShape);
export type Measured = z.infer<typeof Measured>;
export type MetricName = keyof Measured["metrics"];

const EvalSummary = z.strictObject({
  ...measuredShape,
  groups: z.array(z.strictObject({ group: z.nullable(z.string()), ...measuredShape })),
});
export type EvalSummary = z.infer<typeof EvalSummary>;

const Difference = z.strictObject({
  before: z.number(),
  now: z.number(),
  value: described(z.number(), "now minus before"),
  low: z.number(),
  high: z.number(),
  n: count("number of cases"),
});
export type Difference = z.infer<typeof Difference>;
const differenceOrNull = described(
  z.nullable(Difference),
  "paired difference with its 95 % interval; null if no case has the metric",
);

const ComparedCase = z.strictObject({ id: z.string(), before: Outcome, now: Outcome });
export type ComparedCase = z.infer<typeof ComparedCase>;
const compared = z.array(ComparedCase);
const ids = z.array(z.string());

const Comparison = z.strictObject({
  baseline: text("file of the baseline"),
  compared: count("cases of both runs"),
  better: compared,
  worse: compared,
  flaky: described(compared, "differs within its own flakiness, or passed in neither run"),
  undecided: described(compared, "ended in an error in at least one run"),
  unchanged: count("cases"),
  p: described(share, "McNemar's exact test on better and worse"),
  verdict: z.enum(["better", "worse", "same", "cannot-tell"]),
  needed: described(z.nullable(z.int()), "with cannot-tell: about how many cases would be needed"),
  metrics: z.strictObject({
    passed: differenceOrNull,
    hit: differenceOrNull,
    recall: differenceOrNull,
    mrr: differenceOrNull,
    ndcg: differenceOrNull,
  }),
  added: described(ids, "cases that only this run has"),
  removed: described(ids, "cases that only the baseline has"),
  changed: described(ids, "cases that are written differently now: not compared"),
});
/** A run compared with an earlier one of the same cases. Each compared case is in one list only. */
export type Comparison = z.infer<typeof Comparison>;

/** What results depend on besides the documents: only equal ones are compared. */
export const EvalBasis = described(
  z.strictObject({
    kind: EvalKind,
    suites: z.array(z.strictObject({ file: z.string(), digest: z.string() })),
    via: text("way of searching, or chat"),
    k: z.nullable(z.int()),
    dialect: z.enum(["standard", "onyx"]),
    judge: textOrNull("model that judged answers; null without a judge"),
  }),
  "what results depend on besides the documents",
);
export type EvalBasis = z.infer<typeof EvalBasis>;

const headShape = {
  status: described(
    z.enum(["passed", "failed", "partial"]),
    "failed: exit 13; partial: a case could not be judged, or the run ended early",
  ),
  failOn: textOrNull("condition of --fail-on that decided the status; null without one"),
  basis: EvalBasis,
  run: z.optional(text("name of the run: of the CI job, else made of its time")),
  host: z.optional(text("machine that ran the command")),
  commit: z.optional(text("commit of the project; absent if none is known")),
  startedAt: text("ISO 8601"),
  elapsedMs: amount("duration of the run in milliseconds"),
  calls: count("model calls, as far as known"),
  stopped: textOrNull("why the run ended early; null if every case was tried"),
  sandbox: z.optional(
    described(z.literal(true), "present if the sandbox was asked: its word search, no assistant"),
  ),
  summary: EvalSummary,
  comparison: described(z.nullable(Comparison), "comparison with --baseline; null without"),
};

/** A finished run: what every report is made of, and what a later run has as its baseline. */
export const EvalReport = z.strictObject({
  version,
  command,
  ...headShape,
  cases: z.array(ReportedCase),
});
export type EvalReport = z.infer<typeof EvalReport>;

/** The JSON of `eval retrieval` and `eval answers`, and the lines of their ndjson. */
export const EvalOutput = z
  .union([
    EvalReport,
    z.strictObject({ version, type: z.literal("case"), ...caseShape }),
    z.strictObject({ version, type: z.literal("result"), command, ...headShape }),
  ])
  .check(
    z.meta({
      title: "knowctl eval",
      description:
        "Result of `knowctl eval retrieval` and `knowctl eval answers`: the object of --output json " +
        "and of --report FILE.json, and the lines of --output ndjson (`case`, then one `result`).",
    }),
  );
