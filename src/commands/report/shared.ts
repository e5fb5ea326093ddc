import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import type { NamedReport } from "../../output/report/stored/merge.ts";
import { parseReport } from "../../output/report/stored/read.ts";
import type { Output } from "../../output/terminal/output.ts";
import { countOf } from "../../output/terminal/progress.ts";
import { readRun, type RecordedRun } from "../../sync/shared/runs.ts";
import { checkTables, findProject } from "../../sync/shared/tables.ts";
import { loadSettings } from "../connect.ts";
import { findProjectRoot } from "../project-root.ts";
import { neededPlace, openShared, type SharedFlags } from "../state/shared.ts";

export interface SharedMergeOptions extends SharedFlags {
  /** Name or commit of a run whose workers left their reports in the shared record. */
  shared?: string;
}

/** A run of the shared record, with the reports of its workers. */
export interface SharedReports {
  run: RecordedRun;
  reports: NamedReport[];
}

/**
 * Reads the reports of all workers of a run. Warns of workers that left none. Throws CliError
 * `not-found` for a run that is not there, `partial` for one without any report, and what the shared
 * record throws.
 */
export async function readSharedReports(
  context: Context,
  output: Output,
  name: string,
  options: SharedMergeOptions,
): Promise<SharedReports> {
  const { start } = findProjectRoot(context, [], options);
  const settings = { sends: false, needsProfile: false, root: start };
  const config = await loadSettings(context, options, output, settings);
  const place = await neededPlace(config, options, output);
  const database = await openShared(context, place);
  try {
    await checkTables(database);
    const project = await findProject(database, place.project);
    const run = project && (await readRun(database.query, project.id, name));
    if (!run) {
      throw new CliError("not-found", `the shared record has no run ${name} of ${place.project}`, {
        hints: ["name the commit of the run, or the value of its --run; check --state-project"],
      });
    }
    const reports = run.workers.flatMap(({ id, host, report }): NamedReport[] => {
      const named = `worker ${id} on ${host}`;
      return report === undefined ? [] : [{ name: named, report: parseReport(report, named) }];
    });
    if (reports.length === 0) {
      throw new CliError("partial", `no worker of the run ${run.name} has left a report yet`, {
        hints: ["wait until the run has ended"],
      });
    }
    const without = run.workers.filter(({ report }) => report === undefined);
    if (without.length > 0) {
      const hosts = [...new Set(without.map(({ host }) => host))].slice(0, 5).join(", ");
      await output.warn(
        `${countOf(without.length, "worker")} left no report (${hosts}): killed, or still at work`,
      );
    }
    return { run, reports };
  } finally {
    await database.close();
  }
}

/** Throws CliError `partial` where documents of the run failed, or where it has not ended. */
export function failUnlessEnded({ name, totals }: RecordedRun): void {
  if (totals === undefined) {
    throw new CliError("partial", `the run ${name} has not ended`, {
      hints: ["wait for its workers, or start one: knowctl ingest --claim"],
    });
  }
  if (totals.failed === 0) return;
  throw new CliError("partial", `${countOf(totals.failed, "document")} of the run failed`);
}
