import * as z from "zod/mini";
import type { EvalReport } from "../../checks/eval/report.ts";
import { count, described, jsonSchemaOf, text, textOrNull, version } from "./describe.ts";

const amount = (description: string) => z.number().check(z.minimum(0), z.describe(description));
const share = z.nullable(z.number().check(z.minimum(0), z.maximum(1)));

const command = z.enum(["eval retrieval", "eval answers"]);
const kind = z.enum(["retrieval", "answers"]);
const outcome = described(
  z.enum(["passed", "failed", "error", "flaky", "skipped"]),
  "error: it could not be judged; flaky: some of its runs passed, too few; skipped: not asked",
);

const document = described(
  z.union([
    z.strictObject({ path: z.string() }),
    z.strictObject({ id: z.string() }),
    z.strictObject({ link: z.string() }),
  ]),
  "the document as the suite names it",
);
const path = textOrNull("local file, relative to the project root; null if unknown");
const rank = z
  .nullable(z.int().check(z.minimum(1)))
  .check(
    z.describe(
      "place among the retrieved documents, from 1, also beyond k; null if it did not come",
    ),
  );

const retrievedShape = {
  rank: z.int().check(z.minimum(1)),
  id: z.nullable(z.string()),
  title: z.nullable(z.string()),
  link: z.nullable(z.string()),
  path,
  snippet: textOrNull("text that the service showed, shortened"),
};
const retrieved = z.strictObject(retrievedShape);
const reported = z.strictObject({
  ...retrievedShape,
  role: described(z.nullable(z.enum(["expected", "unwanted"])), "what the case says of it"),
});

const check = z.strictObject({
  word: text("the expectation: must_retrieve, contains, not-cites, …"),
  value: described(z.unknown(), "what the suite expects"),
  passed: z.boolean(),
  detail: z.optional(text("what was found instead")),
});

const run = z.strictObject({
  outcome: z.enum(["passed", "failed", "error"]),
  error: z.optional(text("why it could not be judged")),
  answer: z.optional(text("answers only")),
  retrieved: z.array(retrieved),
  cited: z.array(retrieved),
  checks: z.array(check),
  elapsedMs: amount("duration in milliseconds"),
  calls: count("model calls, as far as known"),
});

const caseShape = {
  id: text("id in the suite"),
  kind,
  group: z.nullable(z.string()),
  question: z.string(),
  outcome,
  reason: textOrNull("why, for error and skipped"),
  place: described(
    z.strictObject({ file: z.string(), line: count("from 1"), column: count("from 1") }),
    "place in the suite",
  ),
  profile: textOrNull("profile of the person who asks; null for the profile of the run"),
  digest: z.optional(text("of what decides the result: equal cases can be compared")),
  k: z.optional(count("documents that count, best first; without it all")),
  runs: described(z.array(run), "one for each repetition"),
  expected: z.array(z.strictObject({ document, relevance: amount("weight for nDCG"), path, rank })),
  unwanted: z.array(z.strictObject({ document, path, rank })),
  retrieved: described(
    z.array(reported),
    "best first; of the first run that shows the outcome, as cited and checks",
  ),
  cited: z.array(reported),
  checks: z.array(check),
  metrics: described(
    z.strictObject({ hit: share, recall: share, mrr: share, ndcg: share }),
    "null if the case wants no document",
  ),
};

const estimate = described(
  z.strictObject({ value: share, low: share, high: share, n: count("number of cases") }),
  "value with its 95 % interval; null if no case counts",
);
const summaryShape = {
  cases: count("number of all cases"),
  passed: count("cases"),
  failed: count("cases"),
  error: count("cases that could not be judged; they count 0 in every metric"),
  flaky: count("cases"),
  skipped: count("cases that were not asked"),
  metrics: z.strictObject({
    passed: described(estimate, "share of the cases that passed"),
    hit: described(estimate, "share of the cases with a wanted document among the first k"),
    recall: described(estimate, "mean share of the wanted documents among the first k"),
    mrr: described(estimate, "mean of 1 / rank of the first wanted document"),
    ndcg: described(estimate, "mean nDCG with linear gain"),
  }),
};
const summary = z.strictObject({
  ...summaryShape,
  groups: z.array(z.strictObject({ group: z.nullable(z.string()), ...summaryShape })),
});

