import { resolve } from "node:path";
import { relativeTo } from "../../../documents/find/root.ts";
import { scopeOf } from "../../../documents/find/scope.ts";
import type { Plan } from "../../../sync/plan/plan.ts";
import type { FailureRecord } from "../../../sync/state/records.ts";
import type { Shard } from "../../../sync/plan/shard.ts";
import type { BegunRun } from "../../../sync/state/uploads.ts";
import { targetFor, type Targets } from "../../../sync/state/target.ts";
import type { Session, UploadSession } from "../session.ts";
import type { DocumentSource } from "../options/settings.ts";

type Ran = Pick<Session, "source" | "state" | "targets" | "shaping"> & {
  plan: Plan;
  options: { shard?: Shard };
  startedAtMs: number;
};

const batchSize = 256;

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
export function stoppedUpload({
  state,
  targets,
  source,
}: Pick<Session, "state" | "targets" | "source">): string | undefined {
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
  { plan, state, targets, shaping }: Ran,
  now: () => number,
): void {
  const target = failuresKey(targets);
  let failures: FailureRecord[] = [];
  const save = (): void => {
    state.save({ failures });
    failures = [];
  };
  for (const { path, part, detail } of plan.table.entries(["failed"])) {
    failures.push({
      target,
      path,
      part,
      id: "",
      reason: detail,
      retryable: false,
      status: undefined,
      failedAtMs: now(),
      options: shaping.number,
    });
    if (failures.length >= batchSize) save();
  }
  save();
}

/**
 * Deletes earlier failures of files that the plan found unchanged: the service has their documents
 * as this run would send them. Call it before the first request: a later retry after a stopped run
 * would send them with the options of the older failure.
 */
export function clearUnchanged({
  plan: { table, linked },
  source,
  state,
  targets,
  startedAtMs,
}: Ran): void {
  if (table.count("unchanged") === 0) return;
  const isInScope = failureScope(source, { linked });
  const isElsewhere = table.database.prepare(
    `SELECT 1 AS yes FROM temp.plan WHERE path = ?1
      UNION ALL SELECT 1 FROM temp.gone WHERE path = ?1 LIMIT 1`,
  );
  const isUnchanged = (path: string): boolean =>
    isInScope(path) && state.filesOf(path).length > 0 && isElsewhere.get(path) === undefined;
  state.clearFailures(failuresKey(targets), startedAtMs, isUnchanged);
}

/**
 * Deletes earlier failures that did not occur again. Only after a run over all of its inputs: a
 * shard or --since run does not read the other files. Keeps failures of files that the plan
 * skipped without reading, e.g. a table that was not named.
 */
export function clearSettled({ plan, source, state, targets, options, startedAtMs }: Ran): void {
  if (options.shard || source.since) return;
  const isInScope = failureScope(source, plan);
  const isSettled = (path: string): boolean => isInScope(path) && !plan.table.isLeftOut(path);
  state.clearFailures(failuresKey(targets), startedAtMs, isSettled);
}

interface FailedUpload extends Pick<UploadSession, "source"> {
  /** Documents from stdin. */
  stream?: unknown;
  options: { state?: string | boolean };
}

/** What to do about documents that failed, of which `broken` would fail again as they are. */
export function failedHint({ stream, options, source }: FailedUpload, broken: number): string {
  const needsFix = broken > 0;
  // `retry` needs files and a state.
  if (stream) {
    return `${needsFix ? "fix them and " : ""}send them again; accepted documents are not sent twice`;
  }
  if (options.state === false) {
    return needsFix
      ? "fix them, then run the command again"
      : "run the command again: it sends them again";
  }
  const { cwd, settings } = source;
  const state = typeof options.state === "string" ? ` --state ${options.state}` : "";
  // From another folder the command would open another state.
  const place = relativeTo(settings.root, cwd) === undefined ? ` in ${settings.root}` : "";
  const retry = `\`knowctl retry${state}\`${place}`;
  return needsFix
    ? `fix them, then run ${retry} or the same command again`
    : `${retry} sends them again`;
}
