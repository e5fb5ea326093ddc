import { setTimeout as wait } from "node:timers/promises";
import type { FaultRule } from "../../src/sandbox/http/faults.ts";
import { checkSent, checkStored, followUpload, type Allowed } from "./check.ts";
import { changedIds, checkOwners, lookBefore, type Before } from "./ownership.ts";
import { codeOf, planOf, uploadWords, type Plan } from "./plan.ts";
import type { Project } from "./project.ts";
import { command, note, Violation, type Ran, type Run } from "./run.ts";
import type { Write } from "./service.ts";
import { sentTo, unfinishedOf } from "./state.ts";
import type { Fault, Upload } from "./steps.ts";

const post = { method: "POST" } as const;

function ruleOf({ what, nth, lasting }: Fault, ids: readonly string[]): FaultRule | undefined {
  if (what === "refuse") {
    const documentId = ids[nth % ids.length];
    if (documentId === undefined) return undefined;
    return { when: { ...post, documentId }, do: { status: 400, body: { detail: "refused" } } };
  }
  const when = lasting ? { ...post, after: nth - 1 } : { ...post, nth };
  if (what === "cut") return { when, do: { cutAfterBytes: 5 } };
  if (typeof what === "string") return { when, do: what };
  const headers: Record<string, string> = what === 500 ? {} : { "retry-after": "1" };
  return { when, do: { status: what, headers, body: { detail: "Injected fault" } } };
}

/** Makes the service fail as `fault` says while `work` runs. */
export async function withFault<T>(
  run: Run,
  fault: Fault | undefined,
  ids: readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  const rule = fault && ruleOf(fault, ids);
  if (rule) {
    run.service.faults.push(rule);
    note(run, `# the service fails in the next command: ${JSON.stringify(rule)}`);
  }
  try {
    return await work();
  } finally {
    run.service.faults.length = 0;
  }
}

/** What was stored since; of a process that was killed nobody knows which answers it had. */
export function takeWrites(
  run: Run,
  { project, state }: Pick<Plan, "project" | "state">,
  { killed = false, isAllowed = false } = {},
): Write[] {
  const writes = run.service.takeWrites();
  checkOwners(run, project, writes, { isAllowed });
  for (const { id, pair, answered } of writes) {
    run.writers.set(id, { state: state?.folder ?? "", pair, answered: answered && !killed });
  }
  return writes;
}

/**
 * Whether the upload was refused because recorded documents would get other ids; throws where it
 * had to be, and was not.
 */
export function refusesIds(plan: Plan, upload: Upload, ran: Ran): boolean {
  const { count, recorded, hasRows } = changedIds(plan);
  if (upload.allowIdChange || codeOf(plan) === 2 || count < 2) return false;
  const isRefused = ran.code === 2 && ran.stderr.includes("--allow-id-change");
  if (!isRefused && !hasRows && count * 10 >= recorded && ran.code === 0) {
    throw new Violation(`${count} of ${recorded} documents got another id: ${ran.stderr.trim()}`);
  }
  return isRefused;
}

/** Exit codes of a run whose service fails. */
export const failureCodes = new Set<number | null>([0, 4, 5, 6, 7, 8, 10]);

function checkCode(ran: Ran, { pair }: Plan, wanted: number, disturbed: boolean): void {
  if (ran.code === wanted) return;
  // Nothing is to be sent, so that no target is needed; it may be asked for all the same.
  if (pair === undefined && ran.code === 2) return;
  if (disturbed && wanted !== 2 && failureCodes.has(ran.code)) return;
  throw new Violation(`exit ${ran.code}, must be ${wanted}: ${ran.stderr.trim()}`);
}

/** Under which an upload ran. */
interface Conditions {
  upload: Upload;
  /** What the service had before, see ownership.ts. */
  before: Before;
  disturbed: boolean;
  killed?: boolean;
  sharded?: boolean;
}

