import { randomBytes } from "node:crypto";
import { open, rename, rm, type FileHandle } from "node:fs/promises";
import { dirname, extname } from "node:path";
import { CliError, codeOf } from "../../errors.ts";
import { makeFolder } from "../../make-folder.ts";
import { redactAll } from "../terminal/redact.ts";
import type { ReportFailure, ReportHead } from "./record.ts";

type Renderer = (head: ReportHead, failures: Iterable<ReportFailure>) => Iterable<string>;

/** Extension of a report file, and what writes it. A new form is an entry here. */
const forms = {
  ".json": async (): Promise<Renderer> => (await import("./json.ts")).jsonReport,
  ".xml": async (): Promise<Renderer> => (await import("./junit.ts")).junitReport,
  ".html": async (): Promise<Renderer> => (await import("./html/html.ts")).htmlReport,
} as const;
export type ReportForm = keyof typeof forms;

/** Form of a report by the extension of its file. Throws CliError `usage` for any other. */
export function reportFormatOf(path: string): ReportForm {
  const extension = extname(path).toLowerCase();
  if (Object.hasOwn(forms, extension)) return extension as ReportForm;
  throw new CliError("usage", `--report ${path}: no such kind of report`, {
    hints: ["end the name in .json, .xml (JUnit) or .html"],
  });
}

/** redactAll() for values that come one by one. */
export function* redactEach<Value>(
  values: Iterable<Value>,
  redact: (text: string) => string,
): Generator<Value> {
  for (const value of values) yield redactAll(value, redact);
}

const pieceLength = 256 * 1024;

async function writePieces(file: FileHandle, pieces: Iterable<string>): Promise<void> {
  let held: string[] = [];
  let length = 0;
  for (const piece of pieces) {
    held.push(piece);
    length += piece.length;
    if (length < pieceLength) continue;
    await file.appendFile(held.join(""));
    [held, length] = [[], 0];
  }
  await file.appendFile(held.join(""));
}

/**
 * Writes a file piece by piece so that a reader sees the old one or the whole new
 * one: a new file beside it, made for this (O_EXCL), mode 0644, flushed, renamed
 * over it. Folders that are missing are made. Throws CliError `local` that names `path` and
 * `what` it should have been.
 */
export async function writeFilePieces(
  path: string,
  pieces: Iterable<string>,
  what = "the report",
): Promise<void> {
  const temporary = `${path}.tmp-${randomBytes(6).toString("hex")}`;
  try {
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
    // What the failures come from may fail too; that is not the file's fault.
    if (error instanceof CliError || codeOf(error) === undefined) throw error;
    throw new CliError("local", `cannot write ${what} ${path}: ${codeOf(error)}`, {
      hints: ["check that the folder may be written and that the disk is not full"],
      cause: error,
    });
  }
}

export interface ReportFileOptions {
  /** Takes the registered secrets out of a string; `output.secrets.redact`. */
  redact: (text: string) => string;
}

/**
 * Writes the report of a run in the form that the extension of `path` names. The
 * failures are taken one by one. Throws CliError `usage` for an unknown extension
 * (see reportFormatOf), `local` when the file cannot be written.
 */
export async function writeReport(
  path: string,
  head: ReportHead,
  failures: Iterable<ReportFailure>,
  { redact }: ReportFileOptions,
): Promise<void> {
  const render = await forms[reportFormatOf(path)]();
  await writeFilePieces(path, render(redactAll(head, redact), redactEach(failures, redact)));
}
