import { join } from "node:path";
import { storedId } from "../../src/sandbox/store/identity.ts";
import { listState } from "./check.ts";
import { features } from "./features.ts";
import { below, isInScope, type Project } from "./project.ts";
import { placeWords, planOf, selectionWords, type Plan } from "./plan.ts";
import { command, Violation, type Ran, type Run } from "./run.ts";
import type { Write } from "./service.ts";
import { pairsOf, saysStopped, sentTo, type Sent, type StateModel } from "./state.ts";
import type { Step } from "./steps.ts";
import { documentsOf, isBroken, isOptedOut, isRowFile, shapeWords, type Shape } from "./world.ts";
import { takeWrites } from "./upload.ts";

type OrphansStep = Extract<Step, { do: "orphans" }>;
type Known = Plan & { state: StateModel; pair: number; root: string };

/**
 * The classes under which a document may be listed; "kept" stands for not at all. More than one
 * where the specification leaves it open. `now` are the options of the command.
 */
function classesOf({ project, root, files }: Known, sent: Sent, now: Shape): ReadonlySet<string> {
  if (sent.removed) return new Set(["kept"]);
  const yields = (path: string, shape: Shape): boolean =>
    documentsOf(path, below(path, root), project.files.get(path)!, shape).some(
      ({ id }) => id === sent.id,
    );
  const shapes = [...sent.shapes, now];
  const isTaken = [...project.files.keys()].some(
    (path) => path !== sent.path && shapes.some((shape) => yields(path, shape)),
  );
  const other = isTaken ? ["kept"] : [];
  const file = project.files.get(sent.path);
  if (!file) return new Set(["gone", ...other]);
  // What is left out is not read, so nobody knows that it is broken.
  if (isBroken(sent.path, file)) {
    if (!project.ignored.has(sent.path)) return new Set(["kept"]);
    return new Set(["kept", "excluded", ...(sent.unignored ? ["other-options"] : [])]);
  }
  const yielding = sent.shapes.filter((shape) => yields(sent.path, shape));
  const classes = new Set<string>(other);
  // A folder gives no tables: one that is not named is out of sight.
  if (isRowFile(sent.path) && !files.includes(sent.path)) classes.add("kept");
  if (project.ignored.has(sent.path)) {
    classes.add("excluded");
    // A file that is named is found, whatever ignores it.
    if (files.includes(sent.path)) classes.add("kept");
    if (sent.unignored || !features.namesEach) classes.add("kept");
    // Sent with --no-ignore: under these options the file still gives it.
    if (sent.unignored || yielding.length > 0) classes.add("other-options");
    if (yielding.length > 0) return classes;
  }
  // The options of this command count as well: with --drafts a draft is a document.
  if (yielding.length > 0 || yields(sent.path, now)) classes.add("kept");
  if (yielding.length > 0 && !yields(sent.path, now)) classes.add("other-options");
  if (yielding.length === sent.shapes.length) return classes;
  if (sent.shapes.some((shape) => isOptedOut(sent.path, file, shape))) classes.add("opted-out");
  else if (isRowFile(sent.path)) classes.add("row-gone");
  // Another `id` in the front matter: the specification names no class.
  else for (const each of ["row-gone", "other-options"]) classes.add(each);
  return classes;
}

function inScope({ state, pair, selection }: Known): Sent[] {
  return [...sentTo(state, pair).values()].filter(({ path }) => isInScope(path, selection));
}

/** The exit code of a removal or a list. */
function codeOf(run: Run, plan: Plan, { action }: OrphansStep): number {
  const { root, pair, state, yield: found } = plan;
  const removes = action !== "list";
  if (root === undefined || (action === "prune" && run.dialect === "standard")) return 2;
  if (pair === undefined || found.collides) return 2;
  if (!removes) return found.broken.length > 0 ? 10 : 0;
  const isKnown = state !== undefined && pairsOf(state).includes(pair);
  if (state && !isKnown && pairsOf(state).length > 0) return 2;
  const failed = state?.failed.get(pair)?.some(({ path }) => isInScope(path, plan.selection));
  return found.fileCount === 0 || found.broken.length > 0 || failed ? 2 : 0;
}

function mayRemove(classes: ReadonlySet<string>, { classes: named }: OrphansStep): boolean {
  if (!features.classes) return [...classes].some((each) => each !== "kept" && each !== "excluded");
  return [...classes].some((each) => ["gone", "row-gone", ...named].includes(each));
}

interface Row {
  status: string;
  id: string;
  class?: string;
}

function checkRow(row: Row, classes: ReadonlySet<string>, step: OrphansStep): void {
  const wanted = [...classes].join(" or ");
  const isListed = features.classes
    ? classes.has(row.class ?? "")
    : [...classes].some((each) => each !== "kept" && each !== "excluded");
  if (!isListed) {
    throw new Violation(`orphans lists ${row.id} as ${row.class ?? "orphan"}, it is ${wanted}`);
  }
  if (!features.classes || step.action === "list") return;
  const isRemoved = row.status === "deleted" || row.status === "tombstoned";
  const must = ["gone", "row-gone", ...step.classes].includes(row.class ?? "");
  if (isRemoved === must) return;
  throw new Violation(`orphans of class ${row.class} is ${row.status}: ${row.id}`);
}

/** Whatever the program lists: nothing is removed whose file still yields it. */
function checkRemovals(plan: Known, writes: readonly Write[], step: OrphansStep): void {
  for (const write of writes) {
    const known = [...sentTo(plan.state, plan.pair).values()].find(
      ({ id }) => storedId(id) === write.id,
    );
    if (!known) throw new Violation(`removed ${write.id}, which is not recorded`);
    if (!isInScope(known.path, plan.selection))
      throw new Violation(`removed ${known.id}: no scope`);
    const now = features.records && !hasShape(step) ? {} : plan.shape;
    const classes = classesOf(plan, known, now);
    if (mayRemove(classes, step)) continue;
    throw new Violation(`removed ${known.id} of ${known.path}: it is ${[...classes].join(" or ")}`);
  }
}

