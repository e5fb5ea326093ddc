import type { Found, Listed } from "../files/source-file.ts";
import { absoluteOf } from "../files/absolute.ts";
import { jobsOf, type FindOptions } from "./scope.ts";
import { statFile } from "../files/stat-file.ts";
import { walkFolders } from "./search.ts";

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
