import { resolve } from "node:path";
import type { Context } from "../../context.ts";
import { loadGlobs, mayBeGlob } from "../../documents/patterns.ts";
import { createRealPlaces, exists } from "../../documents/real-place.ts";
import { CliError } from "../../errors.ts";
import { countOf } from "../../output/progress.ts";
import { readReport } from "../../output/report/read.ts";
import type { RunReport } from "../../output/report/record.ts";
import { hasState, noStateError } from "../../sync/state-file.ts";
import { openOutput } from "../connect.ts";
import { failuresKey } from "./failures.ts";
import { checkOptions, ingestSession, type IngestOptions } from "./ingest.ts";
import { ingestFormat } from "./report.ts";
import { checkReportFiles } from "./report-files.ts";
import { openSession, type Session } from "./session.ts";
import { openSource } from "./settings.ts";
import { stateFolder } from "./plan.ts";
import { refuseAmbiguous } from "./subcommand.ts";

const goneShown = 20;

/** What failed: paths below the root, each once, and documents that have none. */
interface Failed {
  paths: string[];
  fromStdin: number;
}

function collect(failures: Iterable<{ path: string }>): Failed {
  const paths = new Set<string>();
  let fromStdin = 0;
  for (const { path } of failures) {
    if (path === "" || path === "-") fromStdin++;
    else paths.add(path);
  }
  return { paths: [...paths], fromStdin };
}

/** The failures of a report; what came from stdin has no path here, as in the state. */
function failuresIn({ failures, paths }: RunReport): { path: string }[] {
  const fromStdin = paths.includes("-");
  return failures.map(({ path }) => ({ path: fromStdin && path === "stdin" ? "" : path }));
}

/** Where the project is: the report's own first path, where that is here too. */
function placeOf(report: RunReport | undefined, cwd: string): string {
  const path = report?.paths[0];
  return path !== undefined && exists(resolve(cwd, path)) ? path : ".";
}

function refuseOtherTarget({ target }: RunReport, { targets }: Session, name: string): void {
  const { baseUrl, pair } = targets;
  const textOf = (url: string, id: number | null | undefined): string =>
    `${url.replace(/\/+$/, "")}, cc_pair_id ${id ?? "by rule"}`;
  const [theirs, ours] = [textOf(target.baseUrl, target.ccPairId), textOf(baseUrl, pair.ccPairId)];
  if (theirs === ours) return;
  throw new CliError("usage", `${name} is of another target; nothing was sent`, {
    details: [`the report: ${theirs}`, `this run: ${ours}`],
    hints: ["give the target of the report with --cc-pair-id, --base-url or --profile"],
  });
}

/** The failed files that are still there; the others are told, and their failures forgotten. */
async function dropGone(
  session: Session,
  paths: readonly string[],
  options: IngestOptions,
): Promise<string[]> {
  const { output, source, state, targets } = session;
  const absolute = createRealPlaces(source.settings.root);
  const gone = new Set(paths.filter((path) => !exists(absolute(path))));
  if (gone.size > 0 && !options.dryRun) {
    const always = Number.MAX_SAFE_INTEGER;
    state.clearFailures(failuresKey(targets), always, (path) => gone.has(path));
  }
  for (const path of [...gone].slice(0, goneShown))
    await output.note(`${source.shown(path)}: is gone`);
  if (gone.size > goneShown) await output.note(`… and ${gone.size - goneShown} more are gone`);
  return paths.filter((path) => !gone.has(path)).map(absolute);
}

/** What no retry can make good: the command is no success then, whatever else it sent. */
function refuseRest({ fromStdin }: Failed, report: RunReport | undefined): void {
  if (fromStdin > 0) throw fromStdinError(fromStdin);
  if (report?.status !== "error" && report?.status !== "interrupted") return;
  throw new CliError("partial", "that run was stopped before it had sent everything", {
    hints: ["run the upload itself again: it sends what is missing"],
  });
}

function fromStdinError(count: number): CliError {
  return new CliError("partial", `${countOf(count, "failed document")} came from stdin`, {
    hints: ["what came from stdin is not kept: send it again with `knowctl ingest -`"],
  });
}

/**
 * `ingest retry`: sends what failed last time, by the state or by a report. The
 * files are read anew; of a file of rows only what is missing is sent. Throws as
 * ingest(), and CliError `usage` for a report of another target.
 */
export async function ingestRetry(
  context: Context,
  [name]: string[],
  options: IngestOptions,
): Promise<void> {
  const startedAtMs = context.now();
  const output = openOutput(context, options);
  refuseAmbiguous(context, "retry");
  checkOptions([], options);
  const format = ingestFormat(options);
  const files = checkReportFiles(options, context.cwd);
  const report =
    name === undefined ? undefined : await readReport(resolve(context.cwd, name), name);
  const place = placeOf(report, context.cwd);
  const source = await openSource(context, [place], options, output, options.dryRun !== true);
  const folder = stateFolder(source, options);
  // Else "no file failed" would be said of a folder that nothing was sent from, and a state be made.
  if (!report && folder !== undefined && !hasState(folder)) throw noStateError(folder);
  const session = await openSession(context, output, source, options);
  try {
    if (report) refuseOtherTarget(report, session, name ?? "");
    const { state, targets } = session;
    const failed = collect(report ? failuresIn(report) : state.listFailures(failuresKey(targets)));
    const inputs = await dropGone(session, failed.paths, options);
    if (inputs.some(mayBeGlob)) await loadGlobs();
    if (inputs.length === 0) {
      refuseRest(failed, report);
      return await output.note("nothing to retry: no file failed last time");
    }
    await output.note(`${countOf(inputs.length, "file")} failed last time`);
    const again = { ...session, source: { ...source, inputs } };
    // Each file was named: that a filter now leaves it out is no mistake.
    const begun = { startedAtMs, format, files };
    await ingestSession(context, again, begun, { ...options, allowEmpty: true });
    refuseRest(failed, report);
  } finally {
    await session.close();
  }
}
