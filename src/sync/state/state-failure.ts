import { accessSync, constants } from "node:fs";
import { dirname } from "node:path";
import { isDiskFailure } from "../../database.ts";
import {
  CliError,
  codeOf,
  messageOf,
  openFilesHint,
  writeProblem,
  writeReason,
} from "../../errors.ts";

/** The system's reason why a file or its folder cannot be written; SQLite does not report it. */
export function writeDenialOf(path: string): string | undefined {
  for (const each of [path, dirname(path)]) {
    try {
      accessSync(each, constants.W_OK);
    } catch (error) {
      const code = codeOf(error) ?? "";
      if (["EROFS", "EACCES", "EPERM"].includes(code)) return `${each}: ${writeProblem(code)}`;
    }
  }
  return undefined;
}

/** Converts an error of the disk or of SQLite into the CliError `local` that ends the run. */
export function stateFailure(path: string, original: unknown): CliError {
  // The disk is that of the state, not of temporary files, and the state has words of its own.
  const error = isDiskFailure(original) ? original.cause : original;
  if (error instanceof CliError && error.hints.length > 0) return error;
  // An error of openDatabase() names the path already.
  const problem =
    error instanceof CliError
      ? error.message
      : `cannot use the state ${path}: ${writeReason(error)}`;
  const denial = writeDenialOf(path);
  const message = denial === undefined ? problem : `${problem} (${denial})`;
  if (/too many open files/i.test(message)) {
    return new CliError("local", message, { hints: [openFilesHint], cause: error });
  }
  const isLocked = /SQLITE_BUSY|database is locked/.test(`${codeOf(error)} ${messageOf(error)}`);
  return new CliError("local", message, {
    hints: [
      isLocked
        ? "another run has held the write lock for 10 s; wait for that run, or check whether it hangs"
        : "check the disk, or name another folder with --state; an upload also runs with --no-state",
    ],
    cause: error,
  });
}
