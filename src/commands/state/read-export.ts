import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { createLineSplitter, StreamTooLargeError } from "../../api/chat/lines.ts";
import type { Context } from "../../context.ts";
import { CliError, codeOf, messageOf } from "../../errors.ts";
import type { Incoming } from "../../sync/transfer/import.ts";
import { checkHeader, parseTransferLine } from "../../sync/transfer/parse-transfer.ts";

/** Longest line: a record holds paths, ids and hashes. */
const longestLine = 4 * 1024 * 1024;

async function* readLines(context: Context, name: string): AsyncGenerator<string[]> {
  let lines: string[] = [];
  const splitter = createLineSplitter(longestLine, (text, start, end) => {
    lines.push(text.slice(start, end));
  });
  const taken = (): string[] => {
    const all = lines;
    lines = [];
    return all;
  };
  const source = name === "-" ? context.stdin : createReadStream(resolve(context.cwd, name));
  for await (const chunk of source) {
    context.signal.throwIfAborted();
    splitter.push(chunk as Uint8Array);
    yield taken();
  }
  splitter.end();
  yield taken();
}

function unreadable(context: Context, label: string, error: unknown): unknown {
  if (context.signal.aborted || error instanceof CliError) return error;
  const isLong = error instanceof StreamTooLargeError;
  if (!isLong && codeOf(error) === undefined) return error;
  const why = isLong ? messageOf(error) : codeOf(error);
  return new CliError("usage", `${label}: cannot be read: ${why}; nothing was imported`, {
    hints: ["name files from `knowctl state export`"],
    cause: error,
  });
}

/**
 * Reads one exported state whole into `incoming`. `name` is a file, or `-` for
 * stdin. Throws CliError `usage` with file and line for anything that is no
 * exported state, or not all of it: then nothing of it may be used.
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
  const take = (json: string): void => {
    line++;
    if (line === 1) return checkHeader(json);
    if (isEnded) throw new CliError("usage", "there is more behind the last line");
    const each = parseTransferLine(json);
    if (each.type !== "end") {
      incoming.add(each);
      count++;
    } else if (each.records === count) isEnded = true;
    else throw new CliError("usage", `${count} records, where there should be ${each.records}`);
  };
  try {
    for await (const lines of readLines(context, name)) {
      for (const json of lines) {
        try {
          take(json);
        } catch (error) {
          if (!(error instanceof CliError) || error.exit !== "usage") throw error;
          throw new CliError("usage", `${label}:${line}: ${error.message}`, error);
        }
      }
    }
  } catch (error) {
    throw unreadable(context, label, error);
  }
  if (isEnded) return;
  if (line === 0) {
    throw new CliError("usage", `${label}: it is empty; nothing was imported`, {
      hints: ["name a file that `knowctl state export` wrote"],
    });
  }
  throw new CliError("usage", `${label}:${line}: the file is cut off: its last line is missing`, {
    hints: ["export it again; nothing was imported"],
  });
}
