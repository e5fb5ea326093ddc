import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  documentsOf,
  isBroken,
  isRowFile,
  type Expected,
  type FileState,
  type Shape,
} from "./world.ts";

/** A folder with documents. Paths are relative to it, with "/"; "" is the folder itself. */
export interface Project {
  name: string;
  /** Absolute. */
  folder: string;
  files: Map<string, FileState>;
  /** Lines of .knowctlignore, without their leading "/". */
  ignored: Set<string>;
}

/** Which files a command line names. */
export interface Selection {
  /** Working directory. */
  cwd: string;
  /** Folders, files, or globs `folder/*.md`. */
  paths: string[];
  /** Name of a file that `--exclude` leaves out. */
  exclude?: string | undefined;
  noIgnore?: boolean | undefined;
  /** `--root` with the project folder. */
  root?: boolean | undefined;
}

const isGlob = (path: string): boolean => path.includes("*");
const isFile = (path: string): boolean => /\.\w+$/.test(path) && !isGlob(path);
const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));

const isBelow = (path: string, folder: string): boolean =>
  folder === "" || path === folder || path.startsWith(`${folder}/`);

/** The path as seen from a folder above it. */
export const below = (path: string, folder: string): string =>
  folder === "" ? path : path.slice(folder.length + 1);

/** Whether every named file is there; folders always are. */
export function canSelect({ files }: Project, { paths }: Selection): boolean {
  return paths.every((path) => !isFile(path) || files.has(path));
}

function upward(folder: string): string[] {
  return folder === "" ? [""] : [folder, ...upward(parentOf(folder))];
}

/** Whether a folder has a mark; a state in which nothing is recorded is none. */
const has = ({ folder }: Project, at: string, name: string): boolean =>
  existsSync(join(folder, at, name)) && !existsSync(join(folder, at, name, "state.db-new"));

/** The root that a file or a state marks for this folder: command-line.md 4 "Project root". */
function markedRoot(project: Project, folder: string): string | undefined {
  for (const name of [".cliconfig.json", ".knowctl", ".git"]) {
    const found = upward(folder).find((at) => has(project, at, name));
    if (found !== undefined) return found;
  }
  return undefined;
}

function commonFolder(folders: readonly string[]): string {
  return upward(folders[0] ?? "").find((at) => folders.every((each) => isBelow(each, at))) ?? "";
}

/**
 * The project root of a command line; undefined where the specification refuses
 * it: paths of several roots, or a state below the root that holds files of the run.
 */
export function rootOf(project: Project, selection: Selection): string | undefined {
  const folders = selection.paths.map((path) =>
    isFile(path) || isGlob(path) ? parentOf(path) : path,
  );
  const marked = new Set(folders.map((folder) => markedRoot(project, folder)));
  if (!selection.root && marked.size > 1) return undefined;
  const [first] = marked;
  const { cwd } = selection;
  const unmarked = folders.every((folder) => isBelow(folder, cwd)) ? cwd : commonFolder(folders);
  const root = selection.root ? "" : (first ?? unmarked);
  const nested = filesIn(project, selection).some((path) =>
    upward(parentOf(path)).some(
      (at) =>
        at !== root &&
        isBelow(at, root) &&
        [".knowctl", ".cliconfig.json"].some((name) => has(project, at, name)),
    ),
  );
  return nested ? undefined : root;
}

function isMatched(path: string, input: string): boolean {
  if (path === input) return true;
  if (isFile(input)) return false;
  if (!isGlob(input)) return isBelow(path, input) && !isRowFile(path);
  return parentOf(path) === parentOf(input) && path.endsWith(input.slice(input.indexOf("*") + 1));
}

/** Whether a path lies within the inputs, whatever is there. */
export function isInScope(path: string, { paths, exclude }: Selection): boolean {
  if (exclude !== undefined && path.endsWith(exclude)) return false;
  return paths.some((input) =>
    isFile(input) || isGlob(input) ? isMatched(path, input) : isBelow(path, input),
  );
}

/** The files that a command line takes. */
export function filesIn(project: Project, selection: Selection): string[] {
  const { paths, exclude, noIgnore } = selection;
  return [...project.files.keys()].filter((path) => {
    if (exclude !== undefined && path.endsWith(exclude)) return false;
    if (paths.includes(path)) return true;
    if (!noIgnore && project.ignored.has(path)) return false;
    return paths.some((input) => isMatched(path, input));
  });
}

/** What the files of a command line come to. */
export interface Yield {
  documents: Expected[];
  broken: string[];
  fileCount: number;
  /** Two files with one id. */
  collides: boolean;
}

export function yieldOf(
  project: Project,
  root: string,
  paths: readonly string[],
  shapeOf: (path: string) => Shape,
): Yield {
  const documents: Expected[] = [];
  const broken: string[] = [];
  for (const path of paths) {
    const file = project.files.get(path)!;
    if (isBroken(path, file)) broken.push(path);
    documents.push(...documentsOf(path, below(path, root), file, shapeOf(path)));
  }
  const ids = new Set(documents.map(({ id }) => id));
  const collides = ids.size < documents.length;
  return { documents, broken, fileCount: paths.length, collides };
}
