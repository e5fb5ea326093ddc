import { lstatSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { CliError } from "../errors.ts";
import { checkPattern, cleanPattern, compilePattern, isGlob, splitGlob } from "./patterns.ts";
import { realPath, relativeTo, withSlashes } from "./root.ts";
import type { Job } from "./scope.ts";
import type { DocumentSettings } from "./settings.ts";
import { normalise } from "./stamp.ts";
import { walkFolders } from "./walk.ts";

/** One local file that may become a document. */
export interface SourceFile {
  /** Relative to the project root, "/", NFC. */
  path: string;
  /** Where the bytes are: for a symbolic link, what it points to. */
  absolutePath: string;
  sizeBytes: number;
  /** `size:mtimeNs:ctimeNs:inode`: the same stamp means the same content, as in git's index. */
  stamp: string;
  mtimeMs: number;
}

/** What the search yields, ordered by path (code units). */
export type Found =
  | { kind: "file"; file: SourceFile }
  | { kind: "skipped"; path: string; reason: string }
  | { kind: "failed"; path: string; reason: string };

export interface FindOptions {
  /** Absolute; paths and globs of the command line are relative to it. */
  cwd: string;
  settings: DocumentSettings;
}

function relativeOrRefuse(absolute: string, input: string, root: string): string {
  const relative = relativeTo(root, absolute);
  if (relative !== undefined) return normalise(relative);
  throw new CliError("usage", `${input} lies outside the project root ${root}`, {
    hints: ["name the root of all inputs with --root"],
  });
}

/** The job of a path that exists. A link keeps its own name; the folder it is in is resolved. */
function pathJob(input: string, path: string, root: string): Job | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return undefined;
  const target = realPath(path);
  if (target === undefined) return undefined;
  // The real path also brings the true case of the name where case does not matter.
  const base = relativeOrRefuse(target, input, root);
  if (lstatSync(target).isDirectory()) return { kind: "folder", base, hidden: false };
  if (!stats.isSymbolicLink()) return { kind: "file", base, hidden: false };
  const named = join(realpathSync.native(dirname(path)), basename(path));
  return { kind: "file", base: relativeOrRefuse(named, input, root), hidden: false };
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

function inputJobs(input: string, { cwd, settings }: FindOptions): Job[] {
  if (input === "") throw new CliError("usage", "an empty path names nothing");
  const named = pathJob(input, resolve(cwd, input), settings.root);
  if (named) return [named];
  const glob = withSlashes(input);
  if (isGlob(glob)) return globJobs(input, glob, cwd, settings);
  throw new CliError("usage", `no such file or folder: ${input}`, {
    hints: [`paths are taken relative to ${cwd}`],
  });
}

/** Configured patterns: relative to the root, a bare name at any depth, what is missing is no error. */
function includeJobs(settings: DocumentSettings): Job[] {
  return settings.include.flatMap((given) => {
    const pattern = cleanPattern(given, "include");
    if (!isGlob(pattern)) {
      const named = pathJob(given, resolve(settings.root, pattern), settings.root);
      if (named) return [named];
    }
    const glob = pattern.includes("/") || pattern === "**" ? pattern : `**/${pattern}`;
    return globJobs(given, glob, settings.root, settings);
  });
}

/**
 * Finds the files of the inputs: paths or globs relative to `cwd`; none stands
 * for the configured `include`, else for the whole root. Yields each real file
 * once, ordered by path, and what was skipped or could not be read with the
 * reason; hidden, ignored and excluded files are left out without a word,
 * unless named. Throws CliError `usage` for an input that does not exist or
 * lies outside the root, before the first yield. Synchronous; `for await` works
 * too. An input that yields nothing is for the caller to notice.
 */
export function* findFiles(
  inputs: readonly string[],
  options: FindOptions,
): Generator<Found, void, undefined> {
  const { settings } = options;
  const whole: Job[] = [{ kind: "folder", base: "", hidden: false }];
  if (inputs.length > 0) {
    yield* walkFolders(
      inputs.flatMap((input) => inputJobs(input, options)),
      settings,
    );
  } else {
    yield* walkFolders(settings.include.length > 0 ? includeJobs(settings) : whole, settings);
  }
}
