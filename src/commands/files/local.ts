import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { basename, resolve } from "node:path";
import {
  isPointer,
  mostPointerBytes,
  pointerHint,
  pointerProblem,
} from "../../documents/read/bytes/lfs.ts";
import { CliError, codeOf, fileProblem } from "../../errors.ts";
import { contentTypeOf } from "./content-type.ts";

/** A checked file to upload, not read yet. */
export interface LocalFile {
  path: string;
  name: string;
  sizeBytes: number;
  /** Its modification time at the check, in ms. */
  changedMs: number;
  /** MIME type. */
  type: string;
}

function inspectFile(path: string): LocalFile | string {
  const stats = statSync(path);
  if (!stats.isFile()) return stats.isDirectory() ? "it is a folder" : "it is not a regular file";
  if (stats.size === 0) return "it is empty";
  accessSync(path, constants.R_OK);
  if (stats.size <= mostPointerBytes && isPointer(readFileSync(path))) {
    return `${pointerProblem}; ${pointerHint}`;
  }
  return {
    path,
    name: basename(path),
    sizeBytes: stats.size,
    changedMs: stats.mtimeMs,
    type: contentTypeOf(path),
  };
}

/**
 * Checks files before anything is sent. A file that is listed twice counts once. Messages
 * begin with `flag`. Throws CliError `usage`.
 */
export function checkFiles(cwd: string, paths: readonly string[], flag = "--file"): LocalFile[] {
  const files = new Map<string, LocalFile>();
  for (const given of paths) {
    const path = resolve(cwd, given);
    let found: LocalFile | string;
    try {
      found = inspectFile(path);
    } catch (error) {
      found = fileProblem(codeOf(error));
    }
    if (typeof found === "string") {
      throw new CliError("usage", `${flag}: cannot read ${given}: ${found}`, {
        hints: ["name a file with content that you can read"],
      });
    }
    files.set(path, found);
  }
  return [...files.values()];
}

function changed({ name }: LocalFile): CliError {
  return new CliError("local", `${name} changed while it was uploaded`, {
    hints: ["run the command again when no program writes to the file"],
  });
}

/**
 * Streams the bytes of a checked file; calls `onBytes` for each chunk. Throws CliError
 * `local` if the file is missing, cannot be read, or has changed since the check.
 */
export async function* steadyBytes(
  file: LocalFile,
  onBytes: (count: number) => void,
): AsyncGenerator<Uint8Array> {
  const handle = await open(file.path, "r").catch((error: unknown) => {
    throw new CliError("local", `cannot read ${file.name}: ${fileProblem(codeOf(error))}`, {
      hints: ["the file existed when the command started: restore it and run the command again"],
      cause: error,
    });
  });
  try {
    const check = async (): Promise<void> => {
      const { size, mtimeMs } = await handle.stat();
      if (size !== file.sizeBytes || mtimeMs !== file.changedMs) throw changed(file);
    };
    await check();
    for await (const chunk of handle.createReadStream({ autoClose: false })) {
      const bytes = chunk as Buffer;
      yield bytes;
      onBytes(bytes.length);
    }
    await check();
  } finally {
    await handle.close();
  }
}
