import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { createLineSplitter, StreamTooLargeError } from "../../api/chat/lines.ts";
import type { Context } from "../../context.ts";
import { CliError, codeOf, fileProblem, messageOf } from "../../errors.ts";
import { checkOutputPath, writeFilePieces } from "../../output/report/file.ts";
import type { Output } from "../../output/terminal/output.ts";
import { countOf, formatCount } from "../../output/terminal/progress.ts";
import { optionsJson, optionsKey } from "../../sync/state/options.ts";
import { mostTargets } from "../../sync/state/target.ts";
import { type TargetChanges, createIncoming, type Incoming } from "../../sync/transfer/import.ts";
import { exportLines } from "../../sync/transfer/export.ts";
import {
  checkHeader,
  parseTransferLine,
  type TransferRecord,
} from "../../sync/transfer/transfer.ts";
import { foreignOptions } from "../ingest/options/foreign-options.ts";
import { targetText } from "../ingest/target/pair.ts";
import { createPrompt } from "../prompt.ts";
import { refuseRepeatedFile, statsOf } from "../stats-of.ts";
import { guardWriting, withState, type OpenState, type StateFlags } from "./place.ts";

const pieceLength = 64 * 1024;

function* joinLines(lines: Iterable<string>): Generator<string> {
  let piece = "";
  for (const line of lines) {
    piece += line;
    if (piece.length < pieceLength) continue;
    yield piece;
    piece = "";
  }
  if (piece !== "") yield piece;
}

/** `state export`: writes the whole state as NDJSON, for `state import` elsewhere. */
export async function stateExport(
  context: Context,
  [name = "-"]: string[],
  options: StateFlags,
): Promise<void> {
  const { cwd, signal } = context;
  if (name !== "-") checkOutputPath("cannot write", name, cwd);
  await withState(context, options, "read", async ({ output, state }) => {
    const pieces = joinLines(exportLines(state));
    if (name !== "-") {
      return await writeFilePieces(resolve(cwd, name), pieces, "the exported state");
    }
    for (const piece of pieces) {
      signal.throwIfAborted();
      await output.json(piece);
    }
  });
}

/** Longest allowed line, in bytes: a record contains only paths, ids and hashes. */
const longestLine = 4 * 1024 * 1024;
/** A project is uploaded a few times with different options and paths. */
const mostOptions = 10_000;

