import { join } from "node:path";
import {
  canSelect,
  filesIn,
  rootOf,
  yieldOf,
  type Project,
  type Selection,
  type Yield,
} from "./project.ts";
import { stateOf, typed, type Run } from "./run.ts";
import { recordedPairs, type StateModel } from "./state.ts";
import type { Upload } from "./steps.ts";
import { shapeWords, type Shape } from "./world.ts";

/** What a command line must come to, by the specification. */
export interface Plan {
  project: Project;
  selection: Selection;
  /** The options of the command line. */
  shape: Shape;
  /** The options of a file: of a retry those it failed with. */
  shapeOf(path: string): Shape;
  /** Relative to the project; undefined where the command must be refused. */
  root: string | undefined;
  /** The pair of the command line. */
  named: number | undefined;
  /** Undefined where none is given and not exactly one is recorded. */
  pair: number | undefined;
  /** Undefined for `--no-state` and where there is no root. */
  state: StateModel | undefined;
  files: string[];
  yield: Yield;
}

/** The second project's own pair, where the projects share their ids. */
const pairOfSecond = 4;

function shapeFor(run: Run, project: Project, shape: Shape): Shape {
  if (project === run.projects[0] || run.shared) return shape;
  // With a pair of the first project, it has ids of its own.
  return { ...shape, prefix: `second/${shape.prefix ?? ""}` };
}

function stateFolder(run: Run, { name, folder }: Project, upload: Upload, root: string): string {
  return upload.elsewhere ? join(run.home, `state-of-${name}`) : join(folder, root, ".knowctl");
}

/** The pair that the command line names: of projects that share their ids, each has its own. */
function pairFor(run: Run, project: Project, pair: number | undefined): number | undefined {
  if (pair === undefined || !run.shared || project === run.projects[0]) return pair;
  return pairOfSecond;
}

/** Undefined where the command names what is not there: that is another test's matter. */
export function planOf(run: Run, project: Project, upload: Upload): Plan | undefined {
  const { selection } = upload;
  if (!canSelect(project, selection)) return undefined;
  const shape = shapeFor(run, project, upload.shape);
  const root = rootOf(project, selection);
  const state =
    root === undefined || upload.noState
      ? undefined
      : stateOf(run, stateFolder(run, project, upload, root));
  const named = pairFor(run, project, upload.pair);
  const recorded = state ? recordedPairs(state) : [];
  const byDefault = recorded.length === 1 ? recorded[0] : undefined;
  const files = filesIn(project, selection);
  return {
    project,
    selection,
    shape,
    shapeOf: () => shape,
    root,
    named,
    pair: named ?? byDefault,
    state,
    files,
    yield: yieldOf(project, root ?? "", files, () => shape),
  };
}

/** The flags of a command line that say which project, state and target are meant. */
export function placeWords({ project, selection, named }: Plan, upload: Upload): string[] {
  const state = `${typed("", selection.cwd)}/../state-of-${project.name}`;
  return [
    ...(selection.root ? ["--root", typed("", selection.cwd)] : []),
    ...(named === undefined ? [] : ["--cc-pair-id", String(named)]),
    ...(upload.noState ? ["--no-state"] : upload.elsewhere ? ["--state", state] : []),
  ];
}

/** The flags that say which files are taken, and the files. */
export function selectionWords({ selection }: Plan): string[] {
  const { cwd, paths, exclude, noIgnore } = selection;
  return [
    ...paths.map((path) => typed(path, cwd)),
    ...(exclude === undefined ? [] : ["--exclude", `**/${exclude}`]),
    ...(noIgnore ? ["--no-ignore"] : []),
  ];
}

/** The command line of an upload. */
export function uploadWords(plan: Plan, upload: Upload): string[] {
  return [
    "ingest",
    ...selectionWords(plan),
    ...shapeWords(plan.shape),
    ...placeWords(plan, upload),
    ...(upload.force ? ["--force"] : []),
    ...(upload.checksum ? ["--checksum"] : []),
    ...(upload.overwrite ? ["--overwrite"] : []),
    ...(upload.allowIdChange ? ["--allow-id-change"] : []),
  ];
}

/** The exit code of an upload where nothing goes wrong. */
export function codeOf({ root, pair, yield: found }: Plan): number {
  const { documents, fileCount, collides, broken } = found;
  if (root === undefined || fileCount === 0 || collides) return 2;
  // Without a document nobody asks where to.
  if (pair === undefined && documents.length > 0) return 2;
  return broken.length > 0 ? 10 : 0;
}
