import { changeFolder, edit, mark } from "./edit.ts";
import { runRemoval } from "./removal.ts";
import type { Project } from "./project.ts";
import { runRetry } from "./retry.ts";
import { openRun, Violation, type Count, type Run } from "./run.ts";
import type { Dialect } from "./service.ts";
import { firstFiles, type Fault, type Sequence, type Step, type Upload } from "./steps.ts";
import { importForeign, loseState, runShards, transferState } from "./transfer.ts";
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
      return await runIngest(run, project, step.upload, step.fault);
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
    default:
  }
}

function firstUpload({ shape }: Sequence): Step {
  const selection = { cwd: "", paths: ["", "docs/rows.csv"] };
  return { project: 0, do: "ingest", upload: { selection, shape, pair: 2 } };
}

/**
 * Plays a sequence against a service of the dialect. Throws an error with the
 * violation and the sequence as a script.
 */
export async function playSequence(
  sequence: Sequence,
  dialect: Dialect,
  count: Count,
): Promise<void> {
  const run = await openRun(sequence, dialect, count);
  try {
    if (sequence.sent) await runStep(run, firstUpload(sequence), sequence.marker);
    for (const step of sequence.steps.flatMap(stepsOf)) await runStep(run, step, sequence.marker);
  } catch (error) {
    const what = error instanceof Violation ? error.message : String((error as Error).stack);
    throw new Error(`${what}\n\n${run.script.join("\n")}\n`, { cause: error });
  } finally {
    await run.close();
  }
}