const difference = described(
  z.nullable(
    z.strictObject({
      before: z.number(),
      now: z.number(),
      value: described(z.number(), "now minus before"),
      low: z.number(),
      high: z.number(),
      n: count("number of cases"),
    }),
  ),
  "paired difference with its 95 % interval; null if no case has the metric",
);
const compared = z.array(z.strictObject({ id: z.string(), before: outcome, now: outcome }));
const ids = z.array(z.string());
const comparison = described(
  z.nullable(
    z.strictObject({
      baseline: text("file of the baseline"),
      compared: count("cases of both runs"),
      better: compared,
      worse: compared,
      flaky: described(compared, "differs within its own flakiness, or passed in neither run"),
      undecided: described(compared, "ended in an error in at least one run"),
      unchanged: count("cases"),
      p: described(share, "McNemar's exact test on better and worse"),
      verdict: z.enum(["better", "worse", "same", "cannot-tell"]),
      needed: z
        .nullable(z.int())
        .check(z.describe("with cannot-tell: about how many cases would be needed")),
      metrics: z.strictObject({
        passed: difference,
        hit: difference,
        recall: difference,
        mrr: difference,
        ndcg: difference,
      }),
      added: described(ids, "cases that only this run has"),
      removed: described(ids, "cases that only the baseline has"),
      changed: described(ids, "cases that are written differently now: not compared"),
    }),
  ),
  "comparison with --baseline; null without",
);

const headShape = {
  status: described(
    z.enum(["passed", "failed", "partial"]),
    "failed: exit 13; partial: a case could not be judged, or the run ended early",
  ),
  failOn: textOrNull("condition of --fail-on that decided the status; null without one"),
  basis: described(
    z.strictObject({
      kind,
      suites: z.array(z.strictObject({ file: z.string(), digest: z.string() })),
      via: text("way of searching, or chat"),
      k: z.nullable(z.int()),
      dialect: z.string(),
      judge: textOrNull("model that judged answers; null without a judge"),
    }),
    "what results depend on besides the documents",
  ),
  startedAt: text("ISO 8601"),
  elapsedMs: amount("duration of the run in milliseconds"),
  calls: count("model calls, as far as known"),
  stopped: textOrNull("why the run ended early; null if every case was tried"),
  sandbox: z.optional(
    described(z.literal(true), "present if the sandbox was asked: its word search, no assistant"),
  ),
  summary,
  comparison,
};

/** A report: what `--output json` and `--report FILE.json` write, and `--baseline` reads. */
export const EvalReportSchema: z.ZodMiniType<EvalReport> = z.strictObject({
  version,
  command,
  ...headShape,
  cases: z.array(z.strictObject(caseShape)),
});

const Eval = z.union([
  EvalReportSchema,
  z.strictObject({ version, type: z.literal("case"), ...caseShape }),
  z.strictObject({ version, type: z.literal("result"), command, ...headShape }),
]);

/**
 * JSON Schema (draft 2020-12) of `eval retrieval` and `eval answers` with `--output json`, of their
 * reports, and of a line of their ndjson. Saved as `schema/eval.schema.json`.
 */
export function evalJsonSchema(): Record<string, unknown> {
  return jsonSchemaOf(
    Eval,
    "knowctl eval",
    "Result of `knowctl eval retrieval` and `knowctl eval answers`: the object of --output json " +
      "and of --report FILE.json, and the lines of --output ndjson (`case`, then one `result`).",
    { reused: "ref" },
  );
}
