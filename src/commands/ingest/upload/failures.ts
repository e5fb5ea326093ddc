import type { PlanTable } from "../../../sync/plan/plan-table.ts";
import type { State } from "../../../sync/state/state.ts";
import { resolve } from "node:path";
import { relativeTo } from "../../../documents/files/root.ts";
import { scopeOf } from "../../../documents/find/scope.ts";
import type { Plan } from "../../../sync/plan/plan.ts";
import type { Shard } from "../../../sync/plan/decide.ts";
import type { BegunRun } from "../../../sync/state/uploads.ts";
import { targetFor, type Targets } from "../../../sync/state/target.ts";
import type { Session } from "../session.ts";
import type { DocumentSource } from "../options/settings.ts";

/** Key of the target for a run's failures, regardless of pairs in rules. */
export function failuresKey(targets: Targets): string {
  return targetFor(targets, undefined)?.key ?? "";
}

/** What the state records of a run. */
export function begunRun(
  { source, targets, shaping }: Pick<Session, "source" | "targets" | "shaping">,
  { shard, since }: { shard?: Shard; since?: string },
  startedAtMs: number,
): BegunRun {
  const { inputs, cwd, settings } = source;
  const part = [
    ...(shard ? [`shard ${shard.index}/${shard.count}`] : []),
    ...(since === undefined ? [] : [`since ${since}`]),
  ];
  return {
    target: failuresKey(targets),
    inputs: inputs.map((input) => relativeTo(settings.root, resolve(cwd, input)) ?? input),
    part: part.join(" "),
    startedAtMs,
    options: shaping.number,
  };
}

/** The inputs, for messages, of the last upload to the target that was stopped before it had sent everything. */
export function stoppedUpload(
  state: State,
  targets: Targets,
  source: DocumentSource,
): string | undefined {
  const run = state.uploads.stopped(failuresKey(targets));
  if (!run) return undefined;
  if (run.inputs.length === 0) return "the configured include";
  const names = run.inputs.map((input) => source.shown(input));
  return [names.join(" "), ...(run.part === "" ? [] : [`(${run.part})`])].join(" ");
}

/**
 * Whether a failed path belongs to the inputs, or to the files that their links lead to.
 * Failures from stdin belong to no inputs.
 */
export function failureScope(
  { inputs, find }: DocumentSource,
  { linked }: Pick<Plan, "linked">,
): (path: string) => boolean {
  const isInScope = scopeOf(inputs, find);
  return (path) => path !== "" && (isInScope(path) || linked.has(path));
}

/** Records the failures of the plan; failures of the upload are recorded during the run. */
export function recordPlanFailures(
  table: PlanTable,
  state: State,
  target: string,
  options: number | undefined,
  failedAtMs: number,
): void {
  const failures = Array.from(table.entries(["failed"]), ({ path, part, detail: reason }) => ({
    target,
    path,
    part,
    id: "",
    reason,
    retryable: false,
    status: undefined,
    failedAtMs,
    options,
  }));
  if (failures.length > 0) state.save({ failures });
}

/**
 * Deletes earlier failures of files that the plan found unchanged: the service has their documents
 * as this run would send them. Call it before the first request: a later retry after a stopped run
 * would send them with the options of the older failure.
 */
export function clearUnchanged(
  { table, linked }: Plan,
  source: DocumentSource,
  state: State,
  target: string,
  startedAtMs: number,
): void {
  if (table.count("unchanged") === 0) return;
  const isInScope = failureScope(source, { linked });
  const isElsewhere = table.database.prepare(
    `SELECT 1 AS yes FROM temp.plan WHERE path = ?1
      UNION ALL SELECT 1 FROM temp.gone WHERE path = ?1 LIMIT 1`,
  );
  const isUnchanged = (path: string): boolean =>
    isInScope(path) && state.filesOf(path).length > 0 && isElsewhere.get(path) === undefined;
  state.clearFailures(target, startedAtMs, isUnchanged);
}

/**
 * Deletes earlier failures that did not occur again. Only after a run over all of its inputs: a
 * shard or --since run does not read the other files. Keeps failures of files that the plan
 * skipped without reading, e.g. a table that was not named.
 */
export function clearSettled(
  plan: Plan,
  source: DocumentSource,
  state: State,
  target: string,
  startedAtMs: number,
): void {
  const isInScope = failureScope(source, plan);
  const isSettled = (path: string): boolean => isInScope(path) && !plan.table.isLeftOut(path);
  state.clearFailures(target, startedAtMs, isSettled);
}

/** What to do about documents that failed, of which `broken` would fail again as they are. */
export function failedHint(
  { cwd, settings }: DocumentSource,
  stateFlag: string | boolean | undefined,
  isStdin: boolean,
  broken: number,
): string {
  const fix = broken > 0 ? "fix them" : undefined;
  // `retry` needs files and a state.
  if (isStdin) {
    return `${fix ? `${fix} and ` : ""}send them again; accepted documents are not sent twice`;
  }
  if (stateFlag === false) {
    return fix
      ? `${fix}, then run the command again`
      : "run the command again: it sends them again";
  }
  const state = typeof stateFlag === "string" ? ` --state ${stateFlag}` : "";
  // From another folder the command would open another state.
  const place = relativeTo(settings.root, cwd) === undefined ? ` in ${settings.root}` : "";
  const retry = `\`knowctl retry${state}\`${place}`;
  return fix ? `${fix}, then run ${retry} or the same command again` : `${retry} sends them again`;
}
