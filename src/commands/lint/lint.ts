import type { Context } from "../../context.ts";
import {
  baselineOf,
  baselineText,
  compareWithBaseline,
  countEntries,
  isSecretRule,
  type BaselineComparison,
  type BaselineEntry,
  readBaseline,
} from "../../checks/lint/baseline.ts";
import { byCause } from "../../checks/lint/folder.ts";
import { rulesToRun, type LintSetup } from "../../checks/lint/examine.ts";
import { refuseUnknownRules } from "../../checks/lint/levels.ts";
import type { Finding } from "../../checks/lint/rule.ts";
import { staleDate } from "../../checks/lint/rules/metadata.ts";
import { rules } from "../../checks/lint/rules.ts";
import { scopeOf } from "../../documents/find/scope.ts";
import { CliError } from "../../errors.ts";
import { problemAt, type ShownPath } from "../../output/paths.ts";
import { writeFilePieces } from "../../output/report/file.ts";
import {
  checkReportFiles,
  writeAll,
  writeReports,
  type ReportFiles,
  type ReportFlags,
} from "../../output/report/forms.ts";
import {
  checkLintFormat,
  countRules,
  countSeverities,
  lintReport,
  safeFinding,
  severityText,
  type LintRun,
} from "../../output/report/from/lint.ts";
import { ciPrefix } from "../../output/report/github.ts";
import { writeData } from "../../output/report/json.ts";
import { writePeople } from "../../output/report/people.ts";
import type { Report } from "../../output/report/report.ts";
import { reportFormat } from "../../output/formats/formats.ts";
import { neutraliseLine } from "../../output/terminal/neutralise.ts";
import { createOutput, type Output } from "../../output/terminal/output.ts";
import { countOf, formatCount, startProgress } from "../../output/terminal/progress.ts";
import { goOnAfterClosedPipe } from "../closed-pipe.ts";
import { findGitRoot } from "../project-root.ts";
import { ownKeys } from "../ingest/own-keys.ts";
import { followed, type Outcome } from "../outcome/follow.ts";
import { openSource, placeOf, type DocumentSource } from "../ingest/options/settings.ts";
import { warnOfUnusedExcludes } from "../ingest/report/tell.ts";
import { fixFiles } from "./fix-files.ts";
import { runRules, type Linted } from "./run-rules.ts";
import { resolve } from "node:path";
import type { MappingFlags } from "../ingest/options/mapping-flags.ts";

interface LintOptions extends MappingFlags, ReportFlags {
  /** The only rules to run, by name. */
  rule?: string[];
  /** On a terminal: also list notes. */
  notes?: boolean;
  maxWarnings?: number;
  baseline?: string;
  writeBaseline?: boolean;
  fix?: boolean;
}

/** The baseline of a run. */
interface Baseline {
  /** Absolute. */
  path: string;
  entries: BaselineEntry[];
}

/** Reads the file of --baseline. With --write-baseline it may be missing. Throws CliError `usage`. */
function openBaseline(
  { baseline, writeBaseline = false }: LintOptions,
  cwd: string,
): Baseline | undefined {
  if (baseline === undefined) return undefined;
  const path = resolve(cwd, baseline);
  return { path, entries: readBaseline(path, baseline, writeBaseline) };
}

/** Throws CliError `usage` for arguments that lint cannot check. */
function checkPaths(paths: readonly string[]): void {
  if (!paths.includes("-")) return;
  throw new CliError("usage", "lint reads no documents from stdin", {
    hints: ["name files; `knowctl ingest -` checks for secrets what it sends"],
  });
}

interface Run {
  output: Output;
  source: DocumentSource;
  setup: LintSetup;
  options: LintOptions;
  files: ReportFiles;
  outcome: Outcome;
}

interface LintedFiles extends Linted {
  /** Number of files that --fix could not change. */
  unfixed: number;
}

/** Runs the rules; with --fix, corrects files and runs the rules again over what is left. */
async function lintFiles(context: Context, run: Run): Promise<LintedFiles> {
  const { output, source, setup, options, files } = run;
  const progress = startProgress(output, context.elapsed);
  try {
    const linted = await runRules(context, source, setup, { files, progress });
    await progress.stop();
    if (!options.fix) return { ...linted, unfixed: 0 };
    const { changed, refused: unfixed } = await fixFiles(context, output, source, linted);
    if (changed === 0 && unfixed === 0)
      await output.note("nothing was fixed: no finding has a fix");
    if (changed === 0) return { ...linted, unfixed };
    return { ...(await runRules(context, source, setup, { files, progress })), unfixed };
  } finally {
    await progress.stop();
  }
}

/** Whether this run looked for the findings of an entry of the baseline. */
function checkedIn({ source, setup }: Run, { failed }: Linted) {
  const ran = new Set(rulesToRun(setup, rules).map(({ name }) => name));
  const known = new Set(rules.map(({ name }) => name));
  const isInScope = scopeOf(source.inputs, source.find);
  // A rule that this version no longer has finds nothing any more.
  return ({ path, rule }: { path: string; rule: string }): boolean =>
    (ran.has(rule) || !known.has(rule)) && isInScope(path) && !failed.has(path);
}

