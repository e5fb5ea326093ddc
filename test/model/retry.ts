import { existsSync } from "node:fs";
import { join } from "node:path";
import { checkSent, checkStored, followUpload } from "./check.ts";
import { lookBefore } from "./ownership.ts";
import { placeWords, planOf, type Plan } from "./plan.ts";
import { yieldOf, type Project } from "./project.ts";
import { command, Violation, type Ran, type Run } from "./run.ts";
import { saysStopped, sentTo, type Failed, type StateModel } from "./state.ts";
import type { Fault, Upload } from "./steps.ts";
import { failureCodes, takeWrites, withFault } from "./upload.ts";
import type { Shape } from "./world.ts";

interface Retry extends Plan {
  state: StateModel;
  root: string;
  failed: readonly Failed[];
  /** The pairs of which failures are recorded. */
  pairs: readonly number[];
}

/** What a retry must send: the files that failed, each with the options it failed with. */
function retryOf(run: Run, project: Project, upload: Upload): Retry | undefined {
  const { cwd, root: named } = upload.selection;
  // It has no paths: the working directory says which project is meant.
  const plan = planOf(run, project, { ...upload, selection: { cwd, paths: [cwd], root: named } });
  if (!plan?.state || plan.root === undefined) return undefined;
  const { state, root } = plan;
  const pairs = [...state.failed].filter(([, all]) => all.length > 0).map(([pair]) => pair);
  const byDefault = pairs.length === 1 ? pairs[0] : undefined;
  const pair = plan.named ?? byDefault;
  const failed = pair === undefined ? [] : (state.failed.get(pair) ?? []);
  const shapes = new Map<string, Shape>(failed.map(({ path, shape }) => [path, shape]));
  const there = [...shapes.keys()].filter((path) => project.files.has(path));
  const shapeOf = (path: string): Shape => shapes.get(path) ?? {};
  const found = yieldOf(project, root, there, shapeOf);
  // What is gone counts as looked at.
  const files = [...shapes.keys()];
  return { ...plan, shapeOf, state, root, pair, failed, pairs, files, yield: found };
}

function codeOf({ record }: Run, { state, pair, pairs, failed, yield: found }: Retry): number {
  // A state that is not there is fetched.
  if (!record && !existsSync(join(state.folder, "state.db"))) return 9;
  const isOpen = pair === undefined && pairs.length > 1;
  const isOther = failed.length === 0 && pairs.length > 0;
  if (isOpen || isOther || found.collides) return 2;
  return found.broken.length > 0 ? 10 : 0;
}

/** A failed document whose id is another one now is named and not sent. */
function isRenamed({ failed, project, yield: { documents } }: Retry): boolean {
  const ids = new Set(documents.map(({ id }) => id));
  return failed.some(({ path, id }) => id !== "" && project.files.has(path) && !ids.has(id));
}

const findsNone = ({ code, stderr }: Ran): boolean =>
  code === 2 && stderr.includes("none of the failed files exists");

function checkCode(
  run: Run,
  retry: Retry,
  ran: Ran,
  { disturbed, isRefused }: { disturbed: boolean; isRefused: boolean },
): void {
  const planned = codeOf(run, retry);
  const wanted = planned === 0 && isRefused ? 10 : planned;
  // The state is named, and the root of this command is another one than that of the failures.
  if (wanted !== 2 && findsNone(ran)) return;
  // A failed file may have the id of another file that is recorded.
  if (ran.code === 2 && ran.stderr.includes("two files have the same document id")) return;
  // Nothing failed for this pair: that its upload stopped says more than that another pair failed.
  const mayStop = wanted === 0 || (retry.pair !== undefined && retry.failed.length === 0);
  if (mayStop && saysStopped(retry.state, retry.pair, ran, 10)) return;
  if (ran.code === wanted || (disturbed && wanted !== 2 && failureCodes.has(ran.code))) return;
  if (isRenamed(retry) && [0, 2, 10].includes(ran.code ?? 1)) return;
  // Nothing failed, and of several recorded targets none is named.
  if (retry.pair === undefined && retry.failed.length === 0 && ran.code === 2) return;
  throw new Violation(`exit ${ran.code}, must be ${wanted}: ${ran.stderr.trim()}`);
}

/** `retry`: sends what failed, with the options and to the target that are recorded. */
export async function runRetry(
  run: Run,
  project: Project,
  given: Upload,
  fault: Fault | undefined,
): Promise<void> {
  const upload = { ...given, noState: false };
  const retry = retryOf(run, project, upload);
  if (!retry) return;
  const { state, pair } = retry;
  const { documents } = retry.yield;
  const ids = documents.map(({ id }) => id);
  const before = new Set(pair === undefined ? [] : sentTo(state, pair).keys());
  const { foreign, adopted } = lookBefore(run, retry, upload);
  const words = ["retry", ...placeWords(retry, upload)];
  const { cwd } = retry.selection;
  const ran = await withFault(run, fault, ids, () => command(run, project, cwd, words));
  const writes = takeWrites(run, retry);
  run.count(`retries with exit ${ran.code}`);
  run.count("documents sent by retry", writes.length);
  checkCode(run, retry, ran, { disturbed: fault !== undefined, isRefused: foreign.length > 0 });
  checkSent(
    writes,
    documents.filter((each) => !foreign.includes(each)),
    pair,
  );
  // Of another root nothing was tried: what failed is still recorded.
  if (pair === undefined || ran.code === 9 || findsNone(ran)) return;
  const sent = new Set(writes.map(({ document }) => document?.id ?? ""));
  if (ran.code === 0 && !isRenamed(retry)) {
    const mayBeForeign = (id: string): boolean => before.has(id) && !sent.has(id);
    checkStored(run, { documents, pair, state: state.folder }, mayBeForeign);
  }
  const allowed = { adopted, doubtful: new Set(fault ? ids : []), killed: false, sharded: false };
  await followUpload(run, { ...retry, pair }, { ran, writes, allowed });
}
