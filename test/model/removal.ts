import { join } from "node:path";
import { storedId } from "../../src/sandbox/store/documents.ts";
import { listState } from "./check.ts";
import { below, isInScope, type Project } from "./project.ts";
import { placeWords, planOf, selectionWords, type Plan } from "./plan.ts";
import { command, Violation, type Ran, type Run } from "./run.ts";
import type { Write } from "./service.ts";
import { isShared } from "./ownership.ts";
import {
  pairsOf,
  recordedPairs,
  saysStopped,
  sentTo,
  type Sent,
  type StateModel,
} from "./state.ts";
import type { Step, Upload } from "./steps.ts";
import { documentsOf, isBroken, isOptedOut, isRowFile, type Shape } from "./world.ts";
import { takeWrites } from "./upload.ts";

type RemovalStep = Extract<Step, { do: "removal" }>;
type Known = Plan & { state: StateModel; pair: number; root: string };

/**
 * The classes under which a document may be listed; "kept" stands for not at all. More than one
 * where the specification leaves it open.
 */
function classesOf(plan: Known, sent: Sent): ReadonlySet<string> {
  const classes = classesByFile(plan, sent);
  const { imported, adopted, id, path, shapes } = sent;
  const isOf = (prefix: string): boolean => id === prefix + below(path, plan.root);
  const isPathId = shapes.some(({ prefix = "" }) => isOf(prefix));
  // Today's prefix is that of the last upload of the folder, which the model does not follow.
  if (classes.has("kept")) {
    const isMarked = imported !== false || adopted;
    return isMarked ? new Set([...classes, "foreign", "adopted"]) : classes;
  }
  if (imported === true && !isPathId) return new Set(["foreign"]);
  const more = [
    ...(imported === false ? [] : ["foreign"]),
    // Outside of its own prefix or of today's, which the model does not follow.
    ...(adopted ? ["adopted"] : []),
  ];
  return more.length > 0 ? new Set([...classes, ...more]) : classes;
}

function classesByFile({ project, root, files }: Known, sent: Sent): ReadonlySet<string> {
  if (sent.removed) return new Set(["kept"]);
  const yields = (path: string, shape: Shape): boolean =>
    documentsOf(path, below(path, root), project.files.get(path)!, shape).some(
      ({ id }) => id === sent.id,
    );
  const { shapes } = sent;
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
    if (sent.unignored) classes.add("kept");
    // Sent with --no-ignore: under these options the file still gives it.
    if (sent.unignored || yielding.length > 0) classes.add("other-options");
    if (yielding.length > 0) return classes;
  }
  if (yielding.length > 0) classes.add("kept").add("other-options");
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
function codeOf(run: Run, plan: Plan, { action }: RemovalStep): number {
  const { root, pair, state, yield: found } = plan;
  const removes = action !== "status";
  if (root === undefined || (action === "prune" && run.dialect === "standard")) return 2;
  if (!removes && pair === undefined && !(state && recordedPairs(state).length > 1)) {
    return found.fileCount === 0 ? 2 : found.broken.length > 0 ? 10 : 0;
  }
  if (pair === undefined || found.collides) return 2;
  const isEmpty =
    found.fileCount === 0 && !(state && inScope({ ...plan, state, pair, root }).length);
  if (!removes && isEmpty) return 2;
  if (!removes) return found.broken.length > 0 ? 10 : 0;
  const isKnown = state !== undefined && pairsOf(state).includes(pair);
  if (state && !isKnown && pairsOf(state).length > 0) return 2;
  const failed = state?.failed.get(pair)?.some(({ path }) => isInScope(path, plan.selection));
  return found.fileCount === 0 || found.broken.length > 0 || failed ? 2 : 0;
}

function mayRemove(classes: ReadonlySet<string>, { classes: named }: RemovalStep): boolean {
  return [...classes].some((each) => ["gone", "row-gone", ...named].includes(each));
}

interface Row {
  /** Of a row of `status`. */
  result?: string;
  path?: string | null;
  /** Undefined in a row of `status`. */
  status?: string;
  id: string;
  class?: string | null;
}

function checkRow(row: Row, classes: ReadonlySet<string>, step: RemovalStep): void {
  const wanted = [...classes].join(" or ");
  if (!classes.has(row.class ?? "")) {
    throw new Violation(
      `${step.action} lists ${row.id} as ${row.class ?? "gone"}, it is ${wanted}`,
    );
  }
  if (step.action === "status") return;
  const isRemoved = row.status === "deleted" || row.status === "tombstoned";
  const must = isSelected(row, step);
  if (isRemoved === must) return;
  throw new Violation(`a document of class ${row.class} is ${row.status}: ${row.id}`);
}