async function writeBaseline(run: Run, linted: Linted, baseline: Baseline): Promise<void> {
  const entries = baselineOf(linted.findings, baseline.entries, checkedIn(run, linted));
  await writeFilePieces(baseline.path, baselineText(entries), "the baseline");
  const count = countEntries(entries);
  await run.output.note(`${countOf(count, "finding")} written into ${run.options.baseline}`);
}

/** The findings that are new, without those of the baseline, which knows each: one for each cause is shown. */
function compare(
  run: Run,
  linted: Linted,
  baseline: Baseline | undefined,
): BaselineComparison<Finding> {
  const { findings } = linted;
  if (baseline && !run.options.writeBaseline) {
    const compared = compareWithBaseline(findings, baseline.entries, checkedIn(run, linted));
    return { ...compared, kept: byCause(compared.kept) };
  }
  const kept = baseline ? findings.filter(({ rule }) => isSecretRule(rule)) : findings;
  return { kept: byCause(kept), known: findings.length - kept.length, fixed: [] };
}

function resultOf(
  run: Run,
  linted: LintedFiles,
  { kept, known, fixed }: BaselineComparison<Finding>,
): LintRun {
  const { setup, options } = run;
  const { documents, skipped, failed } = linted;
  const findings = kept.map((each) => safeFinding(each, run.output.secrets.redactLast));
  const counts = countSeverities(findings);
  const failsOnWarnings = counts.warning > (options.maxWarnings ?? Infinity);
  const isFailed = counts.error > 0 || failsOnWarnings;
  const isPartial = failed.size > 0 || linted.unfixed > 0;
  const levels = setup.config.rules ?? {};
  const configured = rulesToRun(setup, rules).map((rule) => {
    const level = levels[rule.name];
    return level === undefined || level === "off" ? rule : { ...rule, severity: level };
  });
  return {
    status: isFailed ? "failed" : isPartial ? "partial" : "passed",
    summary: {
      documents,
      skipped,
      failed: failed.size,
      ...counts,
      known,
      fixed: countEntries(fixed),
    },
    findings,
    rules: configured,
    failsOnWarnings,
    unread: failed,
  };
}

/** Whether a terminal only counts notes: they are many, and few of them matter at once. */
const hidesNotes = (
  { isTerminal, verbose }: Output,
  { notes = false, rule }: LintOptions,
): boolean => isTerminal && !notes && !verbose && rule === undefined;

async function writeStdout(
  { output, options, source }: Run,
  report: Report,
  result: LintRun,
  prefix: string | undefined,
): Promise<void> {
  const format = reportFormat(options);
  if (format === "text") {
    // The lines on stderr name the files that could not be read.
    const findings = hidesNotes(output, options)
      ? result.findings.filter(({ severity }) => severity !== "note")
      : result.findings;
    const read = lintReport({ ...result, findings, unread: new Map() }, output.secrets.redactLast);
    await writePeople(output, read, source.shown);
  } else if (format === "sarif") {
    const { sarifReport } = await import("../../output/report/sarif.ts");
    for (const piece of sarifReport(report, prefix)) await output.json(piece);
  } else if (format === "junit") {
    const { junitReport } = await import("../../output/report/junit.ts");
    for (const piece of junitReport(report)) await output.write(piece);
  } else await writeData(output, options, report.data);
}

/**
 * Writes the result to stdout, to the report files and for a GitHub job. A file that cannot be
 * written does not prevent the others; then throws its CliError `local`.
 */
async function writeResult(context: Context, run: Run, result: LintRun): Promise<void> {
  const { output, source, files, outcome } = run;
  const { root } = source.settings;
  const prefix = ciPrefix(root, findGitRoot(context, root), context.env);
  const report = outcome.complete(lintReport(result, output.secrets.redactLast));
  await writeAll([
    () => writeStdout(run, report, result, prefix),
    () => writeReports(output, context.env, report, files, prefix),
  ]);
}

const mostFixed = 20;

/** The entries of a baseline that no longer occur: how many findings, then file and rule of the first 20. */
function fixedLines(fixed: readonly BaselineEntry[], shown: ShownPath): string[] {
  if (fixed.length === 0) return [];
  const total = countEntries(fixed);
  const [verb, them] = total === 1 ? ["occurs", "it"] : ["occur", "them"];
  const lines = fixed.slice(0, mostFixed).map(({ path, rule, fingerprints }) => {
    const count = fingerprints.length === 1 ? "" : `, ${formatCount(fingerprints.length)} findings`;
    return neutraliseLine(`  ${shown(path)}: ${rule}${count}`);
  });
  const hidden = fixed.length - lines.length;
  return [
    `${countOf(total, "finding")} of the baseline no longer ${verb}: remove ${them} with --write-baseline`,
    ...lines,
    ...(hidden > 0 ? [`  and ${formatCount(hidden)} more`] : []),
  ];
}

