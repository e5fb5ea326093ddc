import { changeFolder, edit, mark } from "./edit.ts";
import { runRemoval } from "./removal.ts";
import type { Project } from "./project.ts";
import { runRetry } from "./retry.ts";
import { command, note, openRun, Violation, type Count, type Run, type World } from "./run.ts";
import { firstFiles, type Fault, type Sequence, type Step, type Upload } from "./steps.ts";
import {
  importForeign,
  loseState,
  runClaimed,
  runShards,
  switchMachine,
  transferState,
} from "./transfer.ts";
import { runIngest, runKilled } from "./upload.ts";
import { isRowFile } from "./world.ts";

/** Rows have their keys for ids, in whichever project: one with ids of its own has none. */
const hasRows = (run: Run, project: Project): boolean => run.shared || project === run.projects[0];

function start(run: Run, project: Project, marker: Sequence["marker"]): void {
  if (marker !== "none") mark(run, project, marker);
  run.started.add(project);
  const isTaken = (path: string): boolean => hasRows(run, project) || !isRowFile(path);
  for (const path of firstFiles.filter(isTaken)) edit(run, project, path);
}

const lostAnswers: Fault = { what: "reset-after-store", nth: 1, lasting: true, again: false };

/** A retry as it is advised: without the flags of the upload. */
function retryOf(project: number, { selection: { root, cwd }, elsewhere }: Upload): Step {
  const selection = { cwd, paths: [cwd], root };
  const upload = { selection, shape: {}, pair: undefined, elsewhere: elsewhere === true };
  return { project, do: "retry", upload };
}

/** The steps that a story consists of; a step that is none stands for itself. */
function stepsOf(step: Step): Step[] {
  const { project } = step;
  if (step.do === "fail") {
    const { path, upload } = step;
    return [
      { project, do: "edit", path },
      { project, do: "opt-out", path, how: undefined },
      { project, do: "break", path, on: true },
      { project, do: "ingest", upload },
      { project, do: "break", path, on: false },
      ...(step.retried ? [retryOf(project, upload)] : []),
    ];
  }
  if (step.do === "doubt") {
    const { path, upload } = step;
    return [
      { project, do: "edit", path },
      { project, do: "ingest", upload, fault: lostAnswers },
      { project, do: "revert", path },
    ];
  }
  return [step];
}

/** An upload, and the same by the other machine: what was sent is not sent again. */
async function runOnBoth(run: Run, project: Project, upload: Upload): Promise<void> {
  const first = await runIngest(run, project, upload, undefined);
  switchMachine(run, project);
  const second = first?.code === 0 && (await runIngest(run, project, upload, undefined));
  if (!second) return;
  run.count("uploads by both machines");
  if (second.sent > 0) throw new Violation(`${second.sent} documents were sent again`);
}

async function runStep(run: Run, step: Step, marker: Sequence["marker"]): Promise<void> {
  const project = run.projects[step.project]!;
  if (!run.started.has(project)) start(run, project, marker);
  const paths = [
    ...("path" in step ? [step.path] : []),
    ...("upload" in step ? step.upload.selection.paths : []),
  ];
  if (!hasRows(run, project) && paths.some(isRowFile)) return;
  if (changeFolder(run, step)) return;
  switch (step.do) {
    case "ingest":
      await runIngest(run, project, step.upload, step.fault);
      return;
    case "both":
      return await runOnBoth(run, project, step.upload);
    case "claim":
      return await runClaimed(run, project, step.upload, step.nth);
    case "kill":
      return await runKilled(run, project, step.upload, step);
    case "shards":
      return await runShards(run, project, step.upload, step);
    case "removal":
      return await runRemoval(run, project, step);
    case "retry":
      return await runRetry(run, project, step.upload, step.fault);
    case "transfer":
      return await transferState(run, project);
    case "foreign":
      // With ids of its own the project never sends what was imported here.
      return run.shared ? undefined : await importForeign(run, project);
    case "lose":
      return loseState(run, project);
    case "switch":
      return switchMachine(run, project);
    case "restart":
      note(run, "# the database crashes and starts again");
      await run.record?.server.stop("SIGQUIT");
      return await run.record?.server.start();
    default:
  }
}

/**
 * The steps for two machines on one shared record, which take turns. A record is of one project with
 * one first target, and each machine has one state.
 */
function forMachines({ marker, steps, ...rest }: Sequence): Sequence {
  const isUnmarked = marker === "none";
  const turns = steps.flatMap((step, index): Step[] => {
    const project = 0;
    if (step.do === "transfer") return [{ project, do: "switch" }];
    if (step.do === "foreign") return [{ project, do: "restart" }];
    if (!("upload" in step)) return [{ ...step, project }];
    const { pair, ...upload } = step.upload;
    const own = { ...upload, pair: pair && 2, elsewhere: false, noState: false };
    const isPlain = step.do === "ingest" && !step.fault && own.force !== true;
    if (step.do === "shards" || (isPlain && index % 3 === 0)) {
      return [{ project, do: "claim", upload: { ...own, force: false }, nth: 1 + (index % 5) }];
    }
    if (isPlain) return [{ project, do: "both", upload: own }];
    const again: Step = { ...step, project, upload: own };
    return index % 2 === 0 ? [again] : [{ project, do: "switch" }, again];
  });
  return { ...rest, marker: isUnmarked ? "git" : marker, steps: turns };
}

function firstUpload({ shape }: Sequence): Step {
  const selection = { cwd: "", paths: ["", "docs/rows.csv"] };
  return { project: 0, do: "ingest", upload: { selection, shape, pair: 2 } };
}

async function share(run: Run): Promise<void> {
  const { code, stderr } = await command(run, run.projects[0]!, "", ["state", "share", "--yes"]);
  if (code !== 0) throw new Violation(`state share: exit ${code}: ${stderr}`);
}

/**
 * Plays a sequence against a service of the dialect, on one machine or on two. Throws an error with
 * the violation and the sequence as a script.
 */
export async function playSequence(given: Sequence, world: World, count: Count): Promise<void> {
  const sequence = world.machines === 2 ? forMachines(given) : given;
  const run = await openRun(sequence, world, count);
  try {
    if (run.record) await share(run);
    if (sequence.sent) await runStep(run, firstUpload(sequence), sequence.marker);
    for (const step of sequence.steps.flatMap(stepsOf)) await runStep(run, step, sequence.marker);
  } catch (error) {
    const what = error instanceof Violation ? error.message : String((error as Error).stack);
    throw new Error(`${what}\n\n${run.script.join("\n")}\n`, { cause: error });
  } finally {
    await run.close();
  }
}
