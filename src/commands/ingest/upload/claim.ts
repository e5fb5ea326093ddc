import { createHash } from "node:crypto";
import type { Gate } from "../../../api/retry/gate.ts";
import type { Context } from "../../../context.ts";
import { absoluteOf, statFile, type Listed } from "../../../documents/files/source-file.ts";
import { CliError } from "../../../errors.ts";
import { changesSince } from "../../../git/changes.ts";
import { headOf, openRepository } from "../../../git/repository.ts";
import { countOf, formatCount, type UploadCounts } from "../../../output/terminal/progress.ts";
import type { PlanTable } from "../../../sync/plan/plan-table.ts";
import type { Plan } from "../../../sync/plan/plan.ts";
import type { ClaimedRun, RunTotals } from "../../../sync/shared/runs.ts";
import { heartbeatMs } from "../../../sync/shared/lease.ts";
import type { SharedRecord } from "../../../sync/shared/record.ts";
import { joinWorkers, type Worker } from "../../../sync/shared/worker.ts";
import { optionsJson } from "../../../sync/state/options.ts";
import type { State } from "../../../sync/state/state.ts";
import type { UploadSession } from "../session.ts";

/** Flags of an upload that shares its work. */
export interface ClaimFlags {
  /** Share the work with other runs on one shared record. */
  claim?: boolean;
  /** Name of the run; without it the commit. */
  run?: string;
  force?: boolean;
}

const defaultLeaseSeconds = 60;

/** A hash of the files that a run finds: path and size of each. */
export interface FilesDigest {
  follow(listed: Iterable<Listed>, root: string): Iterable<Listed>;
  value(): string;
}

/** Creates the digest of the files of one plan. */
function createFilesDigest(): FilesDigest {
  const digest = createHash("sha256");
  return {
    *follow(listed, root) {
      for (const each of listed) {
        yield each;
        if (each.kind !== "file") continue;
        const found = statFile(each.path, each.absolutePath ?? absoluteOf(root, each.path));
        digest.update(`${each.path}\0${found.kind === "file" ? found.file.sizeBytes : "-"}\n`);
      }
    },
    value: () => digest.copy().digest("hex"),
  };
}

const nameIt = "name the run, the same on every worker: --run NAME";

/** The commit that the checkout is, without uncommitted changes. Throws CliError `usage` for none. */
async function cleanCommit(context: Context, root: string): Promise<string> {
  const { env, signal } = context;
  const repository = await openRepository(root, env, { signal });
  if (repository?.head === undefined) {
    const why = repository ? "the repository has no commit" : `${root} is not in a git repository`;
    throw new CliError("usage", `--claim: ${why}, so nothing tells which run this is`, {
      hints: [nameIt],
    });
  }
  // Untracked files are in the digest of the files.
  const { changed, added, deleted } = await changesSince(repository, repository.head, { signal });
  const [first] = [...[...changed].filter((path) => !added.has(path)), ...deleted];
  if (first === undefined) return repository.head;
  throw new CliError("usage", `--claim: the checkout has uncommitted changes (first: ${first})`, {
    hints: ["commit them, so that every worker has them", `or ${nameIt}`],
  });
}

/** Hash of what the workers of a run must have in common, beside the commit. */
function digestOf(
  { source, targets, shaping }: UploadSession,
  { force = false }: ClaimFlags,
  files: string,
): string {
  const { inputs, since } = source;
  const shape = [optionsJson(shaping.recorded), targets, inputs, since?.ref ?? null, force];
  return createHash("sha256").update(JSON.stringify(shape)).update(files).digest("hex");
}

/** A worker of a run, and what its upload needs to know of it. */
export interface Turns {
  worker: Worker;
  /** Connects the gate of the upload: its rate is shared, and it stops without a lease. */
  follow(gate: Gate): void;
  /** The state, which says what it has recorded. */
  recording(state: State): State;
  /** The plan for the report of this worker: the first one alone reports what nobody sends. */
  reported(plan: Plan): Plan;
  /** Sends until the run has ended; `send` sends what is left to take. Undefined for all but the last worker. */
  sendAll(
    send: () => Promise<number>,
    signal: AbortSignal,
    onWait: (text: string) => void,
  ): Promise<{ broken: number; totals: RunTotals | undefined }>;
}

/** The counts of a plan without what the first worker reports. */
function withoutOthers(table: PlanTable, isFirst: boolean, taken: () => number): PlanTable {
  return {
    ...table,
    count(action) {
      if (action === "new") return taken();
      return action === "changed" || !isFirst ? 0 : table.count(action);
    },
    entries: isFirst ? table.entries : () => [][Symbol.iterator](),
    warnings: isFirst ? table.warnings : () => ({ shown: [], count: 0 }),
  };
}

