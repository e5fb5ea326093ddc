import { lstatSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { CliError } from "../../errors.ts";
import type { Job, RefuseFolder } from "./folder.ts";
import {
  checkPattern,
  cleanPattern,
  compilePattern,
  isGlob,
  splitGlob,
} from "../files/patterns.ts";
import { noSuchPath, realPath, relativeTo, withSlashes } from "../files/root.ts";
import type { DocumentSettings } from "../map/settings.ts";
import { comparePaths, normalise } from "../files/source-file.ts";

export interface FindOptions {
  /** Absolute; paths and globs of the command line are relative to it. */
  cwd: string;
  settings: DocumentSettings;
  /** Accept inputs that do not exist: records of their files may remain. */
  mayBeRemoved?: boolean | undefined;
  /** Used only to list files: refuses a folder below the root that belongs to another root. */
  refuseFolder?: RefuseFolder | undefined;
}

function relativeOrRefuse(absolute: string, input: string, root: string): string {
  const relative = relativeTo(root, absolute);
  if (relative !== undefined) return normalise(relative);
  throw new CliError("usage", `${input} lies outside the project root ${root}`, {
    hints: ["name the root of all inputs with --root"],
  });
}

/** The job of an existing path; a link stands for its target. */
function pathJob(input: string, path: string, root: string): Job | undefined {
  const target = realPath(path);
  if (target === undefined) return undefined;
  // On a case-insensitive file system, the real path also has the true case of the name.
  const base = relativeOrRefuse(target, input, root);
  return { kind: lstatSync(target).isDirectory() ? "folder" : "file", base, hidden: false };
}

function globJobs(input: string, glob: string, from: string, settings: DocumentSettings): Job[] {
  checkPattern(glob, "path");
  return splitGlob(glob).flatMap(({ base, pattern }): Job[] => {
    const folder = realPath(resolve(from, base));
    if (folder === undefined) return [];
    return [
      {
        kind: "folder",
        base: relativeOrRefuse(folder, input, settings.root),
        matches: compilePattern(pattern, !settings.useIgnoreFiles),
        hidden: /(^|\/)\./.test(pattern),
      },
    ];
  });
}

/**
 * The root-relative path of an input that does not exist; undefined for a glob or an existing path.
 * Links above it are resolved. Throws CliError `usage` for a path outside the root.
 */
export function removedPath(input: string, { cwd, settings }: FindOptions): string | undefined {
  const path = resolve(cwd, input);
  let real = realPath(path);
  if (real !== undefined || isGlob(withSlashes(input))) return undefined;
  let folder = path;
  const below: string[] = [];
  while (real === undefined && dirname(folder) !== folder) {
    below.unshift(basename(folder));
    folder = dirname(folder);
    real = realPath(folder);
  }
  return relativeOrRefuse(join(real ?? folder, ...below), input, settings.root);
}

/** The jobs of a removed path: it was a file or a folder. */
function removedJobs(input: string, options: FindOptions): Job[] {
  const base = removedPath(input, options);
  if (base === undefined) return [];
  return (["folder", "file"] as const).map((kind) => ({ kind, base, hidden: false }));
}

function inputJobs(input: string, options: FindOptions): Job[] {
  const { cwd, settings } = options;
  if (input === "") throw new CliError("usage", "an empty path is not allowed");
  if (input.includes("\0")) throw new CliError("usage", "a path contains a NUL character");
  const named = pathJob(input, resolve(cwd, input), settings.root);
  if (named) return [named];
  const glob = withSlashes(input);
  if (isGlob(glob)) return globJobs(input, glob, cwd, settings);
  if (options.mayBeRemoved) return removedJobs(input, options);
  throw noSuchPath(input, cwd);
}

/**
 * The jobs of the configured patterns. They are relative to the root. A bare name matches at any
 * depth unless it starts with `./`. A missing path is no error.
 */
function includeJobs(settings: DocumentSettings): Job[] {
  return settings.include.flatMap((configured) => {
    const pattern = cleanPattern(configured, "include");
    if (!isGlob(pattern)) {
      const named = pathJob(configured, resolve(settings.root, pattern), settings.root);
      if (named) return [named];
    }
    const isAnchored = configured.startsWith("./") || pattern.includes("/") || pattern === "**";
    const glob = isAnchored ? pattern : `**/${pattern}`;
    return globJobs(configured, glob, settings.root, settings);
  });
}

/**
 * Turns the inputs into jobs of a walk. Without inputs: the configured `include`, else the whole
 * root. Throws CliError `usage` for an input that does not exist or lies outside the root.
 */
export function jobsOf(inputs: readonly string[], options: FindOptions): Job[] {
  if (inputs.length > 0) return inputs.flatMap((input) => inputJobs(input, options));
  if (options.settings.include.length > 0) return includeJobs(options.settings);
  return [{ kind: "folder", base: "", hidden: false }];
}

function isInFolder(path: string, { base, matches }: Job): boolean {
  // A folder that cannot be read is reported under its own path.
  if (path === base) return !matches;
  if (base !== "" && !path.startsWith(`${base}/`)) return false;
  return !matches || matches(base === "" ? path : path.slice(base.length + 1));
}

/**
 * Returns a function that checks whether the inputs and filters include a root-relative path. The
 * file itself need not exist. Throws the same errors as findFiles().
 */
export function scopeOf(
  inputs: readonly string[],
  options: FindOptions,
): (path: string) => boolean {
  const { only, exclude } = options.settings;
  const jobs = jobsOf(inputs, options);
  // A retry may name a hundred thousand files.
  const files = new Set(jobs.filter(({ kind }) => kind === "file").map(({ base }) => base));
  const folders = jobs.filter(({ kind }) => kind === "folder");
  return (path) =>
    (files.has(path) || folders.some((job) => isInFolder(path, job))) &&
    (!only || only.matches(path)) &&
    exclude?.matches(path) !== true;
}

/**
 * The inputs that include none of the paths, which the filters are known to let pass. It reads the
 * paths once, however many inputs there are. Throws the same errors as findFiles().
 */
export function inputsWithout(
  inputs: readonly string[],
  options: FindOptions,
  paths: Iterable<string>,
): string[] {
  const files = new Set(paths);
  const folders = new Set([""]);
  for (const path of files) {
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
      const folder = path.slice(0, at);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  const hasPath = (job: Job): boolean => {
    if (job.matches) return [...files].some((path) => isInFolder(path, job));
    return files.has(job.base) || (job.kind === "folder" && folders.has(job.base));
  };
  return inputs.filter((input) => !jobsOf([input], options).some(hasPath));
}

/** Paths from `from` to `to`, both included, in order of code points. */
export interface PathRange {
  from: string;
  to: string;
}

const lastCharacter = "\u{10ffff}";

/**
 * Path ranges that contain all files of the inputs, sorted and without overlap. Throws the same
 * errors as findFiles().
 */
export function rangesOf(inputs: readonly string[], options: FindOptions): PathRange[] {
  const all = jobsOf(inputs, options).map(({ kind, base }): PathRange => {
    if (kind === "file") return { from: base, to: base };
    const from = base === "" ? "" : `${base}/`;
    return { from, to: from + lastCharacter };
  });
  const ranges: PathRange[] = [];
  for (const each of all.toSorted((a, b) => comparePaths(a.from, b.from))) {
    const last = ranges.at(-1);
    if (!last || comparePaths(each.from, last.to) > 0) ranges.push(each);
  }
  return ranges;
}
