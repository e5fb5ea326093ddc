import { statSync, type Stats } from "node:fs";
import { open, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { CliError, codeOf, writeProblem } from "../../errors.ts";
import { makeFolder } from "../../make-folder.ts";
import { replaceFile } from "../../replace-file.ts";
import { redactAll } from "../terminal/redact.ts";

/** redactAll() for a sequence of values. */
export function* redactEach<Value>(
  values: Iterable<Value>,
  redact: (text: string) => string,
): Generator<Value> {
  for (const value of values) yield redactAll(value, redact);
}

// `>(command)` of a shell is such a path.
const openDescriptor = /^\/(?:dev\/(?:fd\/|std(?:in|out|err)$)|proc\/)/;

/** Whether a path is a stream, for example a FIFO: it is written to, not replaced. */
async function isStream(path: string): Promise<boolean> {
  if (openDescriptor.test(resolve(path))) return true;
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && (found.isFIFO() || found.isCharacterDevice());
}

/**
 * Why a path can name no output file; undefined if it can. A pipe and a character device are written
 * to. Another kind of file, such as a socket, would be replaced.
 */
function outputObstacle(path: string): string | undefined {
  let found: Stats | undefined;
  try {
    found = statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    // Of anything else the write says why.
    const code = codeOf(error);
    return code === "ENAMETOOLONG" ? writeProblem(code) : undefined;
  }
  if (!found || found.isFile() || found.isFIFO() || found.isCharacterDevice()) return undefined;
  return found.isDirectory() ? "it is a folder" : "it is not a regular file";
}

/** Refuses a path that can name no output file, before anything is done. Throws CliError `usage`. */
export function checkOutputPath(label: string, given: string, cwd: string): void {
  const obstacle = outputObstacle(resolve(cwd, given));
  if (obstacle === undefined) return;
  throw new CliError("usage", `${label} ${given}: ${obstacle}`, { hints: ["name another file"] });
}

/**
 * Writes a file piece by piece with replaceFile(), mode 0644; a pipe is written to. Creates missing
 * folders. Throws CliError `local` that names `path` and `what` the file contains.
 */
export async function writeFilePieces(
  path: string,
  pieces: Iterable<string>,
  what = "the report",
): Promise<void> {
  const obstacle = outputObstacle(path);
  if (obstacle !== undefined) {
    throw new CliError("local", `cannot write ${what} ${path}: ${obstacle}`, {
      hints: ["name another file"],
    });
  }
  try {
    if (await isStream(path)) {
      // Appended: the file behind /dev/stdout may have a beginning. Opened once: a reader of a FIFO
      // takes its end for the end of the report.
      const file = await open(path, "a");
      try {
        for (const piece of pieces) await file.appendFile(piece);
      } finally {
        await file.close();
      }
      return;
    }
    makeFolder(dirname(path));
    replaceFile(path, pieces);
  } catch (error) {
    // The source of the pieces may throw too; that is not an error of this file.
    if (error instanceof CliError || codeOf(error) === undefined) throw error;
    throw new CliError("local", `cannot write ${what} ${path}: ${writeProblem(codeOf(error))}`, {
      hints: ["check that the folder is writable and the disk is not full"],
      cause: error,
    });
  }
}