/** What an upload was found to have done, checked against the plan. */
export async function checkUpload(
  run: Run,
  plan: Plan,
  ran: Ran,
  { upload, before: { foreign, adopted }, disturbed, killed = false, sharded = false }: Conditions,
): Promise<void> {
  const { state, pair, root } = plan;
  const { documents } = plan.yield;
  const recordedBefore = new Set(state && pair ? sentTo(state, pair).keys() : []);
  const isAllowed = upload.overwrite === true;
  const writes = takeWrites(run, plan, { killed, isAllowed });
  const isRefused = !sharded && refusesIds(plan, upload, ran);
  const planned = codeOf(plan);
  const wanted = isRefused ? 2 : planned === 0 && foreign.length > 0 ? 10 : planned;
  run.count(`uploads with ${killed ? "a kill" : `exit ${ran.code}`}`);
  run.count("documents sent", writes.length);
  if (!killed) checkCode(ran, plan, wanted, disturbed);
  if (wanted === 2 && writes.length > 0) throw new Violation("exit 2, but something was sent");
  checkSent(
    writes,
    documents.filter((each) => !foreign.includes(each)),
    pair,
  );
  if (pair === undefined || root === undefined) return;
  const sent = new Set(writes.map(({ document }) => document?.id ?? ""));
  if (ran.code === 0) {
    if (plan.yield.broken.length > 0) throw new Violation("exit 0, but a file is broken");
    checkStored(
      run,
      { documents, pair, state: state?.folder ?? "" },
      (id) => recordedBefore.has(id) && !sent.has(id),
    );
  }
  if (!state || (ran.code === 2 && !killed)) return;
  // Whole runs that ended as planned; a part of one, or a stop, leaves something to send.
  const selection = JSON.stringify(plan.selection);
  if (!sharded && (ran.code === 0 || ran.code === 10)) unfinishedOf(state, pair).delete(selection);
  else if (ran.code !== 2) unfinishedOf(state, pair).add(selection);
  const doubtful = disturbed ? new Set(documents.map(({ id }) => id)) : new Set<string>();
  const allowed: Allowed = { adopted, doubtful, killed, sharded };
  await followUpload(run, { ...plan, state, pair, root }, { ran, writes, allowed });
}

/**
 * `ingest`, with a service that may fail; then, sometimes, once more without the fault. Gives its exit
 * code and how many documents it sent.
 */
export async function runIngest(
  run: Run,
  project: Project,
  upload: Upload,
  fault: Fault | undefined,
): Promise<{ code: number | null; sent: number } | undefined> {
  const plan = planOf(run, project, upload);
  if (!plan) return undefined;
  const ids = plan.yield.documents.map(({ id }) => id);
  const before = lookBefore(run, plan, upload);
  const ran = await withFault(run, fault, ids, () =>
    command(run, project, plan.selection.cwd, uploadWords(plan, upload)),
  );
  const { requests } = run.service.sandbox.ledger;
  const sent = requests.filter(({ stored }) => stored !== undefined).length;
  await checkUpload(run, plan, ran, { upload, before, disturbed: fault !== undefined });
  // Else what failed is left for a retry.
  if (fault?.again) await runIngest(run, project, upload, undefined);
  return { code: ran.code, sent };
}

/** `ingest` as a process that is killed at a request; then once more. */
export async function runKilled(
  run: Run,
  project: Project,
  upload: Upload,
  { nth, answered }: { nth: number; answered: boolean },
): Promise<void> {
  const plan = planOf(run, project, upload);
  if (!plan) return;
  const { cwd } = plan.selection;
  const words = uploadWords(plan, upload);
  const before = lookBefore(run, plan, upload);
  note(run, `# killed with SIGKILL at document ${nth}${answered ? ", once it is answered" : ""}`);
  // Sent, stored and without an answer, or answered and the next one without.
  const at = answered ? nth + 1 : nth;
  run.service.faults.push({ when: { ...post, nth: at }, do: "hang" });
  const counted = (): number =>
    run.service.sandbox.ledger.requests.filter(({ method }) => method === "POST").length;
  const ran = await command(run, project, cwd, words, {
    onStart(child) {
      void (async () => {
        while (child.exitCode === null && counted() < at) await wait(1);
        child.kill("SIGKILL");
      })();
    },
  });
  run.service.faults.length = 0;
  const killed = ran.code === null;
  await checkUpload(run, plan, ran, { upload, before, disturbed: true, killed });
  await runIngest(run, project, upload, undefined);
}
