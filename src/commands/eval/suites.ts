import { resolve } from "node:path";
import { skipReason, type JudgeRules } from "../../checks/eval/judge-case.ts";
import { rubricsOf } from "../../checks/eval/replies.ts";
import type { EvalBasis, EvalKind } from "../../checks/eval/result.ts";
import type { EvalCase, Judge, Suite } from "../../checks/eval/suite/suite.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import type { StateFlag } from "../files-in-state.ts";
import type { WayName } from "../search/ways.ts";
import { brokenSuite, loadSuite } from "./load-suite.ts";

/** Flags of `eval retrieval` and `eval answers`. */
export interface EvalOptions extends GlobalFlags, StateFlag {
  /** Retrieval only. */
  via?: WayName;
  /** Retrieval only. */
  k?: number;
  /** Answers only. */
  judge?: boolean;
  /** Questions in flight. */
  concurrency?: number;
  /** Also ask drafted cases. */
  drafts?: boolean;
  /** Most model calls. */
  allowTokens?: number;
  /** A JSON report of an earlier run. */
  baseline?: string;
  failOn?: string;
  report?: string[];
  record?: string;
  replay?: string;
}

/** Suites as a run takes them. */
export interface Prepared {
  suites: readonly Suite[];
  /** Their names in results. */
  named: EvalBasis["suites"];
  /** All cases in the order of the suites, with the k of `--k`; with `--drafts` drafts come last. */
  cases: readonly EvalCase[];
  /** The k that all cases have; null if they differ, and for answers. */
  k: number | null;
  rules: Pick<JudgeRules, "kind" | "judges" | "drafts">;
}

/** Throws CliError `usage` if two suites have a case of the same id: reports name cases by id. */
function refuseSameIds(cases: readonly EvalCase[]): void {
  const places = new Map<string, EvalCase["place"]>();
  const problems = cases.flatMap(({ id, place }) => {
    const key = id.normalize("NFC").toLowerCase();
    const first = places.get(key);
    places.set(key, first ?? place);
    if (first === undefined) return [];
    const message = `the id ${id} is not unique: ${first.file}:${first.line} has it too`;
    return [{ place, message }];
  });
  if (problems.length > 0) throw brokenSuite(problems);
}

/** Throws CliError `usage` if every case is skipped: a run that checks nothing is no success. */
export function refuseNothing({ cases, rules }: Pick<Prepared, "cases" | "rules">): void {
  const reasons = cases.map((each) => skipReason(each, rules));
  const [reason] = reasons;
  if (reason === undefined || reasons.includes(undefined)) return;
  const isDraft = cases.every(({ needsReview }) => needsReview);
  const hint = isDraft
    ? "review the cases, or ask them all the same: --drafts"
    : rules.kind === "retrieval"
      ? "name documents with must_retrieve, or run `knowctl eval answers`"
      : "let a judge score the answers: --judge";
  const problem = `there is nothing to ask: each case is skipped; the first ${reason}`;
  throw new CliError("usage", problem, { hints: [hint] });
}

/** Loads the suites of a command line. Throws CliError `usage` with every problem of a suite. */
export async function prepareSuites(
  context: Context,
  kind: EvalKind,
  files: readonly string[],
  { k, judge = false, drafts = false }: Pick<EvalOptions, "k" | "judge" | "drafts">,
): Promise<Prepared> {
  const suites: Suite[] = [];
  for (const file of new Set(files)) {
    suites.push(await loadSuite(resolve(context.cwd, file), file));
  }
  const cases = suites
    .flatMap((suite) => suite.cases)
    .map((each) => (k === undefined ? each : { ...each, k }))
    // Last: drafts must not use up the model calls of the cases that count.
    .toSorted((a, b) => (drafts ? Number(a.needsReview) - Number(b.needsReview) : 0));
  refuseSameIds(cases);
  if (judge && !cases.some((each) => rubricsOf(each).length > 0)) {
    throw new CliError("usage", "--judge has no effect: no case has an expectation `judge`", {
      hints: ["add the expectation to a case, or remove --judge"],
    });
  }
  const ks = new Set(cases.map((each) => each.k));
  const [common = null] = kind === "retrieval" && ks.size === 1 ? ks : [];
  const named = suites.map(({ file, digest }) => ({ file, digest }));
  return { suites, named, cases, k: common, rules: { kind, judges: judge, drafts } };
}

/** The judges of suites that have rubrics, by file. */
export function judgesOf({ suites }: Prepared): Map<string, Judge> {
  return new Map(
    suites.flatMap(({ file, judge, cases }): [string, Judge][] =>
      judge && cases.some((each) => rubricsOf(each).length > 0) ? [[file, judge]] : [],
    ),
  );
}
