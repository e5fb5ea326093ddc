import { resolve } from "node:path";
import { relativeTo } from "../../../documents/find/root.ts";
import { scopeOf } from "../../../documents/find/scope.ts";
import type { Plan } from "../../../sync/plan/plan.ts";
import type { FailureRecord } from "../../../sync/state/records.ts";
import type { Shard } from "../../../sync/plan/shard.ts";
import type { BegunRun } from "../../../sync/state/unfinished.ts";
import { targetFor, type Targets } from "../../../sync/state/target.ts";
import type { Session } from "../session.ts";
import type { DocumentSource } from "../options/settings.ts";

type Ran = Pick<Session, "source" | "state" | "targets" | "shaping"> & {
  plan: Plan;
  options: { shard?: Shard };
  startedAtMs: number;
};

const batchSize = 256;

/** The target under which a run's failures are kept, whatever pairs rules may name. */
export function failuresKey(targets: Targets): string {
  return targetFor(targets, undefined)?.key ?? "";
}

/** What the state records of a run until it has ended. */
export function begunRun(
  { source, targets }: Pick<Session, "source" | "targets">,
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
  };
}

/** The inputs, for messages, of the last upload to the target that was stopped before it had sent everything. */
export function stoppedUpload({
  state,
  targets,
  source,
}: Pick<Session, "state" | "targets" | "source">): string | undefined {
  const run = state.unfinished.last(failuresKey(targets));
  if (!run) return undefined;
  if (run.inputs.length === 0) return "the configured include";
  const names = run.inputs.map((input) => source.shown(input));
  return [names.join(" "), ...(run.part === "" ? [] : [`(${run.part})`])].join(" ");
}

/**
 * Whether a failure of this path belongs to the inputs, or to the files that links in them lead
 * to; what came from stdin belongs to none.
 */
export function failureScope(
  { inputs, cwd, settings }: DocumentSource,
  { linked }: Pick<Plan, "linked">,
): (path: string) => boolean {
  const isInScope = scopeOf(inputs, { cwd, settings });
  // An earlier knowctl recorded a link that was named under its own path.
  const named = new Set(inputs.map((input) => relativeTo(settings.root, resolve(cwd, input))));
  return (path) => path !== "" && (isInScope(path) || linked.has(path) || named.has(path));
}

/** Records the files that could not be looked at, as what fails later is recorded. */
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
 * After a run that looked at all of its inputs: what failed before and did not
 * fail again is settled. A run over a part of them knows nothing of the rest, and one that
 * leaves a file out, as a table that was not named, knows nothing of that file.
 */
export function clearSettled({ plan, source, state, targets, options, startedAtMs }: Ran): void {
  if (options.shard || source.since) return;
  const isInScope = failureScope(source, plan);
  const isSettled = (path: string): boolean => isInScope(path) && !plan.table.isLeftOut(path);
  state.clearFailures(failuresKey(targets), startedAtMs, isSettled);
}
