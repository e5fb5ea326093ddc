import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { createLineSplitter, StreamTooLargeError } from "../../api/chat/lines.ts";
import type { Context } from "../../context.ts";
import { CliError, codeOf, fileProblem, messageOf } from "../../errors.ts";
import type { Incoming } from "../../sync/transfer/import.ts";
import { optionsJson, optionsKey } from "../../sync/state/options.ts";
import { checkHeader, parseTransferLine } from "../../sync/transfer/parse-transfer.ts";
import { mostTargets } from "../../sync/state/target.ts";
import type { TransferRecord } from "../../sync/transfer/transfer.ts";
import { statsOf } from "../stats-of.ts";
import { foreignOptions } from "../ingest/options/foreign-options.ts";

/** Longest allowed line, in bytes: a record contains only paths, ids and hashes. */
const longestLine = 4 * 1024 * 1024;
/** A project is uploaded a few times with different options and paths. */
const mostOptions = 10_000;

async function* readLines(context: Context, name: string): AsyncGenerator<string[]> {
  let lines: string[] = [];
  const splitter = createLineSplitter(longestLine, (line) => void lines.push(line));
  const takeLines = (): string[] => {
    const batch = lines;
    lines = [];
    return batch;
  };
  const stats = name === "-" ? undefined : statsOf(resolve(context.cwd, name));
  if (stats && !stats.isFile() && !stats.isDirectory()) {
    // A FIFO without a writer would block.
    throw new CliError("usage", `${name} is not a regular file; nothing was imported`, {
      hints: ["pipe it: knowctl state import - --yes < FILE"],
    });
  }
  const source = name === "-" ? context.stdin : createReadStream(resolve(context.cwd, name));
  for await (const chunk of source) {
    context.signal.throwIfAborted();
    splitter.push(chunk as Uint8Array);
    yield takeLines();
  }
  splitter.end();
  yield takeLines();
}

function toReadError(context: Context, label: string, error: unknown): unknown {
  if (context.signal.aborted || error instanceof CliError) return error;
  const isLong = error instanceof StreamTooLargeError;
  if (!isLong && codeOf(error) === undefined) return error;
  const why = isLong ? messageOf(error) : fileProblem(codeOf(error));
  return new CliError("usage", `${label}: cannot be read: ${why}; nothing was imported`, {
    hints: ["name files from `knowctl state export`"],
    cause: error,
  });
}

/**
 * Reads one complete exported state into `incoming`. `name` is a file, or `-` for stdin.
 * Throws CliError `usage` with file and line for an invalid or incomplete state. The caller
 * must then discard `incoming`.
 */
export async function readExport(
  context: Context,
  name: string,
  incoming: Incoming,
): Promise<void> {
  const label = name === "-" ? "stdin" : name;
  let line = 0;
  let count = 0;
  let isEnded = false;
  const keys = new Map<string, string>();
  let uploads = 0;
  const targets = new Set<string>();
  const add = (each: Exclude<TransferRecord, { type: "end" }>): void => {
    if (each.type === "options") {
      const options = foreignOptions(each.options);
      keys.set(each.key, optionsKey(optionsJson(options)));
      if (keys.size > mostOptions) throw new CliError("usage", `more than ${mostOptions} options`);
      incoming.add({ ...each, options });
    } else if (each.type === "accepted" || each.type === "failure" || each.type === "upload") {
      if (each.type === "upload" && ++uploads > mostOptions) {
        throw new CliError("usage", `more than ${mostOptions} uploads`);
      }
      targets.add(each.record.target);
      if (targets.size > mostTargets)
        throw new CliError("usage", `more than ${mostTargets} targets`);
      incoming.add({ ...each, options: keys.get(each.options ?? "") });
    } else incoming.add(each);
  };
  const addLine = (json: string): void => {
    line++;
    if (line === 1) return checkHeader(json);
    if (isEnded) throw new CliError("usage", "unexpected text after the last line");
    const each = parseTransferLine(json);
    if (each.type !== "end") {
      add(each);
      count++;
    } else if (each.records === count) isEnded = true;
    else throw new CliError("usage", `found ${count} records, expected ${each.records}`);
  };
  try {
    for await (const lines of readLines(context, name)) {
      for (const json of lines) {
        try {
          addLine(json);
        } catch (error) {
          if (!(error instanceof CliError) || error.exit !== "usage") throw error;
          throw new CliError("usage", `${label}:${line}: ${error.message}`, {
            hints: ["nothing was imported; name files from `knowctl state export`"],
          });
        }
      }
    }
  } catch (error) {
    throw toReadError(context, label, error);
  }
  if (isEnded) return;
  if (line === 0) {
    throw new CliError("usage", `${label}: the file is empty; nothing was imported`, {
      hints: ["name a file from `knowctl state export`"],
    });
  }
  throw new CliError("usage", `${label}:${line}: the file is cut off: its last line is missing`, {
    hints: ["nothing was imported; export the state again"],
  });
}
