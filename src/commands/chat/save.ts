import { statSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { writeWhole } from "../../config/file/files.ts";
import type { Context } from "../../context.ts";
import { CliError, codeOf } from "../../errors.ts";
import { readerText } from "../../output/chat/made.ts";
import type { Output } from "../../output/terminal/output.ts";
import type { Keeper } from "./turn.ts";

/** The file of `--save`, checked before anything is sent. Throws CliError `usage`. */
export function saveTarget(context: Context, save: string): string {
  const path = resolve(context.cwd, save);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    throw new CliError("usage", `--save: ${save} is a folder`, { hints: ["name a file"] });
  }
  if (!statSync(resolve(path, ".."), { throwIfNoEntry: false })?.isDirectory()) {
    throw new CliError("usage", `--save: the folder of ${save} does not exist`);
  }
  return path;
}

function isFileOrNew(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() !== false;
}

function write(path: string, answer: string): void {
  const text = answer.endsWith("\n") ? answer : `${answer}\n`;
  // A device or pipe is written to, never replaced by a file.
  if (isFileOrNew(path)) return writeWhole(path, text, { keepMode: true });
  try {
    writeFileSync(path, text);
  } catch (error) {
    throw new CliError("local", `cannot write ${path}: ${codeOf(error) ?? "unknown failure"}`);
  }
}

/**
 * Writes the final answer to a file, which is replaced as a whole; of an answer without
 * text the addresses of what was made (`fileUrl` completes those of the service). What came of
 * an answer that did not end well goes to `PATH.partial`: the file keeps what it
 * has, and nothing is lost.
 */
export function createSaver(
  path: string,
  output: Output,
  fileUrl?: (path: string) => string,
): Keeper {
  let isPartial = false;
  return {
    take() {},
    close(turn, status) {
      const answer = output.secrets.redact(readerText(turn, fileUrl));
      try {
        if (status === "ok") write(path, answer);
        else if (answer.trim() !== "" && isFileOrNew(path)) {
          write(`${path}.partial`, answer);
          isPartial = true;
        }
      } catch (error) {
        if (error instanceof CliError) return error;
        throw error;
      }
      return undefined;
    },
    async tell() {
      if (!isPartial) return;
      await output.warn(`what came of the answer is in ${path}.partial`).catch(() => {});
    },
  };
}