/** The findings of each rule: `warnings: dead-link 16, leaked-jsx 6`, a line for each severity. */
async function writeRuleCounts({ output, options }: Run, { findings }: LintRun): Promise<void> {
  for (const [severity, rules] of countRules(findings)) {
    const counts = rules.map(([rule, count]) => `${rule} ${formatCount(count)}`).join(", ");
    const isHidden = severity === "note" && hidesNotes(output, options);
    await output.note(`${severity}s: ${counts}${isHidden ? "; --notes lists them" : ""}`);
  }
}

async function writeSummary(
  run: Run,
  result: LintRun,
  fixed: readonly BaselineEntry[],
): Promise<void> {
  const { output, source } = run;
  const { summary } = result;
  const { documents, skipped, failed, known } = summary;
  // A pipe has the findings to count.
  if (output.isTerminal) await writeRuleCounts(run, result);
  const parts = [`${severityText(summary)} in ${countOf(documents, "document")}`];
  if (skipped > 0) parts.push(`${countOf(skipped, "file")} skipped`);
  if (failed > 0) parts.push(`${countOf(failed, "file")} not read`);
  await output.note(parts.join(", "));
  if (known > 0) await output.note(`${countOf(known, "finding")} of the baseline left out`);
  for (const line of fixedLines(fixed, source.shown)) await output.note(line);
}

/** Throws CliError `checks-failed` or `partial` where the result is not fine. */
function endWith({ summary }: LintRun, unfixed: number, options: LintOptions): void {
  const { maxWarnings = Infinity } = options;
  const { error, warning, failed } = summary;
  if (error > 0) throw new CliError("checks-failed", countOf(error, "error"));
  if (warning > maxWarnings) {
    throw new CliError(
      "checks-failed",
      `${countOf(warning, "warning")}, more than --max-warnings ${maxWarnings}`,
    );
  }
  if (failed > 0) throw new CliError("partial", `${countOf(failed, "file")} could not be read`);
  if (unfixed > 0) throw new CliError("partial", `${countOf(unfixed, "file")} could not be fixed`);
}

/** Throws CliError `usage` where --rule chooses only rules that the configuration switches off. */
function refuseNoRules(setup: LintSetup): void {
  if (!setup.only || rulesToRun(setup, rules).length > 0) return;
  throw new CliError(
    "usage",
    `the configuration switches off every chosen rule: ${setup.only.join(", ")}`,
    { hints: ['remove its "off" from lint.rules'] },
  );
}

function nothingToCheck({ inputs, settings }: DocumentSource): CliError {
  const places = inputs.length > 0 ? inputs : settings.include;
  const where = places.length > 0 ? places.join(", ") : settings.root;
  return new CliError("usage", `0 files to check in ${where}`, {
    hints: ["check the path; `knowctl explain FILE` shows why a file is left out"],
  });
}

/**
 * `knowctl lint`: checks documents before they are sent. Throws CliError `checks-failed` for a
 * finding of level error and for too many warnings, `partial` when files cannot be read or fixed,
 * `usage` when there is nothing to check, `not-configured` for an unknown rule in the configuration.
 */
export const lint = followed("lint", lintPaths);

async function lintPaths(
  system: Context,
  paths: string[],
  options: LintOptions,
  outcome: Outcome,
): Promise<void> {
  // A reader that has gone, as with `| head`, must not make failed checks succeed.
  const context = goOnAfterClosedPipe(system);
  checkPaths(paths);
  checkLintFormat(options);
  refuseUnknownRules({}, rules, options.rule);
  const output = createOutput(context, options);
  const files = checkReportFiles(options, context.cwd);
  const baseline = openBaseline(options, context.cwd);
  // Before the configuration is known: a rule that it switches off may cost a look at git.
  const wantsCommits = options.rule?.includes(staleDate.name) ?? true;
  const flags = { ...options, wholeRoot: true, wantsCommits, needsProfile: false };
  const source = await openSource(context, paths, flags, output, false);
  await outcome.begin(placeOf(source, options));
  const config = source.config.lint;
  refuseUnknownRules(config, rules);
  const keys = await ownKeys(output, source, undefined);
  const setup: LintSetup = { config, only: options.rule, keys };
  refuseNoRules(setup);
  const run = { output, source, options, files, setup, outcome };
  const linted = await lintFiles(context, run);
  for (const [path, reason] of linted.failed) {
    await output.error(problemAt(path, reason, source.shown));
  }
  await warnOfUnusedExcludes(output, source);
  if (linted.documents + linted.skipped + linted.failed.size === 0) throw nothingToCheck(source);
  if (baseline && options.writeBaseline) await writeBaseline(run, linted, baseline);
  const compared = compare(run, linted, baseline);
  const result = resultOf(run, linted, compared);
  await writeResult(context, run, result);
  await writeSummary(run, result, compared.fixed);
  endWith(result, linted.unfixed, options);
}