async function* readLines(context: Context, name: string): AsyncGenerator<string> {
  let lines: string[] = [];
  const splitter = createLineSplitter(longestLine, (line) => void lines.push(line));
  const path = resolve(context.cwd, name);
  const stats = name === "-" ? undefined : statsOf(path);
  if (stats && !stats.isFile() && !stats.isDirectory()) {
    // A FIFO without a writer would block.
    throw new CliError("usage", `${name} is not a regular file; nothing was imported`, {
      hints: ["pipe it: knowctl state import - --yes < FILE"],
    });
  }
  for await (const chunk of name === "-" ? context.stdin : createReadStream(path)) {
    context.signal.throwIfAborted();
    splitter.push(chunk as Uint8Array);
    yield* lines;
    lines = [];
  }
  splitter.end();
  yield* lines;
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

/** Returns a function that adds a record: without the options that another state must not choose. */
function createAdd(incoming: Incoming): (record: Exclude<TransferRecord, { type: "end" }>) => void {
  const keys = new Map<string, string>();
  const targets = new Set<string>();
  let uploads = 0;
  const refuseMore = (count: number, most: number, what: string): void => {
    if (count > most) throw new CliError("usage", `more than ${most} ${what}`);
  };
  return (each) => {
    if (each.type === "options") {
      const options = foreignOptions(each.options);
      keys.set(each.key, optionsKey(optionsJson(options)));
      refuseMore(keys.size, mostOptions, "options");
      return incoming.add({ ...each, options });
    }
    if (each.type !== "accepted" && each.type !== "failure" && each.type !== "upload") {
      return incoming.add(each);
    }
    if (each.type === "upload") refuseMore(++uploads, mostOptions, "uploads");
    targets.add(each.record.target);
    refuseMore(targets.size, mostTargets, "targets");
    incoming.add({ ...each, options: keys.get(each.options ?? "") });
  };
}

/**
 * Reads one complete exported state into `incoming`. `name` is a file, or `-` for stdin.
 * Throws CliError `usage` with file and line for an invalid or incomplete state. The caller
 * must then discard `incoming`.
 */
async function readExport(context: Context, name: string, incoming: Incoming): Promise<void> {
  const label = name === "-" ? "stdin" : name;
  const add = createAdd(incoming);
  let line = 0;
  let count = 0;
  let isEnded = false;
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
    for await (const json of readLines(context, name)) {
      try {
        addLine(json);
      } catch (error) {
        if (!(error instanceof CliError) || error.exit !== "usage") throw error;
        throw new CliError("usage", `${label}:${line}: ${error.message}`, {
          hints: ["nothing was imported; name files from `knowctl state export`"],
        });
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

async function apply({ signal }: Context, open: OpenState, incoming: Incoming): Promise<void> {
  const steps = incoming.apply();
  while (!guardWriting(open, () => steps.next()).done) {
    // Yield between transactions, so that other runs and Ctrl-C are not blocked.
    await new Promise((next) => setImmediate(next));
    signal.throwIfAborted();
  }
}

const targetsShown = 20;

function lineOf({ target, added, newer, kept, failures }: TargetChanges): string {
  const place = target === "" ? "pairs by rule" : targetText(target);
  const parts = [
    `${formatCount(added)} new here`,
    ...(newer > 0 ? [`${formatCount(newer)} newer than here`] : []),
    ...(kept > 0 ? [`${formatCount(kept)} kept as they are here`] : []),
    ...(failures > 0 ? [countOf(failures, "failure")] : []),
  ];
  return `${place}: records of documents: ${parts.join(", ")}`;
}

interface StateImportOptions extends StateFlags {
  yes?: boolean;
}

/** Shows what an import adds per target, and asks. Returns false for no. */
async function confirmImport(
  context: Context,
  output: Output,
  changes: readonly TargetChanges[],
  options: StateImportOptions,
  readsStdin: boolean,
): Promise<boolean> {
  for (const each of changes.slice(0, targetsShown)) await output.problem(lineOf(each));
  if (changes.length > targetsShown) {
    await output.problem(`and ${countOf(changes.length - targetsShown, "more target")}`);
  }
  if (options.yes) return true;
  const prompt = createPrompt(context, options, output);
  if (prompt.canAsk && !readsStdin) {
    return await prompt.confirm("Import these records? They decide what counts as sent.");
  }
  const why = readsStdin ? "stdin holds the records" : "there is no terminal to ask on";
  throw new CliError("usage", `nothing was imported: ${why}`, {
    hints: ["check the targets and numbers above, then confirm with --yes"],
  });
}

/**
 * `state import`: merges exported states into the local state. Of two records of one document, the
 * one sent last is kept. Throws CliError `usage`, without importing anything, when a file is invalid
 * or incomplete, and where nobody answers the question.
 */
export async function stateImport(
  context: Context,
  names: string[],
  options: StateImportOptions,
): Promise<void> {
  const readsStdin = names.includes("-");
  if (names.filter((name) => name === "-").length > 1) {
    throw new CliError("usage", "stdin can be read only once");
  }
  refuseRepeatedFile(context.cwd, names, "pass each exported state once");
  await withState(context, options, "create", async (open) => {
    const { output, state, folder } = open;
    const incoming = createIncoming(state.database);
    for (const name of names) await readExport(context, name, incoming);
    const changes = incoming.changes();
    if (!(await confirmImport(context, output, changes, options, readsStdin))) {
      return await output.note("nothing was imported");
    }
    state.markRoot();
    await apply(context, open, incoming);
    const files = names.length === 1 ? "" : ` from ${countOf(names.length, "file")}`;
    const total = changes.reduce((sum, { added, newer, kept }) => sum + added + newer + kept, 0);
    const count = countOf(total, "record");
    await output.note(`imported ${count} of sent documents${files} into ${folder}`);
  });
}
