import {
  type LeftOut,
  type Listed,
  type Found,
  absoluteOf,
  statFile,
} from "../files/source-file.ts";
import {
  createDirectReach,
  rootFolder,
  type DirectReach,
  type Folder,
  type Job,
  type RefuseFolder,
} from "./folder.ts";
import { createLinks } from "./links.ts";
import { ignoreRulesAbove } from "../files/ignore-rules.ts";
import type { DocumentSettings } from "../map/settings.ts";
import { walkFrom, type Walk } from "./walk.ts";
import { jobsOf, type FindOptions } from "./scope.ts";

/** Creates the root folder of a walk and the check for files reached without a link. */
export function openWalk(
  inputs: readonly Job[],
  settings: DocumentSettings,
): { root: Folder; direct: DirectReach; problems: LeftOut[] } {
  const problems: LeftOut[] = [];
  const above = settings.useIgnoreFiles
    ? ignoreRulesAbove(settings.root, ({ name, reason }) => {
        problems.push({ kind: "failed", path: `../${name}`, reason });
      })
    : undefined;
  const root = rootFolder(settings, inputs, above);
  return { root, direct: createDirectReach(root, settings), problems };
}

/**
 * Walks from the root to the inputs and through them, so that the paths are in code-point order.
 * Then walks the link targets that no input reaches, as if an input named them, and the targets of
 * links found there. Synchronous: one promise per file would cost more than the file system.
 * Memory: one entry for each file that only a link reaches.
 */
function* walkFolders(
  jobs: readonly Job[],
  settings: DocumentSettings,
  refuseFolder?: RefuseFolder,
): Generator<Listed> {
  const { root, direct, problems } = openWalk(jobs, settings);
  const links = createLinks(settings, direct);
  const listed = new Set<string>();
  const list = (found: Listed): Listed => {
    if (found.kind === "failed") listed.add(found.path);
    return found;
  };
  for (const problem of problems) yield list(problem);
  const first: Walk = { settings, links, refuseFolder, isListed: undefined };
  for (const found of walkFrom(root, first)) yield list(found);
  const isListed = ({ path }: Listed): boolean => {
    if (listed.has(path) || direct.file(path)) return true;
    listed.add(path);
    return false;
  };
  const later: Walk = { settings: links.settings, links, refuseFolder, isListed };
  for (let targets = links.takeTargets(); targets.length > 0; targets = links.takeTargets()) {
    const start = rootFolder(settings, targets, root.rules);
    for (const found of walkFrom(start, later)) {
      yield found.kind === "file" ? { ...found, links: links.linksTo(found.path) } : found;
    }
  }
}

/**
 * Lists the files of the inputs: paths or globs relative to `cwd`. Without inputs it lists the
 * configured `include`, else the whole root. Yields each real file once, under its real path, in
 * path order (code points, as SQLite orders text). Also yields skipped and unreadable paths with
 * the reason. Files that only symbolic links reach (`links`) follow all other files. Hidden,
 * ignored and excluded files are silently skipped, unless an input names them. Throws CliError
 * `usage` at once for an input that does not exist or lies outside the root. Throws the error of
 * `refuseFolder` on reaching a file of that folder. Synchronous. An input without files is no
 * error here: the caller checks for it.
 */
export function listFiles(
  inputs: readonly string[],
  options: FindOptions,
): Generator<Listed, void, undefined> {
  return walkFolders(jobsOf(inputs, options), options.settings, options.refuseFolder);
}

/** Like listFiles(), with size, times and stamp of each file. */
export function* findFiles(
  inputs: readonly string[],
  options: FindOptions,
): Generator<Found, void, undefined> {
  for (const each of listFiles(inputs, options)) {
    if (each.kind === "file") {
      const { path, absolutePath = absoluteOf(options.settings.root, path) } = each;
      yield statFile(path, absolutePath);
    } else yield each;
  }
}