/** A run that is to be shared; its plan is not made yet. */
export interface Claim {
  name: string;
  files: FilesDigest;
  /**
   * Joins the run of the plan. The caller leaves it: worker.leave(). Throws CliError `usage` for
   * another checkout than that of its workers.
   */
  join(plan: Plan): Promise<Turns>;
}

/**
 * Prepares an upload with --claim; undefined without the flag. Throws CliError `usage` without a shared
 * record, and where nothing names the run.
 */
export async function openClaim(
  context: Context,
  session: UploadSession,
  options: ClaimFlags,
): Promise<Claim | undefined> {
  if (options.claim !== true) return undefined;
  const { record, source } = session;
  if (!record) {
    throw new CliError("usage", "--claim needs a shared record", {
      hints: [
        "name it with --shared-state and --state-project, or state.shared in a configuration",
      ],
    });
  }
  const { root } = source.settings;
  const { run: name } = options;
  const commit =
    name === undefined
      ? await cleanCommit(context, root)
      : await headOf(root, context.env).catch(() => undefined);
  const named = { name: name ?? commit ?? "", isNamed: name !== undefined, commit };
  const files = createFilesDigest();
  return {
    name: named.name,
    files,
    join(plan) {
      const digest = digestOf(session, options, files.value());
      const run = { project: record.project.id, ...named, digest };
      return joinShared(context, session, { run, plan, record });
    },
  };
}

async function joinShared(
  context: Context,
  { output, connected, source }: UploadSession,
  { run, plan, record }: { run: ClaimedRun; plan: Plan; record: SharedRecord },
): Promise<Turns> {
  const { leaseSeconds = defaultLeaseSeconds } = source.config.values.state?.shared ?? {};
  const { database, fetch, flush: push } = record;
  const { table } = plan;
  const { signal } = context;
  let gate: Gate | undefined;
  const worker = await joinWorkers(
    { database, run, host: context.host, leaseSeconds, table, fetch, push, clock: context, signal },
    { renewed: (workers) => gate?.share(workers), stop: (error) => gate?.stop(error) },
  );
  try {
    // What others have sent since the plan was made is unchanged, and not sent again.
    await fetch();
    // The others lower their rate at their next heartbeat.
    if (connected.rate !== undefined && worker.workers > 1) {
      await context.sleep(heartbeatMs(leaseSeconds * 1000), signal);
    }
  } catch (error) {
    await worker.leave();
    throw error;
  }
  const others = countOf(worker.workers - 1, "other worker");
  const name = run.isNamed ? run.name : run.name.slice(0, 12);
  await output.note(`run ${name}: ${worker.isFirst ? "begun" : `joined ${others}`}`);
  return turnsOf(worker, (of) => {
    gate = of;
    of.share(worker.workers);
  });
}

function turnsOf(worker: Worker, follow: (gate: Gate) => void): Turns {
  let reopen = (): void => {};
  return {
    worker,
    follow(gate) {
      reopen = gate.reopen;
      follow(gate);
    },
    recording: (state) => ({
      ...state,
      save(batch, synchronous) {
        state.save(batch, synchronous);
        worker.saved(batch.files ?? [], batch.failures ?? []);
      },
    }),
    reported: (plan) => ({
      ...plan,
      table: withoutOthers(plan.table, worker.isFirst, worker.taken),
      images: worker.isFirst ? plan.images : 0,
    }),
    async sendAll(send, signal, onWait) {
      for (;;) {
        const broken = await send().catch((error: unknown) => {
          if (worker.isLost(error)) return 0;
          throw error;
        });
        if (signal.aborted) return { broken, totals: undefined };
        const next = await worker.next(onWait);
        if (next !== "again") return { broken, totals: next === "ended" ? undefined : next };
        reopen();
      }
    },
  };
}

/** What the last worker says of the whole run. */
export function runText({ accepted, failed, workers }: RunTotals): string {
  const documents = `${countOf(accepted, "document")} accepted, ${formatCount(failed)} failed`;
  return `the run has ended: ${documents}, by ${countOf(workers, "worker")}`;
}

/** The error of the last worker where documents of the run failed that are not its own. */
export function runProblem(
  totals: RunTotals | undefined,
  { table }: Plan,
  { failed: own }: UploadCounts,
): CliError[] {
  if (totals === undefined) return [];
  const failed = totals.failed + table.count("failed");
  if (failed <= own) return [];
  const { workers } = totals;
  const message = `${countOf(failed, "document")} of the run failed, of ${countOf(workers, "worker")}`;
  return [
    new CliError("partial", message, {
      hints: ["run the command again on one worker: it sends what failed"],
    }),
  ];
}
