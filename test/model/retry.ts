import { checkSent, checkStored, followUpload } from "./check.ts";
import { features } from "./features.ts";
import { yieldOf, type Project } from "./project.ts";
import { placeWords, planOf } from "./plan.ts";
import { command, Violation, type Run } from "./run.ts";
import { sentTo } from "./state.ts";
import type { Fault, Upload } from "./steps.ts";
import { takeWrites, withFault } from "./upload.ts";
import { shapeWords, type Shape } from "./world.ts";
import { existsSync } from "node:fs";
import { join } from "node:path";

const disturbedCodes = new Set<number | null>([0, 4, 5, 6, 7, 8, 10]);

/** `ingest retry`: sends what failed, with the options and to the target that are recorded. */
export async function runRetry(
  run: Run,
  project: Project,
  given: Upload,
  fault: Fault | undefined,
): Promise<void> {
  const upload = { ...given, noState: false };
  const { cwd, root: named } = upload.selection;
  // It has no paths: the working directory says which project is meant.
  const selection = { cwd, paths: [cwd], root: named };
  const plan = planOf(run, project, { ...upload, selection });
  if (!plan?.state || plan.root === undefined) return;
  const { state, root } = plan;
  const withFailures = [...state.failed].filter(([, all]) => all.length > 0).map(([pair]) => pair);
  const byDefault = withFailures.length === 1 ? withFailures[0] : plan.pair;
  const pair = upload.pair ?? (features.records ? byDefault : plan.pair);
  const failed = pair === undefined ? [] : (state.failed.get(pair) ?? []);
  const shapes = new Map<string, Shape>(failed.map(({ path, shape }) => [path, shape]));
  const paths = [...shapes.keys()].filter((path) => project.files.has(path));
  const found = yieldOf(project, root, paths, (path) => shapes.get(path) ?? {});
  const ids = found.documents.map(({ id }) => id);
  const before = new Set(pair === undefined ? [] : sentTo(state, pair).keys());
  const words = [
    "ingest",
    "retry",
    ...(features.records ? [] : shapeWords(plan.shape)),
    ...placeWords({ ...plan, pair }, upload),
  ];
  const ran = await withFault(run, fault, ids, () => command(run, project, cwd, words));
  const writes = takeWrites(run, state);
  const isOther = failed.length === 0 && withFailures.length > 0;
  const isUnknown = !existsSync(join(state.folder, "state.db"));
  const wanted = isUnknown
    ? 9
    : found.collides || pair === undefined || (features.records && isOther)
      ? 2
      : found.broken.length > 0
        ? 10
        : 0;
  // A failed document whose id is another one now is named and not sent.
  const isRenamed = failed.some(
    ({ path, id }) => id !== "" && paths.includes(path) && !ids.includes(id),
  );
  const isOpen =
    (fault && wanted !== 2 && disturbedCodes.has(ran.code)) ||
    (isRenamed && [0, 2, 10].includes(ran.code ?? 0));
  if (ran.code !== wanted && !isOpen) {
    throw new Violation(`exit ${ran.code}, must be ${wanted}: ${ran.stderr.trim()}`);
  }
  checkSent(writes, found.documents, pair);
  if (pair === undefined || isUnknown) return;
  const sent = new Set(writes.map(({ document }) => document?.id ?? ""));
  if (ran.code === 0 && !isRenamed) {
    const mayBeForeign = (id: string): boolean => before.has(id) && !sent.has(id);
    checkStored(run, { documents: found.documents, pair, state: state.folder }, mayBeForeign);
  }
  const doubtful = fault ? new Set(ids) : new Set<string>();
  // What is gone counts as looked at.
  const files = [...shapes.keys()];
  const whole = { cwd, paths: [root] };
  const seen = { ...plan, pair, state, root, files, yield: found, selection: whole };
  await followUpload(run, seen, { ran, writes, allowed: { doubtful, killed: false } });
}
