import type { Found, Listed } from "./source-file.ts";
import { absoluteOf } from "../inspect/recorded.ts";
import { jobsOf, type FindOptions } from "./scope.ts";
import { statFile } from "./stat-file.ts";
import { walkFolders } from "./search.ts";

/**
 * Lists the files of the inputs: paths or globs relative to `cwd`; none stands
 * for the configured `include`, else for the whole root. Yields each real file
 * once, under its real path, ordered by path (code points, as SQLite orders text), and what was
 * skipped or could not be read with the reason; files that only symbolic links lead to (`links`)
 * come after all others; hidden, ignored and excluded files are left out without a word,
 * unless named. Throws CliError `usage` for an input that does not exist or
 * lies outside the root, at once, and what `refuseFolder` returned when it comes to a
 * file of such a folder. Synchronous; an input that
 * yields nothing is for the caller to notice.
 */
export function listFiles(
  inputs: readonly string[],
  options: FindOptions,
): Generator<Listed, void, undefined> {
  return walkFolders(jobsOf(inputs, options), options.settings, options.refuseFolder);
}

/** As listFiles(), with size, times and stamp of each file. */
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