/** Whatever the program lists: nothing is removed whose file still yields it. */
function checkRemovals(plan: Known, writes: readonly Write[], step: RemovalStep): void {
  for (const write of writes) {
    const known = [...sentTo(plan.state, plan.pair).values()].find(
      ({ id }) => storedId(id) === write.id,
    );
    if (!known) throw new Violation(`removed ${write.id}, which is not recorded`);
    if (!isInScope(known.path, plan.selection))
      throw new Violation(`removed ${known.id}: no scope`);
    const classes = classesOf(plan, known);
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

/** The recorded documents of the pair that another pair has as well: a removal keeps them. */
function sharedIds(run: Run, { state, pair }: Plan): ReadonlySet<string> {
  if (!state || pair === undefined) return new Set();
  // Elsewhere only the state tells of other pairs.
  const isHeld = (id: string): boolean =>
    run.dialect === "onyx"
      ? isShared(run, id, pair)
      : [...state.sent].some(([each, all]) => each !== pair && all.get(id)?.removed === false);
  return new Set([...sentTo(state, pair).keys()].filter(isHeld));
}

function checkShared(
  rows: readonly Row[],
  writes: readonly Write[],
  shared: ReadonlySet<string>,
  { classes }: RemovalStep,
): void {
  const wrong = rows.find(({ status, id }) => status === "kept" && !shared.has(id));
  if (wrong) throw new Violation(`${wrong.id} was kept, and no other pair has it`);
  if (classes.includes("shared")) return;
  const stored = new Set([...shared].map(storedId));
  const removed = writes.find(({ id }) => stored.has(id));
  if (removed) throw new Violation(`removed ${removed.id}, which another pair has`);
}

const isNamed = (name: string, { classes }: RemovalStep): boolean =>
  ["gone", "row-gone", ...classes].includes(name);
const isSelected = ({ class: name }: Row, step: RemovalStep): boolean => isNamed(name ?? "", step);

function wordsOf(plan: Plan, step: RemovalStep, upload: Upload): string[] {
  const place = [...selectionWords(plan), ...placeWords(plan, upload), "-o", "ndjson"];
  if (step.action === "status") return ["status", ...place];
  const classes = step.classes.flatMap((name) => ["--class", name]);
  const removal = ["--yes", "--max-delete", "100%", ...classes];
  return ["prune", ...place, ...(step.action === "tombstone" ? ["--tombstone"] : []), ...removal];
}

/** `status` lists what is gone, `prune` deletes or replaces it. */
export async function runRemoval(run: Run, project: Project, step: RemovalStep): Promise<void> {
  // The records say how each document was made.
  const upload = { ...step.upload, shape: {}, noState: false };
  const plan = planOf(run, project, upload);
  if (!plan || plan.selection.exclude !== undefined || plan.selection.noIgnore) return;
  const { state, pair, root } = plan;
  const shared = sharedIds(run, plan);
  const removes = step.action !== "status";
  const ran = await command(run, project, plan.selection.cwd, wordsOf(plan, step, upload));
  const isAllowed = step.classes.some((name) => ["shared", "foreign", "adopted"].includes(name));
  const writes = takeWrites(run, plan, { isAllowed });
  const rows = ran.stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Row)
    // Status names a document once: what failed and is gone as failed.
    .filter((row) => row.result === "failed" || (row.class !== undefined && row.class !== null));
  const isKept = ({ status }: Row): boolean => status === "kept";
  checkShared(rows, writes, shared, step);
  const planned = codeOf(run, plan, step);
  const wanted = planned === 0 && rows.some(isKept) ? 10 : planned;
  run.count(`${step.action} with exit ${ran.code}`);
  run.count("documents removed", writes.length);
  run.count("shared documents kept", rows.filter(isKept).length);
  if (!removes && writes.length > 0) throw new Violation("status changed the service");
  if (!removes && ran.code === 10 && isLost(plan, ran)) return;
  const isRefused = removes && isGuarded(plan, ran);
  // What an upload left out is judged by its flags: nobody looks whether it is broken.
  const leavesOut =
    ran.code === 0 && plan.yield.broken.length > 0 && ran.stderr.includes("--exclude");
  if (ran.code !== wanted && !isRefused && !leavesOut && !saysCollision(ran)) {
    throw new Violation(`exit ${ran.code}, must be ${wanted}: ${ran.stderr.trim()}`);
  }
  if (ran.code === 2 && writes.length > 0) throw new Violation("exit 2, but removed");
  if (!state || pair === undefined || root === undefined || ran.code === 2) return;
  const known = { ...plan, state, pair, root };
  await checkListed(run, known, { rows, writes, step, isKept });
}

/** Under the recorded options, which the model does not follow this far, two files have one id. */
const saysCollision = ({ code, stderr }: Ran): boolean =>
  code === 2 && stderr.includes("two files have the same document id");

interface Listing {
  rows: readonly Row[];
  writes: readonly Write[];
  step: RemovalStep;
  isKept(row: Row): boolean;
}

async function checkListed(
  run: Run,
  plan: Known,
  { rows, writes, step, isKept }: Listing,
): Promise<void> {
  checkRemovals(plan, writes, step);
  // A file that failed stands for all its documents.
  const failed = new Set(rows.filter(({ result }) => result === "failed").map(({ path }) => path));
  for (const sent of inScope(plan)) {
    if (failed.has(below(sent.path, plan.root))) continue;
    const classes = classesOf(plan, sent);
    const row = rows.find(({ id }) => id === sent.id);
    if (row && !isKept(row) && row.result !== "failed") checkRow(row, classes, step);
    // A removal lists what it removes, and with it what else is gone.
    else if (
      !row &&
      (step.action === "status" || [...classes].every((name) => isNamed(name, step))) &&
      !classes.has("kept")
    ) {
      const wanted = [...classes].join(" or ");
      throw new Violation(`${step.action} does not list ${sent.id}, which is ${wanted}`);
    }
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
  if (lost.length > 0) throw new Violation(`the command lost the record of ${lost.join()}`);
  for (const { id, status } of inPair) {
    const isRemoved = sent.get(id ?? "")?.removed === true;
    if (isRemoved !== (status === "removed")) throw new Violation(`${id} is listed as ${status}`);
  }
  const left = ids.filter((id) => !sent.has(id ?? ""));
  if (left.length > 0) throw new Violation(`deleted, and recorded as sent: ${left.join()}`);
}
