import { randomBytes } from "node:crypto";
import { statSync, type Stats } from "node:fs";
import { open, rename, rm, stat, type FileHandle } from "node:fs/promises";
import { basename, dirname, extname, join, resolve } from "node:path";
import { CliError, codeOf, writeProblem } from "../../errors.ts";
import { makeFolder } from "../../make-folder.ts";
import { redactAll } from "../terminal/redact.ts";
import type { ReportFailure, ReportHead } from "./record.ts";

type Renderer = (head: ReportHead, failures: Iterable<ReportFailure>) => Iterable<string>;

/** Renderer of a report by its file extension. A new format is an entry here. */
const formats = {
  ".json": async (): Promise<Renderer> => (await import("./json.ts")).jsonReport,
  ".xml": async (): Promise<Renderer> => (await import("./junit.ts")).junitReport,
  ".html": async (): Promise<Renderer> => (await import("./html/html.ts")).htmlReport,
} as const;
export type ReportFormat = keyof typeof formats;

/** Format of a report by its file extension. Throws CliError `usage` for an unknown extension. */
export function reportFormatOf(path: string): ReportFormat {
  const extension = extname(path).toLowerCase();
  if (Object.hasOwn(formats, extension)) return extension as ReportFormat;
  throw new CliError("usage", `--report ${path}: unsupported report format`, {
    hints: ["use a file name that ends in .json, .xml (JUnit) or .html"],
  });
}

/** redactAll() for a sequence of values. */
export function* redactEach<Value>(
  values: Iterable<Value>,
  redact: (text: string) => string,
): Generator<Value> {
  for (const value of values) yield redactAll(value, redact);
}

const bufferLength = 256 * 1024;

async function writePieces(file: FileHandle, pieces: Iterable<string>): Promise<void> {
  let buffered: string[] = [];
  let length = 0;
  for (const piece of pieces) {
    buffered.push(piece);
    length += piece.length;
    if (length < bufferLength) continue;
    await file.appendFile(buffered.join(""));
    [buffered, length] = [[], 0];
  }
  await file.appendFile(buffered.join(""));
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

async function writeStream(path: string, pieces: Iterable<string>): Promise<void> {
  // Appended: the file behind /dev/stdout may have a beginning.
  const file = await open(path, "a");
  try {
    await writePieces(file, pieces);
  } finally {
    await file.close();
  }
}

/**
 * Writes a file piece by piece; a reader sees either the old or the complete new file.
 * The pieces go to a temporary file beside it (O_EXCL, mode 0644), which is synced and
 * renamed. A link to a file is replaced, not followed: a checkout may be hostile. Creates missing
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
  // Cut: the longest name that the file system takes must leave room for the rest.
  const name = `${basename(path).slice(0, 50)}.tmp-${randomBytes(6).toString("hex")}`;
  const temporary = join(dirname(path), name);
  try {
    if (await isStream(path)) return await writeStream(path, pieces);
    makeFolder(dirname(path));
    const file = await open(temporary, "wx", 0o644);
    try {
      await writePieces(file, pieces);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    // The source of the pieces may throw too; that is not an error of this file.
    if (error instanceof CliError || codeOf(error) === undefined) throw error;
    throw new CliError("local", `cannot write ${what} ${path}: ${writeProblem(codeOf(error))}`, {
      hints: ["check that the folder is writable and the disk is not full"],
      cause: error,
    });
  }
}

export interface ReportFileOptions {
  /** Replaces registered secrets in a string; `output.secrets.redact`. */
  redact: (text: string) => string;
}

/**
 * Writes the report of a run in the format of the extension of `path`, reading the
 * failures one by one. Throws CliError `usage` for an unknown extension (see
 * reportFormatOf), `local` when the file cannot be written.
 */
export async function writeReport(
  path: string,
  head: ReportHead,
  failures: Iterable<ReportFailure>,
  { redact }: ReportFileOptions,
): Promise<void> {
  const render = await formats[reportFormatOf(path)]();
  await writeFilePieces(path, render(redactAll(head, redact), redactEach(failures, redact)));
}
