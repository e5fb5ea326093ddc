import { accessSync, constants, lstatSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { writeWhole } from "../../config/file/files.ts";
import type { Context } from "../../context.ts";
import { CliError, codeOf, writeProblem } from "../../errors.ts";
import { readerText } from "../../output/chat/sources.ts";
import { neutralise } from "../../output/terminal/neutralise.ts";
import type { Output } from "../../output/terminal/output.ts";
import { statsOf } from "../stats-of.ts";
import type { AnswerSink } from "./turn.ts";

/**
 * A file to write, in a folder that exists. `given`: as the user named it; `what` begins the
 * message. Throws CliError `usage`.
 */
export function targetFile(path: string, given: string, what: string): string {
  if (statsOf(path)?.isDirectory()) {
    throw new CliError("usage", `${what}${given} is a folder`, { hints: ["name a file"] });
  }
  if (!statsOf(resolve(path, ".."))?.isDirectory()) {
    throw new CliError("usage", `${what}the folder of ${given} does not exist`, {
      hints: ["create the folder, or name a file in another one"],
    });
  }
  return path;
}

/** The file of `--save`, checked before anything is sent. Throws CliError `usage`. */
export function saveTarget(context: Context, save: string): string {
  const path = targetFile(resolve(context.cwd, save), save, "--save: ");
  for (const name of [save, partialOf(save)]) refuseLink(name, resolve(context.cwd, name));
  try {
    checkWritable(path);
  } catch (error) {
    throw new CliError("usage", `--save: cannot write ${save}: ${writeProblem(codeOf(error))}`, {
      hints: ["name a file in a folder that you can write"],
      cause: error,
    });
  }
  return path;
}

/** A link in a foreign folder may lead to any file of the user. Devices have links of their own. */
function refuseLink(name: string, path: string): void {
  let isLink;
  try {
    isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  } catch {
    // A name that no file can have: checkWritable says why.
    return;
  }
  if (!isLink || !isFileOrNew(path)) return;
  throw new CliError("usage", `--save: ${name} is a symbolic link, which is not followed`, {
    hints: ["name the file that it leads to, or remove the link"],
  });
}

function isFileOrNew(path: string): boolean {
  return statsOf(path)?.isFile() !== false;
}

/** Throws what the file system would say of the file only after the answer. */
function checkWritable(path: string): void {
  if (!isFileOrNew(path)) return accessSync(path, constants.W_OK);
  // A name that is too long throws.
  lstatSync(partialOf(path), { throwIfNoEntry: false });
  // The file is written under another name in this folder and then renamed.
  accessSync(dirname(path), constants.W_OK | constants.X_OK);
}

/** Where a cut answer goes. */
function partialOf(path: string): string {
  return `${path}.partial`;
}

/** Writes a text with a final newline. A device or pipe is written to, never replaced. Throws CliError `local`. */
export function writeText(path: string, text: string): void {
  const whole = text.endsWith("\n") ? text : `${text}\n`;
  if (isFileOrNew(path)) return writeWhole(path, whole, { keepMode: true });
  try {
    writeFileSync(path, whole);
  } catch (error) {
    throw new CliError("local", `cannot write ${path}: ${writeProblem(codeOf(error))}`, {
      hints: ["name another file"],
      cause: error,
    });
  }
}

/**
 * Replaces a file with the final answer. An answer without text is the addresses of its images
 * and files; `fileUrl` completes the service's addresses. A failed or cut answer goes to
 * `PATH.partial`, and the file stays unchanged.
 */
export function createSaver(
  path: string,
  output: Output,
  fileUrl?: (path: string) => string,
): AnswerSink {
  let isPartial = false;
  return {
    write() {},
    close(turn, status) {
      // The file may be shown on a terminal, or be one.
      const answer = output.secrets.redact(neutralise(readerText(turn, fileUrl)));
      try {
        if (status === "ok") writeText(path, answer);
        else if (answer.trim() !== "" && isFileOrNew(path)) {
          writeText(partialOf(path), answer);
          isPartial = true;
        }
      } catch (error) {
        if (error instanceof CliError) return error;
        throw error;
      }
      return undefined;
    },
    async report() {
      if (!isPartial) return;
      await output
        .warn(`the part of the answer that arrived is in ${partialOf(path)}`)
        .catch(() => {});
    },
  };
}
