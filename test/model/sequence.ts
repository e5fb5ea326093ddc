import { changeFolder, edit, mark } from "./edit.ts";
import { features } from "./features.ts";
import { runOrphans } from "./orphans.ts";
import type { Project } from "./project.ts";
import { runRetry } from "./retry.ts";
import { openRun, Violation, type Run } from "./run.ts";
import type { Dialect } from "./service.ts";
import { firstFiles, type Sequence, type Step } from "./steps.ts";
import { loseState, runShards, transferState } from "./transfer.ts";
import { runIngest, runKilled } from "./upload.ts";
import { isRowFile } from "./world.ts";

function start(run: Run, project: Project, marker: Sequence["marker"]): void {
  if (marker !== "none" || !features.rootRule) {
    mark(run, project, features.rootRule && marker === "config" ? "config" : "git");
  }
  run.started.add(project);
  // Rows have their keys for ids, in whichever project: the second has none.
  const isTaken = (path: string): boolean => project === run.projects[0] || !isRowFile(path);
  for (const path of firstFiles.filter(isTaken)) edit(run, project, path);
}

async function runStep(run: Run, step: Step, marker: Sequence["marker"]): Promise<void> {
  const project = run.projects[step.project]!;
  if (!run.started.has(project)) start(run, project, marker);
  const paths = [
    ...("path" in step ? [step.path] : []),
    ...("upload" in step ? step.upload.selection.paths : []),
  ];
  if (step.project === 1 && paths.some(isRowFile)) return;
  if (changeFolder(run, step)) return;
  switch (step.do) {
    case "ingest":
      return await runIngest(run, project, step.upload, step.fault);
    case "kill":
      return await runKilled(run, project, step.upload, step);
    case "shards":
      return await runShards(run, project, step.upload, step);
    case "orphans":
      return await runOrphans(run, project, step);
    case "retry":
      return await runRetry(run, project, step.upload, step.fault);
    case "transfer":
      return await transferState(run, project);
    case "lose":
      return loseState(run, project);
    default:
  }
}

/**
 * Plays a sequence against a service of the dialect. Throws an error with the
 * violation and the sequence as a script.
 */
export async function playSequence(sequence: Sequence, dialect: Dialect): Promise<void> {
  const run = await openRun(sequence, dialect);
  try {
    for (const step of sequence.steps) await runStep(run, step, sequence.marker);
  } catch (error) {
    const what = error instanceof Violation ? error.message : String((error as Error).stack);
    throw new Error(`${what}\n\n${run.script.join("\n")}\n`, { cause: error });
  } finally {
    await run.close();
  }
}