/** Whether it says that it knows no file, and may: all are gone, or the state may be of another root. */
function isLost({ project, pair, state, root }: Plan, ran: Ran): boolean {
  if (!state || pair === undefined || !ran.stderr.includes("none of the recorded files exists")) {
    return false;
  }
  if (state.folder !== join(project.folder, root ?? "", ".knowctl")) return true;
  return [...sentTo(state, pair).values()].every(({ path }) => !project.files.has(path));
}

/** Whether a removal was refused because of what this command cannot know. */
function isGuarded(plan: Plan, ran: Ran): boolean {
  const { project, pair, state } = plan;
  if (ran.code !== 2 || !state || pair === undefined) return false;
  const sent = [...sentTo(state, pair).values()];
  const gone = sent.filter(({ path }) => !project.files.has(path));
  if (isLost(plan, ran)) return true;
  if (ran.stderr.includes("is not made of its path")) {
    return gone.some(({ id, path }) => !id.endsWith(path));
  }
  return saysStopped(state, pair, ran, 2);
}

const hasShape = ({ upload: { shape } }: OrphansStep): boolean => Object.keys(shape).length > 0;

/** `ingest orphans`: lists, deletes or replaces. */
export async function runOrphans(run: Run, project: Project, step: OrphansStep): Promise<void> {
  // An older build would judge documents by the options of this command.
  if (features.records && !features.classes) return;
  const upload = { ...step.upload, noState: false };
  const plan = planOf(run, project, upload);
  if (!plan || plan.selection.exclude !== undefined || plan.selection.noIgnore) return;
  const { state, pair, root } = plan;
  const removal = ["--yes", "--max-delete", "100%"];
  const ran = await command(run, project, plan.selection.cwd, [
    "ingest",
    "orphans",
    ...selectionWords(plan),
    ...(features.records && !hasShape(step) ? [] : shapeWords(plan.shape)),
    ...placeWords(plan, upload),
    ...(step.action === "list" ? [] : [`--${step.action}`, ...removal]),
    ...(features.classes && step.action !== "list"
      ? step.classes.flatMap((name) => ["--class", name])
      : []),
    "-o",
    "ndjson",
  ]);
  const writes = takeWrites(run, state);
  const wanted = codeOf(run, plan, step);
  run.count(`${step.action} of orphans with exit ${ran.code}`);
  run.count("documents removed", writes.length);
  if (step.action === "list" && ran.code === 10 && isLost(plan, ran)) return;
  const isRefused = step.action !== "list" && isGuarded(plan, ran);
  if (ran.code !== wanted && !isRefused) {
    throw new Violation(`exit ${ran.code}, must be ${wanted}: ${ran.stderr.trim()}`);
  }
  if ((wanted !== 0 || isRefused) && writes.length > 0) {
    throw new Violation(`exit ${ran.code}, but removed`);
  }
  if (!state || pair === undefined || root === undefined || ran.code === 2) return;
  await checkListed(run, { ...plan, state, pair, root }, { ran: ran.stdout, writes, step });
}

async function checkListed(
  run: Run,
  plan: Known,
  { ran, writes, step }: { ran: string; writes: readonly Write[]; step: OrphansStep },
): Promise<void> {
  const rows = ran
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Row);
  checkRemovals(plan, writes, step);
  const now = features.records && !hasShape(step) ? {} : plan.shape;
  for (const sent of inScope(plan)) {
    const classes = classesOf(plan, sent, now);
    const row = rows.find(({ id }) => id === sent.id);
    if (row) checkRow(row, classes, step);
    else if (
      ![...classes].some((each) => each === "kept" || (!features.classes && each === "excluded"))
    )
      throw new Violation(
        `orphans does not list ${sent.id}, which is ${[...classes].join(" or ")}`,
      );
  }
  const recorded = await listState(run, plan.state);
  const sent = sentTo(plan.state, plan.pair);
  for (const write of writes) {
    const known = [...sent.values()].find(({ id }) => storedId(id) === write.id)!;
    if (write.kind === "stored") {
      known.removed = true;
      const isGone = rows.some((row) => row.id === known.id && row.class === "gone");
      for (const all of isGone ? plan.state.sent.values() : []) {
        const other = all.get(known.id);
        if (other?.path === known.path) other.removed = true;
      }
    }
    // The service had one document per id, whatever pair it was sent to.
    else for (const all of plan.state.sent.values()) all.delete(known.id);
  }
  const inPair = recorded.filter((each) => each.status !== "failed" && each.ccPairId === plan.pair);
  const ids = inPair.map(({ id }) => id);
  // What the service had no more, as another command deleted it, counts as deleted.
  const isDeleted = ({ id, path }: Sent): boolean =>
    run.service.find(id) === undefined &&
    (!plan.project.files.has(path) ||
      rows.some((row) => row.id === id && row.status === "deleted"));
  const lost = [...sent.values()]
    .filter((each) => !ids.includes(each.id) && !isDeleted(each))
    .map(({ id }) => id);
  if (lost.length > 0) throw new Violation(`orphans lost the record of ${lost.join()}`);
  for (const { id, status } of inPair) {
    const isRemoved = sent.get(id ?? "")?.removed === true;
    if (isRemoved !== (status === "removed")) throw new Violation(`${id} is listed as ${status}`);
  }
  const left = ids.filter((id) => !sent.has(id ?? ""));
  if (left.length > 0) throw new Violation(`deleted, and recorded as sent: ${left.join()}`);
}
