import { closeSync, openSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Context } from "../../context.ts";
import { CliError, codeOf, writeProblem } from "../../errors.ts";
import type { Output } from "../../output/terminal/output.ts";
import { entryLine, headLine, type RecordedEntry } from "../../recording.ts";
import { statsOf } from "../stats-of.ts";
import type { Question } from "./send.ts";
import type { AnswerSink } from "./turn.ts";

const onlyOwner = 0o600;

/** Opens the file of `--record`, which may not exist yet. Throws CliError `usage`. */
function open(path: string, given: string, force: boolean): number {
  const known = statsOf(path);
  // A device or pipe is written to, never replaced.
  const replaces = force || (known !== undefined && !known.isFile());
  try {
    return openSync(path, replaces ? "w" : "wx", onlyOwner);
  } catch (error) {
    if (codeOf(error) === "EEXIST") {
      throw new CliError("usage", `--record: ${given} exists`, {
        hints: ["name another file, or replace it with --force"],
      });
    }
    throw new CliError("usage", `--record: cannot write ${given}: ${writeProblem(codeOf(error))}`, {
      hints: ["name a new file in a folder that you can write"],
      cause: error,
    });
  }
}

/**
 * Records an answer while it arrives (recording.ts): each chunk is in the file before it is
 * drawn. A disk failure ends the recording, not the answer. Throws CliError `usage` for a file
 * that exists (unless `force`) or cannot be created.
 */
export function createRecorder(
  context: Context,
  output: Output,
  { parameters, whole }: Pick<Question, "parameters" | "whole">,
  { record, force }: { record: string; force: boolean },
): AnswerSink {
  const path = resolve(context.cwd, record);
  const file = open(path, record, force);
  const startedAt = context.elapsed();
  let failure: CliError | undefined;
  const append = (text: string): void => {
    if (failure) return;
    try {
      writeFileSync(file, output.secrets.redact(text));
    } catch (error) {
      failure = new CliError("local", `cannot record in ${path}: ${writeProblem(codeOf(error))}`, {
        hints: ["the recording holds the part before the failure"],
        cause: error,
      });
    }
  };
  append(headLine(new Date(context.now()), parameters.message));
  const atMs = (): number => context.elapsed() - startedAt;
  return {
    write(lines) {
      const at = atMs();
      const entries = lines.map(({ raw, kind }): RecordedEntry => {
        const isReply = whole && kind === "reply";
        return isReply ? { atMs: at, reply: raw } : { atMs: at, line: raw };
      });
      append(entries.map(entryLine).join(""));
    },
    close(_turn, status, problem) {
      const exit = problem instanceof CliError ? problem.exit : null;
      append(entryLine({ atMs: atMs(), end: status, exit }));
      closeSync(file);
      return failure;
    },
  };
}
